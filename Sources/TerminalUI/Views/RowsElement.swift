/// A view that is made of others without laying them out, so that in a list each of them is a row.
@MainActor
protocol RowStructure: PrimitiveView {
  /// Whether that is so for this one.
  var hasRows: Bool { get }
}

extension RowStructure {
  var hasRows: Bool { true }
}

/// Rows of a list that are made when they are seen.
@MainActor
final class RowsElement: Element {
  enum Kind {
    case row
    case header
    case footer
  }

  /// What stands for the rows from one evaluation to the next.
  let node: Node
  let kind: Kind
  let count: Int
  /// The identity of a row among these.
  let id: (Int) -> AnyHashable
  var delete: ((Int) -> Void)?
  var move: ((Int, Int) -> Void)?
  private let make: (Int, FocusOrder) -> Element

  init(
    node: Node, kind: Kind = .row, count: Int, id: @escaping (Int) -> AnyHashable,
    make: @escaping (_ index: Int, _ focus: FocusOrder) -> Element
  ) {
    self.node = node
    self.kind = kind
    self.count = count
    self.id = id
    self.make = make
  }

  /// A row that a list has made, for one picture.
  struct Row {
    var element: Element
    var focus: FocusOrder
    /// The value that stands for the row in a selection, if the view says one.
    var tag: AnyHashable?
  }

  func row(_ index: Int) -> Row {
    let focus = FocusOrder()
    if node.keepsChildren, kind == .row { note(index) }
    let element = make(index, focus)
    return Row(element: element, focus: focus, tag: (element as? TaggedElement)?.tag)
  }

  /// The most rows whose state is kept while they are out of sight.
  private static let mostKept = 400

  /// Keeps the state of rows that are out of sight, and lets go of those whose elements are gone.
  func keepNodes() {
    node.keepsChildren = true
    let memory = node.own { RowMemory() }
    if node.childCount > RowsElement.mostKept {
      node.removeChildren { memory.places[$0] == nil || !isNear($0, memory) }
    }
    let isAsBefore = memory.places.allSatisfy { key, index in
      guard case .id(let known) = key else { return true }
      return index < count && id(index) == known
    }
    guard !isAsBefore else { return }
    var places: [Node.Key: Int] = [:]
    for index in 0..<count { places[.id(id(index))] = index }
    node.removeChildren { places[$0] == nil }
    for key in memory.places.keys { memory.places[key] = places[key] }
  }

  private func isNear(_ key: Node.Key, _ memory: RowMemory) -> Bool {
    guard let place = memory.places[key], let last = memory.lastMade else { return false }
    return abs(place - last) <= RowsElement.mostKept / 4
  }

  /// Remembers where a row stood that is being made.
  private func note(_ index: Int) {
    let memory = node.own { RowMemory() }
    memory.places[.id(id(index))] = index
    memory.lastMade = index
    if memory.places.count > 2 * RowsElement.mostKept {
      memory.places = memory.places.filter { isNear($0.key, memory) }
    }
  }
}

/// Where the rows stood whose state is kept.
@MainActor
private final class RowMemory {
  var places: [Node.Key: Int] = [:]
  var lastMade: Int?
}

/// A view with a value for the selection of a list or a picker.
@MainActor
final class TaggedElement: WrappedElement {
  let tag: AnyHashable

  init(_ content: Element, _ tag: AnyHashable) {
    self.tag = tag
    super.init(content)
  }
}
