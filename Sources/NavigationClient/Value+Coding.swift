import Foundation
@_exported public import NavigationModel

/// A type whose name on a stack is its own choice, and so survives being renamed or moved to another module.
public protocol NavigationValue {
  /// The stable name under which values of the type are stored and sent, such as `product`.
  static var navigationTypeName: String { get }
}

extension Value {
  /// The name under which values of a type are stored: its ``NavigationValue/navigationTypeName``, or else the
  /// qualified name as Swift spells it, without `Swift.` for the standard library's types.
  public static func typeName(of type: Any.Type) -> String {
    if let named = type as? any NavigationValue.Type { return named.navigationTypeName }
    let qualified = String(reflecting: type)
    return qualified.hasPrefix("Swift.") ? String(qualified.dropFirst(6)) : qualified
  }

  /// A value as data: JSON with sorted keys.
  ///
  /// - Parameters:
  ///   - content: what the screen shows.
  ///   - type: the name of its type on the stack; ``typeName(of:)`` if not given.
  /// - Throws: ``ClientError`` with the code `.badValue` if it can't be encoded.
  public init<Content: Encodable>(_ content: Content, type: String? = nil) throws(ClientError) {
    let name = type ?? Value.typeName(of: Content.self)
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    do {
      self.init(type: name, payload: Array(try encoder.encode(content)))
    } catch {
      throw ClientError(.badValue, about: name, "a value of this type can't be written as JSON: \(error)", error)
    }
  }

  /// A value of a type's name and a JSON text. What isn't JSON is refused when it is put on a stack.
  public init(type: String, json: String) { self.init(type: type, payload: Array(json.utf8)) }

  /// The payload as text.
  public var json: String { String(decoding: payload, as: UTF8.self) }

  /// The value as Swift's.
  ///
  /// - Parameters:
  ///   - content: the type wanted.
  ///   - type: the name that it must have; ``typeName(of:)`` if not given.
  /// - Throws: ``ClientError`` with the code `.badValue` if it is of another type, or its JSON doesn't fit.
  public func decode<Content: Decodable>(
    _ content: Content.Type, type: String? = nil
  ) throws(ClientError) -> Content {
    let name = type ?? Value.typeName(of: content)
    guard self.type == name else {
      throw ClientError(.badValue, about: self.type, "the value is a \(self.type) and not a \(name)")
    }
    do {
      return try JSONDecoder().decode(content, from: Data(payload))
    } catch {
      throw ClientError(.badValue, about: name, "\(json.prefix(80)) can't be read as \(content): \(error)", error)
    }
  }
}
