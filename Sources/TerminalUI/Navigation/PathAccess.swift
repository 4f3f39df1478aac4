/// How a stack reads and changes its path, whatever holds it.
struct PathAccess {
  /// An entry as the path has it: with its identity, if the path knows any.
  struct Entry {
    var id: EntryID?
    var value: PathValue
  }

  /// From the root up.
  var read: () -> [Entry]
  /// Shows a value on top, put there by a link; false if the path can't hold it.
  var append: (any Hashable, SourcePlace) -> Bool
  /// Keeps so many entries.
  var truncate: (Int) -> Void
  /// Whether the path can hold values of a type.
  var accepts: (Any.Type) -> Bool
  /// The type of all values, for a path of one type.
  var elementType: Any.Type?
  /// Whether the identities are right even where equal values would suggest others: those of a shared path are.
  var isAuthority: Bool
  /// How many changes others made, if others can.
  var othersChanges: () -> Int
}

extension PathAccess {
  init(_ path: Binding<NavigationPath>) {
    read = { path.wrappedValue.elements.map { Entry(id: $0.id, value: $0.value) } }
    append = { value, place in
      path.wrappedValue.append(value, at: place)
      return true
    }
    truncate = { count in
      let now = path.wrappedValue.count
      if now > count { path.wrappedValue.removeLast(now - count) }
    }
    accepts = { _ in true }
    isAuthority = path.entryIDs != nil
    othersChanges = path.othersChanges ?? { 0 }
  }

  init<Data>(_ path: Binding<Data>)
  where Data: RandomAccessCollection & RangeReplaceableCollection, Data.Element: Hashable {
    read = {
      let ids = path.entryIDs?() ?? []
      return path.wrappedValue.enumerated().map { index, value in
        Entry(id: index < ids.count ? ids[index] : nil, value: PathValue(uncoded: value))
      }
    }
    append = { value, _ in
      guard let element = value as? Data.Element, type(of: value) == Data.Element.self else { return false }
      path.wrappedValue.append(element)
      return true
    }
    truncate = { count in
      let now = path.wrappedValue.count
      guard now > count else { return }
      var changed = path.wrappedValue
      changed.removeSubrange(changed.index(changed.startIndex, offsetBy: count)...)
      path.wrappedValue = changed
    }
    accepts = { $0 == Data.Element.self }
    elementType = Data.Element.self
    isAuthority = path.entryIDs != nil
    othersChanges = path.othersChanges ?? { 0 }
  }
}
