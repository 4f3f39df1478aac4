import NavigationClient
import TerminalUI

/// What an assignment to a path comes to: one action.
///
/// As the model derives it from values (semantics, "Deriving actions"), but what is closed is named: another device may
/// have opened something that isn't shown yet, and that stays.
enum PathChange {
  /// These are put on top.
  case push([NavigationPath.Element])
  /// These are closed.
  case close([NavigationPath.Element])
  case popToRoot
  /// The whole path.
  case set([NavigationPath.Element])

  /// Nil if the paths have equal values.
  init?(from old: [NavigationPath.Element], to new: [NavigationPath.Element]) {
    let kept = zip(old, new).prefix { $0.value == $1.value }.count
    switch (kept < old.count, kept < new.count) {
    case (false, false): return nil
    case (false, true): self = .push(Array(new[kept...]))
    // A single entry is what a "back" closes, too; who goes back closes that and nothing else.
    case (true, false): self = new.isEmpty && old.count > 1 ? .popToRoot : .close(Array(old[kept...]))
    case (true, true): self = .set(new)
    }
  }

  /// The elements that it may put on the stack, from the root up.
  var elements: [NavigationPath.Element] {
    switch self {
    case .push(let elements), .set(let elements): elements
    case .close, .popToRoot: []
    }
  }
}

extension Value {
  /// A value of a path as it is sent.
  ///
  /// - Throws: `.badValue` if it can't be, saying why.
  init(_ value: PathValue) throws(ClientError) {
    let type = value.value.map { Swift.type(of: $0 as Any) }
    guard let json = value.json else {
      throw ClientError(.badValue, about: type.map { "\($0)" } ?? "", "a value can't be shared: it isn't Codable")
    }
    if let named = type as? any NavigationValue.Type {
      self.init(type: named.navigationTypeName, json: json)
    } else if let name = value.typeName {
      self.init(type: Value.sentName(name), json: json)
    } else {
      throw ClientError(
        .badValue, about: type.map { "\($0)" } ?? "",
        "a value can't be shared: its type is private or local; give it a name, navigationDestination(for:name:)")
    }
  }

  /// The value as a part of a path. Its type may become known later.
  var pathValue: PathValue { PathValue(name: Value.qualifiedName(type), json: json) }

  /// The types of the standard library go without their module's name, as in `Value.typeName(of:)`.
  private static func sentName(_ name: String) -> String {
    name.hasPrefix("Swift.") ? String(name.dropFirst(6)) : name
  }

  private static func qualifiedName(_ name: String) -> String {
    standardTypes.contains(String(name.prefix { $0 != "<" })) ? "Swift." + name : name
  }

  private static let standardTypes: Set = [
    "String", "Int", "Bool", "Double", "Float", "UInt", "Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32",
    "UInt64", "Array", "Dictionary", "Optional", "Set",
  ]
}
