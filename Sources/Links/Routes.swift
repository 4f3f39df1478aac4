public import NavigationModel

/// What is wrong with routes, or with a link, in words for a person.
public struct RoutesError: Error, Hashable, CustomStringConvertible {
  public let description: String

  init(_ description: String) { self.description = description }
}

/// The deep links of a program, both ways: a link gives the path to show, a path gives its link.
///
/// Declared in the program, or in a routes file, a line a route: the pattern, then the values that are shown one above
/// the other, each a type's name and JSON in which `{name}` stands for a parameter. A string needs no type; a parameter
/// alone is a value of its own kind. `prefix` lines say what links begin with. `#` begins a comment.
///
///     prefix myapp://
///     prefix https://example.com/
///     shop                        "shop"
///     shop/product/{id:int}       "shop" Product {"id":{id}}
///     search?q={words}            Search {"words":{words}}
///
/// Kinds of parameters: `int`, `double`, `bool`, `string` (as without one), and `path`, the rest of the path. The first
/// route that fits counts.
public struct Routes: Sendable {
  /// What links may begin with; a stack's link begins with the first. Empty: any scheme is taken, and `navsync://` given.
  public var prefixes: [String]
  public var routes: [Route]

  public init(prefixes: [String] = [], _ routes: [Route]) {
    self.prefixes = prefixes
    self.routes = routes
  }

  /// Reads a routes file.
  ///
  /// - Throws: ``RoutesError`` that names the line.
  public init(parsing text: String) throws(RoutesError) {
    self.init([])
    for (place, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
      do throws(RoutesError) { try read(line) } catch {
        throw RoutesError("line \(place + 1): \(error)")
      }
    }
  }

  private mutating func read(_ line: Substring) throws(RoutesError) {
    let words = line.split(maxSplits: 1, whereSeparator: { $0 == " " || $0 == "\t" || $0 == "\r" })
    guard let first = words.first, !first.hasPrefix("#") else { return }
    let rest = words.count == 2 ? words[1] : ""
    guard first == "prefix" else { return routes.append(try Route(String(first), values: rest)) }
    let prefix = rest.filter { !$0.isWhitespace }
    guard prefix.contains("://") else {
      throw RoutesError("'\(prefix)' is not what a link begins with, such as myapp:// or https://example.com/")
    }
    prefixes.append(prefix)
  }

  /// All patterns, in order.
  public var patterns: [String] { routes.map(\.pattern.text) }

  /// The path that a link shows, bottom to top.
  ///
  /// - Throws: ``RoutesError`` that lists the patterns, if none fits.
  public func values(of link: String) throws(RoutesError) -> [Value] {
    guard let rest = rest(of: link) else {
      throw RoutesError(
        "'\(link)' doesn't begin with \(prefixes.isEmpty ? "a scheme" : prefixes.joined(separator: " or "))")
    }
    guard let parsed = Link(rest) else {
      throw RoutesError("'\(link)' has a '%' without two digits of UTF-8 behind it")
    }
    for route in routes {
      if let found = route.pattern.match(parsed), let values = route.values(found) { return values }
    }
    throw RoutesError("no route fits '\(link)'; there are \(patterns.joined(separator: ", "))")
  }

  /// The link that shows a path.
  ///
  /// - Throws: ``RoutesError`` that lists the patterns, if none gives just this path.
  public func link(to values: [Value]) throws(RoutesError) -> String {
    for route in routes {
      guard let found = route.parameters(values), let path = route.pattern.fill(found) else { continue }
      let prefix = prefixes.first ?? "navsync://"
      return prefix + path
    }
    throw RoutesError("no route gives what is shown; there are \(patterns.joined(separator: ", "))")
  }

  private func rest(of link: String) -> Substring? {
    if prefixes.isEmpty {
      guard let colon = link.firstIndex(of: ":"), link[colon...].hasPrefix("://") else { return link[...] }
      return link[colon...].dropFirst(3)
    }
    let fitting = prefixes.filter { link.lowercased().hasPrefix($0.lowercased()) }
    return fitting.max { $0.count < $1.count }.map { link.dropFirst($0.count) }
  }
}

/// One pattern and the path that it stands for.
public struct Route: Sendable {
  /// A parameter's value.
  public enum Parameter: Hashable, Sendable {
    case int(Int)
    case double(Double)
    case bool(Bool)
    case string(String)
  }

  let pattern: Pattern
  private let open: @Sendable ([String: JSONNode]) -> [Value]?
  private let close: @Sendable ([Value]) -> [String: JSONNode]?

  /// A route of a program's own.
  ///
  /// - Parameters:
  ///   - pattern: as in a routes file.
  ///   - open: the path for a link's parameters, nil if it has none after all.
  ///   - close: the parameters of a path, nil if it isn't this route's.
  public init(
    _ pattern: String, open: @escaping @Sendable ([String: Parameter]) -> [Value]?,
    close: @escaping @Sendable ([Value]) -> [String: Parameter]?
  ) throws(RoutesError) {
    self.pattern = try Pattern(pattern)
    self.open = { open($0.compactMapValues(Parameter.init)) }
    self.close = { close($0)?.mapValues(\.node) }
  }

  /// A route as in a routes file.
  ///
  /// - Parameter values: the templates of the values, bottom to top.
  public init(_ pattern: String, values: some StringProtocol) throws(RoutesError) {
    let pattern = try Pattern(pattern)
    let templates = try Template.all(of: values, in: pattern)
    let names = Set(pattern.parameters.map(\.name))
    for name in templates.reduce(into: Set<String>(), { $0.formUnion($1.json.holes) }) where !names.contains(name) {
      throw RoutesError("'\(pattern.text)' has no parameter {\(name)}")
    }
    self.pattern = pattern
    open = { found in
      templates.map { template in
        Value(type: template.type, payload: Array(template.json.text { found[$0]?.text { $0 } ?? "null" }.utf8))
      }
    }
    close = { values in
      guard values.count == templates.count else { return nil }
      var found: [String: JSONNode] = [:]
      for (template, value) in zip(templates, values) {
        guard template.type == value.type, let json = try? JSONNode(value.payload),
          template.json.match(json, into: &found)
        else { return nil }
      }
      return found
    }
  }

  func values(_ found: [String: JSONNode]) -> [Value]? { open(found) }
  func parameters(_ values: [Value]) -> [String: JSONNode]? { close(values) }
}

extension Route.Parameter {
  init?(_ node: JSONNode) {
    switch node {
    case .number(let text):
      if let int = Int(text) {
        self = .int(int)
      } else if let double = Double(text) {
        self = .double(double)
      } else {
        return nil
      }
    case .bool(let bool): self = .bool(bool)
    case .string(let string): self = .string(string)
    case .null, .array, .object, .hole: return nil
    }
  }

  var node: JSONNode {
    switch self {
    case .int(let int): .number("\(int)")
    case .double(let double): .number("\(double)")
    case .bool(let bool): .bool(bool)
    case .string(let string): .string(string)
    }
  }
}

/// A value of a route: its type, and its JSON with holes.
private struct Template: Sendable {
  var type: String
  var json: JSONNode

  /// Reads `Type JSON "text" {parameter} …`.
  static func all(of text: some StringProtocol, in pattern: Pattern) throws(RoutesError) -> [Template] {
    var rest = Array(text.utf8)[...]
    var result: [Template] = []
    while true {
      while let byte = rest.first, byte == 32 || byte == 9 || byte == 13 { rest = rest.dropFirst() }
      guard let first = rest.first, first != UInt8(ascii: "#") else { return result }
      var type: String?
      if (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(first | 32) {
        let word = rest.prefix { $0 > 32 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "{") }
        type = String(decoding: word, as: UTF8.self)
        rest = rest.dropFirst(word.count)
      }
      let json: JSONNode
      do throws(JSONNode.Fault) { json = try JSONNode(reading: &rest, holes: true) } catch {
        throw RoutesError("'\(pattern.text)': \(error.message)")
      }
      switch (type, json) {
      case (let type?, _): result.append(Template(type: type, json: json))
      case (nil, .string): result.append(Template(type: "String", json: json))
      case (nil, .hole(let name)):
        guard let parameter = pattern.parameters.first(where: { $0.name == name }) else {
          throw RoutesError("'\(pattern.text)' has no parameter {\(name)}")
        }
        result.append(Template(type: parameter.kind.valueType, json: json))
      case (nil, _): throw RoutesError("'\(pattern.text)': name the type of each value, as in Product {\"id\":{id}}")
      }
    }
  }
}
