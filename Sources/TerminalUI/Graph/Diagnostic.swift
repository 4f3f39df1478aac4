/// What is wrong with a program's views, told once where SwiftUI would do nothing without a word.
public struct Diagnostic: Hashable, Sendable, CustomStringConvertible {
  /// What kind of mistake it is.
  public enum Kind: String, Sendable {
    /// A value is on the path whose type has no `navigationDestination`.
    case valueWithoutDestination
    /// A `navigationDestination` stands in a lazy container, with whose rows it would vanish.
    case destinationInLazyContainer
    /// Two `navigationDestination`s are for one type.
    case duplicateDestination
    /// A `navigationDestination` or a `NavigationLink` stands outside any `NavigationStack`.
    case outsideStack
    /// A link's value is of another type than the stack's path.
    case wrongType
    /// A value of the path can't be coded, and the path was to be stored or shared.
    case notCodable
    /// A stored value can't be decoded.
    case notDecodable
    /// A type's name changes from build to build, and a path with its values was to be stored or shared.
    case unstableName
    /// Two views next to each other have the same identity.
    case sameIdentity
    /// The views change state whenever they are evaluated.
    case endlessUpdate
    /// More entries were to be removed from a shared path than there are.
    case removedTooMany
  }

  /// What kind of mistake it is.
  public var kind: Kind
  /// What is wrong, where, and what to do.
  public var message: String

  /// The message.
  public var description: String { message }
}

extension Diagnostic {
  static func sameIdentity(_ key: String, in type: String) -> Diagnostic {
    Diagnostic(
      kind: .sameIdentity,
      message: "two views in \(type) have the identity \(key), so they share their state: give each an id of its own")
  }

  static func endlessUpdate(_ passes: Int) -> Diagnostic {
    Diagnostic(
      kind: .endlessUpdate,
      message:
        "the views changed their own state in \(passes) evaluations in a row: don't assign to state in a body, nor in .onChange without a condition"
    )
  }

  static func duplicateDestination(_ type: String, _ first: SourcePlace, _ second: SourcePlace) -> Diagnostic {
    Diagnostic(
      kind: .duplicateDestination,
      message:
        "navigationDestination(for: \(type).self) stands twice in one stack: the one at \(first) is nearer the root and is used, the one at \(second) is not; remove one of them"
    )
  }

  static func destinationInLazyContainer(
    _ type: String, _ destination: SourcePlace, _ container: LazyPlace
  ) -> Diagnostic {
    Diagnostic(
      kind: .destinationInLazyContainer,
      message:
        "navigationDestination(\(type)) at \(destination) stands in the \(container.name) at \(container.place), with whose rows it would come and go, so it is not used; move it to the \(container.name) itself or to a view around it"
    )
  }

  static func outsideStack(_ what: String, _ place: SourcePlace) -> Diagnostic {
    Diagnostic(
      kind: .outsideStack,
      message:
        "\(what) at \(place) stands outside any NavigationStack, so it does nothing; put a NavigationStack around it"
    )
  }

  static func wrongType(_ value: String, _ element: String, _ place: SourcePlace) -> Diagnostic {
    Diagnostic(
      kind: .wrongType,
      message:
        "the NavigationLink at \(place) has a value of type \(value), but the stack's path holds \(element) only, so it does nothing; use a NavigationPath, or a value of type \(element)"
    )
  }

  static func valueWithoutDestination(_ type: String, _ place: SourcePlace?) -> Diagnostic {
    Diagnostic(
      kind: .valueWithoutDestination,
      message:
        "a value of type \(type)\(at(place)) is on the path, and no view of the stack says how to show it; add .navigationDestination(for: \(type).self) to a view in the stack, outside of lists"
    )
  }

  static func notDecodable(_ type: String, _ problem: String) -> Diagnostic {
    Diagnostic(
      kind: .notDecodable,
      message: "a stored value of type \(type) can't be read, so it is kept as it came: \(problem)")
  }

  static func unstableName(_ type: String, _ place: SourcePlace?) -> Diagnostic {
    Diagnostic(
      kind: .unstableName,
      message:
        "a value of type \(type)\(at(place)) can't be stored or shared: the type is private or local, so its name changes from build to build; give it one, as in navigationDestination(for: \(type).self, name: \"…\")"
    )
  }

  static func notCodable(_ type: String, _ place: SourcePlace?, failure: String?) -> Diagnostic {
    let reason = failure.map { "it can't be encoded: \($0)" } ?? "the type isn't Codable; make it so"
    return Diagnostic(
      kind: .notCodable, message: "a value of type \(type)\(at(place)) can't be stored or shared: \(reason)")
  }

  static func removedTooMany(_ wanted: Int, of count: Int, _ stack: String, _ place: SourcePlace) -> Diagnostic {
    Diagnostic(
      kind: .removedTooMany,
      message:
        "removeLast(\(wanted)) at \(place): the path of \(stack) had \(count), so all are closed; another device may have closed some before, so look at count or isEmpty in the same turn"
    )
  }

  private static func at(_ place: SourcePlace?) -> String { place.map { ", put there at \($0)," } ?? "" }
}
