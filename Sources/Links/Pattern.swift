/// The path of a link with its parameters: `shop/product/{id:int}?size={size}`.
struct Pattern: Hashable, Sendable {
  enum Kind: String, CaseIterable, Sendable {
    case int
    case double
    case bool
    case string
    /// All that is left of the path, slashes too; only at its end.
    case path
  }

  struct Parameter: Hashable, Sendable {
    var name: String
    var kind: Kind
  }

  enum Part: Hashable, Sendable {
    case literal(String)
    case parameter(Parameter)
  }

  struct Query: Hashable, Sendable {
    var key: String
    var parameter: Parameter
  }

  let text: String
  private(set) var parts: [Part] = []
  private(set) var queries: [Query] = []

  var parameters: [Parameter] {
    parts.compactMap { if case .parameter(let parameter) = $0 { parameter } else { nil } } + queries.map(\.parameter)
  }

  init(_ text: String) throws(RoutesError) {
    self.text = text
    let halves = text.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    for segment in halves[0].split(separator: "/") {
      if let last = parts.last, case .parameter(let parameter) = last, parameter.kind == .path {
        throw RoutesError("'\(text)': nothing can come after {\(parameter.name):path}")
      }
      if let parameter = try Pattern.parameter(segment, in: text) {
        parts.append(.parameter(parameter))
      } else {
        parts.append(.literal(try Pattern.literal(segment, in: text)))
      }
    }
    if halves.count == 2 {
      for pair in halves[1].split(separator: "&") {
        let sides = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard sides.count == 2, !sides[0].isEmpty, let parameter = try Pattern.parameter(sides[1], in: text) else {
          throw RoutesError("'\(text)': write the query as key={name} or key={name:int}")
        }
        queries.append(Query(key: String(sides[0]), parameter: parameter))
      }
    }
    let names = parameters.map(\.name)
    guard Set(names).count == names.count else { throw RoutesError("'\(text)' has a parameter twice") }
  }

  private static func parameter(_ segment: Substring, in text: String) throws(RoutesError) -> Parameter? {
    guard segment.first == "{", segment.last == "}" else { return nil }
    let sides = segment.dropFirst().dropLast().split(separator: ":", omittingEmptySubsequences: false)
    let name = String(sides.first ?? "")
    guard sides.count <= 2, !name.isEmpty, name.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") })
    else { throw RoutesError("'\(text)': '\(segment)' is not a parameter such as {id:int}") }
    guard sides.count == 2 else { return Parameter(name: name, kind: .string) }
    guard let kind = Kind(rawValue: String(sides[1])) else {
      let kinds = Kind.allCases.map(\.rawValue).joined(separator: ", ")
      throw RoutesError("'\(text)': '\(sides[1])' is not a type of parameter; there are \(kinds)")
    }
    return Parameter(name: name, kind: kind)
  }

  private static func literal(_ segment: Substring, in text: String) throws(RoutesError) -> String {
    guard !segment.contains("{"), !segment.contains("}") else {
      throw RoutesError("'\(text)': a parameter is a whole part of the path, as in shop/{id:int}")
    }
    guard let plain = Link.decoded(segment) else { throw RoutesError("'\(text)': a '%' without two digits behind it") }
    return plain
  }

  /// What a link's path and query give for the parameters, nil if they are not of this pattern.
  func match(_ link: Link) -> [String: JSONNode]? {
    var found: [String: JSONNode] = [:]
    var rest = link.segments[...]
    for part in parts {
      switch part {
      case .literal(let text): guard rest.popFirst() == text else { return nil }
      case .parameter(let parameter) where parameter.kind == .path:
        guard !rest.isEmpty else { return nil }
        found[parameter.name] = .string(rest.joined(separator: "/"))
        rest = []
      case .parameter(let parameter):
        guard let segment = rest.popFirst(), let value = parameter.kind.value(segment) else { return nil }
        found[parameter.name] = value
      }
    }
    guard rest.isEmpty else { return nil }
    for query in queries {
      guard let text = link.query[query.key], let value = query.parameter.kind.value(text) else { return nil }
      found[query.parameter.name] = value
    }
    return found
  }

  /// The path and query that give these parameters, nil if one is missing or of another kind.
  func fill(_ values: [String: JSONNode]) -> String? {
    var segments: [String] = []
    for part in parts {
      switch part {
      case .literal(let text): segments.append(Link.encoded(text, keeping: ""))
      case .parameter(let parameter):
        guard let value = values[parameter.name], let text = parameter.kind.text(value) else { return nil }
        segments.append(Link.encoded(text, keeping: parameter.kind == .path ? "/" : ""))
      }
    }
    var pairs: [String] = []
    for query in queries {
      guard let value = values[query.parameter.name], let text = query.parameter.kind.text(value) else { return nil }
      pairs.append(Link.encoded(query.key, keeping: "") + "=" + Link.encoded(text, keeping: ""))
    }
    return segments.joined(separator: "/") + (pairs.isEmpty ? "" : "?" + pairs.joined(separator: "&"))
  }
}

extension Pattern.Kind {
  /// What a text of a link is as JSON.
  func value(_ text: String) -> JSONNode? {
    switch self {
    case .int: Int(text).map { .number(String($0)) }
    case .double: Double(text).flatMap { $0.isFinite ? .number("\($0)") : nil }
    case .bool: text == "true" ? .bool(true) : text == "false" ? .bool(false) : nil
    case .string, .path: text.isEmpty ? nil : .string(text)
    }
  }

  func text(_ value: JSONNode) -> String? {
    switch (self, value) {
    case (.int, .number(let text)): Int(text).map(String.init)
    case (.double, .number(let text)): text
    case (.bool, .bool(let bool)): bool ? "true" : "false"
    case (.string, .string(let text)) where !text.isEmpty: text
    case (.path, .string(let text)) where !text.isEmpty && !text.hasPrefix("/") && !text.hasSuffix("/"): text
    case _: nil
    }
  }

  /// The type of a value that is nothing but the parameter.
  var valueType: String {
    switch self {
    case .int: "Int"
    case .double: "Double"
    case .bool: "Bool"
    case .string, .path: "String"
    }
  }
}

/// A link apart from what it begins with: the parts of its path and its query, decoded (RFC 3986).
struct Link: Hashable, Sendable {
  var segments: [String] = []
  /// The first of each key.
  var query: [String: String] = [:]

  /// - Parameter rest: what stands behind the prefix; nil is returned for a `%` without two digits behind it.
  init?(_ rest: Substring) {
    let whole = rest.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)[0]
    let halves = whole.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    for segment in halves[0].split(separator: "/") {
      guard let plain = Link.decoded(segment) else { return nil }
      segments.append(plain)
    }
    guard halves.count == 2 else { return }
    for pair in halves[1].split(separator: "&") {
      let sides = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard let key = Link.decoded(sides[0]), let value = Link.decoded(sides.count == 2 ? sides[1] : "") else {
        return nil
      }
      if query[key] == nil { query[key] = value }
    }
  }

  static func decoded(_ text: Substring) -> String? {
    var bytes: [UInt8] = []
    var rest = text.utf8[...]
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte)
        continue
      }
      let digits = rest.prefix(2)
      guard digits.count == 2, let code = UInt8(String(Substring(digits)), radix: 16) else { return nil }
      bytes.append(code)
      rest = rest.dropFirst(2)
    }
    return String(validating: bytes, as: UTF8.self)
  }

  static func encoded(_ text: String, keeping kept: String) -> String {
    var result = ""
    for byte in text.utf8 {
      let scalar = Unicode.Scalar(byte)
      let isPlain =
        byte < 128 && (scalar.properties.isAlphabetic || (0x30...0x39).contains(byte) || "-._~".utf8.contains(byte))
      if isPlain || kept.utf8.contains(byte) {
        result.unicodeScalars.append(scalar)
      } else {
        let digits = String(byte, radix: 16, uppercase: true)
        result += "%" + (digits.count == 1 ? "0" : "") + digits
      }
    }
    return result
  }
}
