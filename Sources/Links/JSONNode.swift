/// A JSON text as a tree, with holes for parameters where it is a template. Numbers keep their text.
enum JSONNode: Hashable, Sendable {
  case null
  case bool(Bool)
  case number(String)
  case string(String)
  case array([JSONNode])
  case object([String: JSONNode])
  /// `{name}`, which no JSON text can have.
  case hole(String)

  /// What is wrong with a text.
  struct Fault: Error {
    var message: String
  }

  /// Reads one value from the beginning of the bytes, and takes it off.
  ///
  /// - Parameter holes: whether `{name}` stands for a parameter.
  init(reading bytes: inout ArraySlice<UInt8>, holes: Bool) throws(Fault) {
    var parser = Parser(rest: bytes, holes: holes)
    self = try parser.value(depth: 0)
    bytes = parser.rest
  }

  /// Reads a whole text.
  init(_ bytes: [UInt8]) throws(Fault) {
    var rest = bytes[...]
    try self.init(reading: &rest, holes: false)
    guard rest.allSatisfy({ $0 == 32 || $0 == 9 }) else { throw Fault(message: "something stands behind the value") }
  }

  /// Compact, keys sorted, the holes filled.
  func text(_ fill: (String) -> String) -> String {
    switch self {
    case .null: "null"
    case .bool(let bool): bool ? "true" : "false"
    case .number(let text): text
    case .string(let string): JSONNode.quoted(string)
    case .array(let elements): "[" + elements.map { $0.text(fill) }.joined(separator: ",") + "]"
    case .object(let members):
      "{"
        + members.sorted { $0.key < $1.key }.map { JSONNode.quoted($0.key) + ":" + $0.value.text(fill) }
        .joined(separator: ",") + "}"
    case .hole(let name): fill(name)
    }
  }

  /// What stands in the holes if this template gives that value; nil if it doesn't.
  func match(_ value: JSONNode, into found: inout [String: JSONNode]) -> Bool {
    switch (self, value) {
    case (.hole(let name), _):
      if let before = found[name] { return before == value }
      found[name] = value
      return true
    case (.array(let left), .array(let right)):
      return left.count == right.count && zip(left, right).allSatisfy { $0.match($1, into: &found) }
    case (.object(let left), .object(let right)):
      guard left.count == right.count else { return false }
      // By key, so that what is found doesn't depend on the order of a dictionary.
      for (key, template) in left.sorted(by: { $0.key < $1.key }) {
        guard let value = right[key], template.match(value, into: &found) else { return false }
      }
      return true
    case (.number(let left), .number(let right)):
      return left == right || (Double(left) != nil && Double(left) == Double(right))
    case _: return self == value
    }
  }

  /// The parameters that it has holes for.
  var holes: Set<String> {
    switch self {
    case .hole(let name): [name]
    case .array(let elements): elements.reduce(into: []) { $0.formUnion($1.holes) }
    case .object(let members): members.values.reduce(into: []) { $0.formUnion($1.holes) }
    case .null, .bool, .number, .string: []
    }
  }

  /// A string as JSON spells it.
  static func quoted(_ string: String) -> String {
    var result = "\""
    for scalar in string.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case "\n": result += "\\n"
      case "\r": result += "\\r"
      case "\t": result += "\\t"
      case _ where scalar.value < 0x20:
        let digits = String(scalar.value, radix: 16)
        result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      case _: result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }
}

private struct Parser {
  var rest: ArraySlice<UInt8>
  let holes: Bool

  private mutating func skipSpace() {
    while let byte = rest.first, byte == 32 || byte == 9 { rest = rest.dropFirst() }
  }

  private mutating func take(_ mark: Unicode.Scalar) -> Bool {
    skipSpace()
    guard rest.first == UInt8(ascii: mark) else { return false }
    rest = rest.dropFirst()
    return true
  }

  private func fault(_ message: String) -> JSONNode.Fault { JSONNode.Fault(message: message) }

  mutating func value(depth: Int) throws(JSONNode.Fault) -> JSONNode {
    guard depth < 64 else { throw fault("it is nested more than 64 deep") }
    skipSpace()
    guard let first = rest.first else { throw fault("a value is missing") }
    switch first {
    case UInt8(ascii: "\""): return .string(try string())
    case UInt8(ascii: "["):
      rest = rest.dropFirst()
      var elements: [JSONNode] = []
      if take("]") { return .array([]) }
      repeat { elements.append(try value(depth: depth + 1)) } while take(",")
      guard take("]") else { throw fault("']' is missing") }
      return .array(elements)
    case UInt8(ascii: "{"):
      rest = rest.dropFirst()
      if holes, let name = hole() { return .hole(name) }
      var members: [String: JSONNode] = [:]
      if take("}") { return .object([:]) }
      repeat {
        skipSpace()
        guard rest.first == UInt8(ascii: "\"") else { throw fault("a key in quotes is missing") }
        let key = try string()
        guard take(":") else { throw fault("':' is missing after the key \(key)") }
        guard members.updateValue(try value(depth: depth + 1), forKey: key) == nil else {
          throw fault("the key \(key) is there twice")
        }
      } while take(",")
      guard take("}") else { throw fault("'}' is missing") }
      return .object(members)
    case _: return try word()
    }
  }

  /// `name}`; the brace before it is taken off.
  private mutating func hole() -> String? {
    let name = rest.prefix { byte in
      byte == UInt8(ascii: "_") || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 32)
        || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
    let behind = rest.dropFirst(name.count)
    guard !name.isEmpty, behind.first == UInt8(ascii: "}") else { return nil }
    rest = behind.dropFirst()
    return String(decoding: name, as: UTF8.self)
  }

  private mutating func word() throws(JSONNode.Fault) -> JSONNode {
    let bytes = rest.prefix { byte in
      byte > 32 && !"[]{}\",:".utf8.contains(byte)
    }
    let text = String(decoding: bytes, as: UTF8.self)
    rest = rest.dropFirst(bytes.count)
    switch text {
    case "null": return .null
    case "true": return .bool(true)
    case "false": return .bool(false)
    case _:
      let isNumber =
        Double(text) != nil && bytes.allSatisfy { "0123456789+-.eE".utf8.contains($0) }
        && bytes.first != UInt8(ascii: "+") && bytes.first != UInt8(ascii: ".")
      guard isNumber else { throw fault("'\(text)' is not JSON") }
      return .number(text)
    }
  }

  private mutating func string() throws(JSONNode.Fault) -> String {
    rest = rest.dropFirst()
    var units: [UInt8] = []
    var surrogate: UInt32?
    func put(_ scalar: Unicode.Scalar) { units.append(contentsOf: Array(String(scalar).utf8)) }
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "\\") else {
        if byte == UInt8(ascii: "\"") {
          guard surrogate == nil, let text = String(validating: units, as: UTF8.self) else {
            throw fault("a string is not UTF-8")
          }
          return text
        }
        guard byte >= 0x20 else { throw fault("a control character in a string") }
        units.append(byte)
        continue
      }
      guard let escape = rest.popFirst() else { break }
      switch escape {
      case UInt8(ascii: "n"): put("\n")
      case UInt8(ascii: "t"): put("\t")
      case UInt8(ascii: "r"): put("\r")
      case UInt8(ascii: "b"): put("\u{8}")
      case UInt8(ascii: "f"): put("\u{C}")
      case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): units.append(escape)
      case UInt8(ascii: "u"):
        let digits = rest.prefix(4)
        guard digits.count == 4, let code = UInt32(String(decoding: digits, as: UTF8.self), radix: 16) else {
          throw fault("\\u needs four hexadecimal digits")
        }
        rest = rest.dropFirst(4)
        if let high = surrogate, (0xDC00...0xDFFF).contains(code),
          let scalar = Unicode.Scalar(0x10000 + (high - 0xD800) << 10 + (code - 0xDC00))
        {
          put(scalar)
          surrogate = nil
        } else if (0xD800...0xDBFF).contains(code) {
          surrogate = code
        } else if let scalar = Unicode.Scalar(code), surrogate == nil {
          put(scalar)
        } else {
          throw fault("half a surrogate pair")
        }
      case _: throw fault("an escape that JSON doesn't have")
      }
    }
    throw fault("a string does not end")
  }
}
