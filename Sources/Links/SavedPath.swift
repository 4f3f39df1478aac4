public import NavigationModel

/// A path as SwiftUI saves it: what `NavigationPath.CodableRepresentation` encodes to is a flat array of strings, a
/// type's name and then the value's JSON, the top of the stack first.
public struct SavedPath: Hashable, Sendable {
  /// How types are named in the file.
  public enum Names: String, CaseIterable, Sendable {
    /// `Swift.String`, `Shop.Route`.
    case qualified
    /// `SS`, for the types that have a short mangled name; the others qualified.
    case mangled
  }

  /// Bottom to top, named as on a stack.
  public var values: [Value]

  public init(values: [Value]) { self.values = values }

  /// What is wrong with a saved path.
  public struct Fault: Error, Hashable, CustomStringConvertible {
    public let description: String
  }

  /// Takes the strings of a file. Names of the standard library's types may be qualified or mangled.
  ///
  /// - Parameter aliases: other names for types: what a name of the file is called on a stack.
  public init(strings: [String], aliases: [String: String] = [:]) throws(Fault) {
    guard strings.count % 2 == 0 else {
      throw Fault(description: "it has \(strings.count) strings, but a type and a value always come together")
    }
    values = []
    for place in stride(from: strings.count - 2, through: 0, by: -2) {
      let (name, json) = (strings[place], strings[place + 1])
      guard !name.isEmpty else { throw Fault(description: "string \(place + 1) is an empty type name") }
      do throws(JSONNode.Fault) { _ = try JSONNode(Array(json.utf8)) } catch {
        throw Fault(
          description: "string \(place + 2), the value of a \(name), is not JSON on one line: \(error.message)")
      }
      values.append(Value(type: aliases[name] ?? SavedPath.stackName(name), payload: Array(json.utf8)))
    }
  }

  /// The strings of a file.
  public func strings(names: Names = .qualified, aliases: [String: String] = [:]) -> [String] {
    values.reversed().flatMap { value in
      [aliases[value.type] ?? SavedPath.fileName(value.type, names), String(decoding: value.payload, as: UTF8.self)]
    }
  }

  /// The mangled names of the standard types, as `_mangledTypeName` gives them (Swift's `Mangling.rst`, "Types").
  private static let mangled: [String: String] = [
    "String": "SS", "Int": "Si", "UInt": "Su", "Double": "Sd", "Float": "Sf", "Bool": "Sb", "Character": "SJ",
    "Substring": "Ss", "Int8": "s4Int8V", "Int16": "s5Int16V", "Int32": "s5Int32V", "Int64": "s5Int64V",
    "UInt8": "s5UInt8V", "UInt16": "s6UInt16V", "UInt32": "s6UInt32V", "UInt64": "s6UInt64V",
    "Foundation.UUID": "10Foundation4UUIDV", "Foundation.Date": "10Foundation4DateV",
    "Foundation.URL": "10Foundation3URLV", "Foundation.Data": "10Foundation4DataV",
  ]

  /// What stands before the names of Foundation's types on Linux.
  private static let inner = "FoundationEssentials."

  private static let unmangled = Dictionary(uniqueKeysWithValues: mangled.map { ($1, $0) })

  /// A stack names the standard library's types without their module.
  private static func stackName(_ name: String) -> String {
    var bare = name.hasPrefix("$s") ? String(name.dropFirst(2)) : name
    // On Linux these types are of a module of their own.
    if bare.hasPrefix("20FoundationEssentials") { bare = "10Foundation" + bare.dropFirst(22) }
    if let standard = unmangled[bare] { return standard }
    if name.hasPrefix(inner) { return "Foundation." + name.dropFirst(inner.count) }
    // Only of the types that are written so: another would come back as a type of another name.
    let short = String(name.dropFirst(6))
    return name.hasPrefix("Swift.") && mangled[short] != nil ? short : name
  }

  private static func fileName(_ type: String, _ names: Names) -> String {
    let type = type.hasPrefix(inner) ? "Foundation." + type.dropFirst(inner.count) : type
    guard let short = mangled[type] else { return type }
    if names == .mangled { return short }
    return type.contains(".") ? type : "Swift." + type
  }
}
