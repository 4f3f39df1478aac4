import Foundation

/// A value on a path, shared by all copies of the path.
///
/// It is coded when it is appended: then the conformance to `Encodable` can be found even if it belongs to the main
/// actor, as it does in programs that are isolated to it by default. Off the main actor the cast would fail without a
/// word. A value that was stored stays as it is until its type is known, and is stored again unchanged.
package final class PathValue {
  private enum Content {
    case value(any Hashable)
    case stored(name: String)
  }

  private var content: Content
  /// The value as JSON; nil if it isn't `Encodable`.
  package let json: String?
  /// Where it was put on a path; nil if that isn't known.
  let place: SourcePlace?
  /// Why there is no JSON of a value that is `Encodable`.
  private(set) var encodingError: String?
  /// Why the JSON couldn't be read, if it was tried.
  private var decodingError: String?

  /// - Parameter place: where the program puts it on a path.
  package init(_ value: any Hashable, at place: SourcePlace? = nil) {
    content = .value(value)
    self.place = place
    guard let encodable = value as? any Encodable else {
      json = nil
      return
    }
    do { json = try PathValue.encode(encodable) } catch {
      json = nil
      encodingError = "\(error)"
    }
  }

  /// Tells under which names values of a type are stored, as `navigationDestination(for:name:aliases:)` does.
  package static func register<Value: Hashable>(_ type: Value.Type, name: String? = nil, aliases: [String] = []) {
    TypeNames.shared.register(type, name: name, aliases: aliases)
  }

  /// A value that isn't to be stored.
  init(uncoded value: any Hashable) {
    content = .value(value)
    place = nil
    json = nil
  }

  /// A value that was stored, or came from another device.
  package init(name: String, json: String) {
    content = .stored(name: name)
    place = nil
    self.json = json
    resolve()
  }

  /// Sorted keys and plain slashes, so that equal values are stored as equal texts.
  private static func encode<Value: Encodable>(_ value: Value) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(value), as: UTF8.self)
  }

  /// The value; nil while its type isn't known.
  package var value: (any Hashable)? {
    guard case .value(let value) = content else { return nil }
    return value
  }

  /// The name that the value is stored under; nil if its type has none that is stable.
  package var typeName: String? {
    switch content {
    case .value(let value): TypeNames.shared.name(of: type(of: value))
    case .stored(let name): name
    }
  }

  /// The type's name as people know it.
  var shownType: String {
    switch content {
    case .value(let value): "\(type(of: value))"
    case .stored(let name): name
    }
  }

  /// The value as text.
  var shownValue: String {
    switch content {
    case .value(let value): "\(value)"
    case .stored: json ?? ""
    }
  }

  /// Makes the value of what was stored, if its type is known by now.
  func resolve() {
    guard case .stored(let name) = content, decodingError == nil, let json,
      let type = TypeNames.shared.type(named: name)
    else { return }
    do {
      content = .value(try JSONDecoder().decode(type, from: Data(json.utf8)))
    } catch {
      decodingError = "\(error)"
    }
  }

  /// Why the value can't be stored or sent; nil if it can be.
  package var codingProblem: Diagnostic? {
    if json == nil { return .notCodable(shownType, place, failure: encodingError) }
    return typeName == nil ? .unstableName(shownType, place) : nil
  }

  /// What is wrong with what was stored, after an attempt to read it.
  var problem: String? { decodingError }
}

extension PathValue: Equatable {
  /// Type is part of identity: `AnyHashable(1)` equals `AnyHashable(Int8(1))`, these don't.
  package static func == (one: PathValue, other: PathValue) -> Bool {
    if one === other { return true }
    one.resolve()
    other.resolve()
    switch (one.content, other.content) {
    case (.value(let first), .value(let second)):
      return type(of: first) == type(of: second) && AnyHashable(first) == AnyHashable(second)
    case (.stored(let first), .stored(let second)): return first == second && one.json == other.json
    default: return one.typeName == other.typeName && one.json == other.json
    }
  }
}
