import NavigationClient
import TerminalUI

/// How a shared stack is read and written as a path of some type.
struct PathForm<Path> {
  var read: @MainActor (SharedStack) -> Path
  var write: @MainActor (SharedStack, Path) -> Void
  /// The identities of the path's elements, in order.
  var ids: @MainActor (SharedStack) -> [TerminalUI.EntryID]
}

extension PathForm where Path == NavigationPath {
  /// Values of any types.
  static var erased: PathForm {
    PathForm(
      read: { NavigationPath(elements: $0.elements, sharedName: $0.name) },
      write: { $0.assign($1.elements) },
      ids: { $0.elements.map(\.id) })
  }
}

extension PathForm
where Path: RandomAccessCollection & RangeReplaceableCollection, Path.Element: Codable & Hashable {
  /// Values of one type.
  ///
  /// - Parameters:
  ///   - name: under which they are sent.
  ///   - place: where the path is declared, which is where the type can be given a name.
  static func typed(name: String?, at place: SourcePlace) -> PathForm {
    let name = name ?? (Path.Element.self as? any NavigationValue.Type)?.navigationTypeName
    PathValue.register(Path.Element.self, name: name)
    return PathForm(
      read: { Path(elements(of: $0).map(\.value)) },
      write: { assign($1, to: $0, at: place) },
      ids: { elements(of: $0).map(\.id) })
  }

  /// Those of the stack's entries that are of the type.
  @MainActor private static func elements(
    of stack: SharedStack
  ) -> [(index: Int, id: TerminalUI.EntryID, value: Path.Element)] {
    stack.elements.enumerated().compactMap { index, element in
      (element.value.value as? Path.Element).map { (index, element.id, $0) }
    }
  }

  /// Entries of other types stay where they are below a change, and are closed with what is beneath them.
  @MainActor private static func assign(_ path: Path, to stack: SharedStack, at declaration: SourcePlace) {
    let old = elements(of: stack)
    let new = Array(path)
    let kept = zip(old, new).prefix { $0.value == $1 }.count
    let all = stack.elements
    let prefix = kept < old.count ? all[..<old[kept].index] : all[...]
    // What was there and only moved keeps its identity.
    var free = Array(old[kept...])
    let added = new[kept...].map { value in
      guard let place = free.firstIndex(where: { $0.value == value }) else {
        return NavigationPath.Element(value: PathValue(value, at: declaration))
      }
      defer { free.remove(at: place) }
      return all[free[place].index]
    }
    stack.assign(prefix + added)
  }
}
