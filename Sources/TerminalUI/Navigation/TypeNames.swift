import Foundation
import Locking

/// What can be read again; metatypes go from thread to thread.
typealias StoredType = Decodable & Hashable & SendableMetatype

/// Under which names the types of values are stored, and how they are read again.
///
/// One table for the process, since a path is saved and restored where no view is at hand.
final class TypeNames: Sendable {
  static let shared = TypeNames()

  private struct Table {
    var names: [ObjectIdentifier: String] = [:]
    var types: [String: any StoredType.Type] = [:]
  }

  private let table = Locked(Table())

  private init() {
    let known: [any StoredType.Type] = [
      String.self, Int.self, Bool.self, Double.self, Float.self, UInt.self, Int8.self, Int16.self, Int32.self,
      Int64.self, UInt8.self, UInt16.self, UInt32.self, UInt64.self, UUID.self, URL.self, Date.self, Data.self,
    ]
    table.withLock { table in
      for type in known { table.types[_typeName(type, qualified: true)] = type }
    }
  }

  /// Tells a type's name. Without one of its own it has that of the program's source, if this is stable.
  ///
  /// - Returns: whether a name became known that wasn't before.
  @discardableResult
  func register(_ type: Any.Type, name: String?, aliases: [String]) -> Bool {
    let all = [name ?? TypeNames.sourceName(type)].compactMap { $0 } + aliases
    let decodable = type as? any StoredType.Type
    return table.withLock { table in
      if let name { table.names[ObjectIdentifier(type)] = name }
      guard let decodable else { return false }
      var isNew = false
      for name in all where table.types[name] == nil || table.types[name] != decodable {
        table.types[name] = decodable
        isNew = true
      }
      return isNew
    }
  }

  /// The name that values of a type are stored under; nil if none is stable.
  func name(of type: Any.Type) -> String? {
    table.withLock { $0.names[ObjectIdentifier(type)] } ?? TypeNames.sourceName(type)
  }

  func type(named name: String) -> (any StoredType.Type)? { table.withLock { $0.types[name] } }

  /// The name in the source with all that it stands in. Private and local types have none that outlives a build.
  private static func sourceName(_ type: Any.Type) -> String? {
    let name = _typeName(type, qualified: true)
    return name.contains("(unknown context") || name.contains("(") ? nil : name
  }
}
