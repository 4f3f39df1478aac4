import NavigationModel

/// Reads the JSON of one line with errors that say what was expected.
struct LineReader {
  private var scanner: JSONScanner

  init(_ line: [UInt8]) {
    scanner = JSONScanner(line, in: 0..<line.count)
    scanner.skipWhitespace()
  }

  var offset: Int { scanner.at }
  var bytes: [UInt8] { scanner.bytes }

  func fault(_ problem: String, at offset: Int? = nil) -> LineError { LineError(at: offset ?? scanner.at, problem) }

  /// Reads an object: the body is called with each key and must read its value.
  mutating func object(
    _ what: String, _ body: (inout LineReader, _ key: String) throws(LineError) -> Void
  ) throws(LineError) {
    var keys = Keys()
    guard scanner.take(UInt8(ascii: "{")) else { throw fault("\(what) must be an object") }
    scanner.skipWhitespace()
    if scanner.take(UInt8(ascii: "}")) { return }
    repeat {
      scanner.skipWhitespace()
      let start = offset
      let key = try string("a key of \(what)")
      guard keys.insert(key) else { throw fault("\(what) has `\(key)` twice", at: start) }
      scanner.skipWhitespace()
      try json { scanner throws(DecodeError) in try scanner.expect(UInt8(ascii: ":")) }
      scanner.skipWhitespace()
      try body(&self, key)
      scanner.skipWhitespace()
    } while scanner.take(UInt8(ascii: ","))
    try json { scanner throws(DecodeError) in try scanner.expect(UInt8(ascii: "}")) }
  }

  /// Reads an array.
  mutating func array<Element>(
    _ what: String, _ element: (inout LineReader) throws(LineError) -> Element
  ) throws(LineError) -> [Element] {
    guard scanner.take(UInt8(ascii: "[")) else { throw fault("\(what) must be an array") }
    var result: [Element] = []
    scanner.skipWhitespace()
    if scanner.take(UInt8(ascii: "]")) { return result }
    repeat {
      scanner.skipWhitespace()
      result.append(try element(&self))
      scanner.skipWhitespace()
    } while scanner.take(UInt8(ascii: ","))
    try json { scanner throws(DecodeError) in try scanner.expect(UInt8(ascii: "]")) }
    return result
  }

  mutating func string(_ what: String) throws(LineError) -> String {
    let start = offset
    guard (try? scanner.peek()) == UInt8(ascii: "\"") else { throw fault("\(what) must be a string") }
    let range = try json { scanner throws(DecodeError) in try scanner.skipString() }
    guard let text = JSONText.unquoted(scanner.bytes, in: range) else {
      throw fault("\(what) has half of an escaped character", at: start)
    }
    return text
  }

  /// A whole number, written without fraction or exponent, and exact.
  mutating func integer(_ what: String, in limits: ClosedRange<Int>) throws(LineError) -> Int {
    let start = offset
    let range = try any()
    guard let number = Int(String(decoding: scanner.bytes[range], as: UTF8.self)), limits.contains(number) else {
      throw fault("\(what) must be a whole number from \(limits.lowerBound) to \(limits.upperBound)", at: start)
    }
    return number
  }

  /// Whether `null` came; if so it is passed.
  mutating func takeNull() -> Bool {
    guard (try? scanner.peek()) == UInt8(ascii: "n") else { return false }
    return (try? scanner.skipValue()) != nil
  }

  /// Any JSON: where it stands.
  mutating func any() throws(LineError) -> Range<Int> {
    try json { scanner throws(DecodeError) in try scanner.skipValue() }
  }

  mutating func finish() throws(LineError) {
    scanner.skipWhitespace()
    guard scanner.at == scanner.end else { throw fault("there is more after the end of the object") }
  }

  private mutating func json<Result>(
    _ body: (inout JSONScanner) throws(DecodeError) -> Result
  ) throws(LineError) -> Result {
    do { return try body(&scanner) } catch {
      switch error.code {
      case .badText: throw LineError(at: error.offset, "the line is not UTF-8")
      case .tooLarge: throw LineError(at: error.offset, "the line nests deeper than \(JSONScanner.maximumDepth) levels")
      case _ where error.offset >= scanner.end: throw LineError(at: error.offset, "the line ends in the middle")
      case _: throw LineError(at: error.offset, "the line is not JSON")
      }
    }
  }

  // MARK: The parts of events

  mutating func value() throws(LineError) -> Value {
    let start = offset
    if (try? scanner.peek()) == UInt8(ascii: "\"") {
      let range = try any()
      return try checked(Value(type: EventCodec.shortType, payload: Array(scanner.bytes[range])), at: start)
    }
    var type: String?
    var payload: Range<Int>?
    try object("a value that is not a string") { reader, key throws(LineError) in
      switch key {
      case "type": type = try reader.string("`type`")
      case "value": payload = try reader.any()
      case _: throw reader.fault("a value has `type` and `value`, not `\(key)`")
      }
    }
    guard let type, !type.isEmpty, let payload else {
      throw fault("a value must have a `type` and a `value`", at: start)
    }
    return try checked(Value(type: type, payload: Array(scanner.bytes[payload])), at: start)
  }

  private func checked(_ value: Value, at start: Int) throws(LineError) -> Value {
    let size = value.type.utf8.count + value.payload.count
    guard size <= Value.maximumSize else {
      throw fault("a value has \(size) bytes; at most \(Value.maximumSize) are allowed", at: start)
    }
    return value
  }

  mutating func entry(_ what: String) throws(LineError) -> EventLine.EntryName {
    let start = offset
    guard let name = EventLine.EntryName(try string(what)) else {
      throw fault("\(what) must be an entry's id, device:sequence:index", at: start)
    }
    return name
  }

  mutating func digest(_ what: String) throws(LineError) -> Digest {
    let start = offset
    guard let digest = Digest(try string(what)) else {
      throw fault("\(what) must be 32 lower-case hexadecimal digits", at: start)
    }
    return digest
  }
}

/// An object's keys.
private struct Keys {
  /// Compared one by one, which is faster than to hash them.
  private var few: [String] = []
  private var many: Set<String> = []

  /// False if it is there.
  mutating func insert(_ key: String) -> Bool {
    guard few.count < 16 else { return !few.contains(key) && many.insert(key).inserted }
    guard !few.contains(key) else { return false }
    few.append(key)
    return true
  }
}
