/// A certificate of ZeroMQ: a key, or both halves, with what is said about it, as a text in ZPL (ZeroMQ RFC 4), the form
/// that czmq's `zcert` and pyzmq's `zmq.auth` write and read.
public struct Certificate: Hashable, Sendable {
  public var publicKey: PublicKey
  /// Nil in what may be handed out.
  public var secretKey: SecretKey?
  /// What is said about the key, such as its `name`, in order.
  public var metadata: [Metadata]

  /// A line of the section `metadata`.
  public struct Metadata: Hashable, Sendable {
    public var name: String
    public var value: String

    public init(_ name: String, _ value: String) {
      self.name = name
      self.value = value
    }
  }

  public init(_ publicKey: PublicKey, secretKey: SecretKey? = nil, metadata: [Metadata] = []) {
    self.publicKey = publicKey
    self.secretKey = secretKey
    self.metadata = metadata
  }

  public init(_ pair: KeyPair, metadata: [Metadata] = []) {
    self.init(pair.publicKey, secretKey: pair.secretKey, metadata: metadata)
  }

  /// Both halves, if it has both.
  public var pair: KeyPair? { secretKey.map { KeyPair(publicKey: publicKey, secretKey: $0) } }

  /// The first value of that name.
  public subscript(_ name: String) -> String? { metadata.first { $0.name == name }?.value }

  /// The largest text that is read, in bytes.
  public static let longestText = 16 << 10
  static let mostLines = 256

  /// Reads a certificate, strictly.
  ///
  /// - Throws: ``TextError`` naming the line: no ZPL, no key, a key twice, or a key that isn't 40 characters of Z85.
  public init(text: [UInt8]) throws(TextError) {
    guard text.count <= Self.longestText else {
      throw TextError(0, "\(text.count) bytes; a certificate has at most \(Self.longestText)")
    }
    var publicKey: PublicKey?
    var secretKey: SecretKey?
    metadata = []
    // The names of the levels above, from the root's.
    var path: [String] = []
    for (number, bytes) in text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated() {
      guard number < Self.mostLines else { throw TextError(number + 1, "too many lines for a certificate") }
      guard let line = try Line(bytes, number: number + 1) else { continue }
      guard line.depth <= path.count else { throw TextError(number + 1, "it is indented by more than one step") }
      path.removeSubrange(line.depth...)
      path.append(line.name)
      switch path {
      case ["curve", "public-key"]:
        guard publicKey == nil else { throw TextError(number + 1, "a second public-key") }
        guard let key = PublicKey(line.value) else { throw TextError(number + 1, Self.noKey("public-key")) }
        publicKey = key
      case ["curve", "secret-key"]:
        guard secretKey == nil else { throw TextError(number + 1, "a second secret-key") }
        guard let key = SecretKey(line.value) else { throw TextError(number + 1, Self.noKey("secret-key")) }
        secretKey = key
      case _ where path.count == 2 && path[0] == "metadata":
        metadata.append(Metadata(line.name, line.value))
      case _: break
      }
    }
    guard let publicKey else { throw TextError(0, "there is no public-key in a section curve") }
    self.publicKey = publicKey
    self.secretKey = secretKey
  }

  private static func noKey(_ name: String) -> String { "the \(name) isn't 40 characters of Z85 in quotes" }

  /// As czmq and pyzmq write it, with the secret half if it is there.
  ///
  /// - Parameter remarks: lines before it, for people.
  public func text(_ remarks: [String]) -> String {
    var lines = remarks.map { "#   \($0)" } + ["", "metadata"]
    for entry in metadata {
      precondition(
        !entry.name.isEmpty && entry.name.utf8.allSatisfy(Line.isOfName), "a name that ZPL has: \(entry.name)")
      // ZPL has no escapes, so what can't stand in quotes is left out.
      let value = String(entry.value.unicodeScalars.filter { $0.value >= 0x20 && $0.value != 0x7F && $0 != "\"" })
      lines.append("    \(entry.name) = \"\(value)\"")
    }
    lines += ["curve", "    public-key = \"\(publicKey)\""]
    if let secretKey { lines.append("    secret-key = \"\(secretKey.text)\"") }
    return lines.joined(separator: "\n") + "\n"
  }
}

/// What is wrong with a text, and in which line.
public struct TextError: Error, Hashable, Sendable, CustomStringConvertible {
  /// From 1 on; 0 is the text as a whole.
  public var line: Int
  /// In words that follow a colon.
  public var problem: String

  public init(_ line: Int, _ problem: String) {
    self.line = line
    self.problem = problem
  }

  public var description: String { line == 0 ? problem : "line \(line): \(problem)" }
}

/// One line of ZPL: `name`, or `name = value`, four spaces for each level.
private struct Line {
  var depth: Int
  var name: String
  /// Empty without one.
  var value = ""

  /// Nil for an empty line or a comment.
  init?(_ bytes: ArraySlice<UInt8>, number: Int) throws(TextError) {
    var rest = bytes
    while let last = rest.last, [0x20, 0x09, 0x0D].contains(last) { rest.removeLast() }
    let spaces = rest.prefix { $0 == 0x20 }.count
    rest = rest.dropFirst(spaces)
    guard let first = rest.first, first != UInt8(ascii: "#") else { return nil }
    guard first != 0x09 else { throw TextError(number, "indented by a tab; four spaces are a step") }
    guard spaces % 4 == 0 else { throw TextError(number, "indented by \(spaces) spaces; four are a step") }
    depth = spaces / 4
    let name = rest.prefix(while: Line.isOfName)
    guard !name.isEmpty else { throw TextError(number, "a name is missing") }
    self.name = String(decoding: name, as: UTF8.self)
    rest = rest.dropFirst(name.count).drop { $0 == 0x20 || $0 == 0x09 }
    if rest.isEmpty || rest.first == UInt8(ascii: "#") { return }
    guard rest.first == UInt8(ascii: "=") else { throw TextError(number, "'=' is missing after \(self.name)") }
    rest = rest.dropFirst().drop { $0 == 0x20 || $0 == 0x09 }
    if let quote = rest.first, quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") {
      rest = rest.dropFirst()
      guard let end = rest.firstIndex(of: quote) else { throw TextError(number, "the quote isn't closed") }
      let after = rest[rest.index(after: end)...].drop { $0 == 0x20 || $0 == 0x09 }
      guard after.isEmpty || after.first == UInt8(ascii: "#") else {
        throw TextError(number, "something follows the closing quote")
      }
      rest = rest[..<end]
    } else {
      rest = rest.prefix { $0 != UInt8(ascii: "#") }
      while let last = rest.last, last == 0x20 || last == 0x09 { rest.removeLast() }
    }
    guard let value = String(validating: rest, as: UTF8.self) else { throw TextError(number, "not UTF-8") }
    self.value = value
  }

  /// RFC 4: letters, digits, and `$-_@.&+/`.
  static func isOfName(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    case _: "$-_@.&+/".utf8.contains(byte)
    }
  }
}
