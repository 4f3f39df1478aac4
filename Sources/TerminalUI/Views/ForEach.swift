public import Foundation

/// A view for each element of a collection. A view's state belongs to the element's identity, wherever it moves.
///
/// In a `List`, only the views of the rows that are seen are made.
public struct ForEach<Data: RandomAccessCollection, ID: Hashable, Content: View>: View {
  /// The elements.
  public let data: Data
  private let id: (Data.Element) -> ID
  private let content: (Data.Element) -> Content
  private var delete: ((Int) -> Void)?
  private var move: ((Int, Int) -> Void)?

  /// - Parameters:
  ///   - data: the elements.
  ///   - id: what tells one element from the others.
  ///   - content: the view of an element.
  public init(
    _ data: Data, id: KeyPath<Data.Element, ID>, @ViewBuilder content: @escaping (Data.Element) -> Content
  ) {
    self.data = data
    self.id = { $0[keyPath: id] }
    self.content = content
  }

  /// - Parameters:
  ///   - data: the elements.
  ///   - content: the view of an element.
  public init(_ data: Data, @ViewBuilder content: @escaping (Data.Element) -> Content)
  where Data.Element: Identifiable, ID == Data.Element.ID {
    self.data = data
    self.id = { $0.id }
    self.content = content
  }
}

extension ForEach where Data == Range<Int>, ID == Int {
  /// - Parameters:
  ///   - data: numbers.
  ///   - content: the view of a number.
  public init(_ data: Range<Int>, @ViewBuilder content: @escaping (Int) -> Content) {
    self.data = data
    self.id = { $0 }
    self.content = content
  }
}

extension ForEach {
  /// - Parameters:
  ///   - data: a binding to the elements, so that the views can change them.
  ///   - content: the view of an element, made from a binding to it.
  public init<Elements>(
    _ data: Binding<Elements>, @ViewBuilder content: @escaping (Binding<Elements.Element>) -> Content
  )
  where
    Elements: MutableCollection & RandomAccessCollection, Elements.Element: Identifiable,
    Data == IndexedBindings<Elements>, ID == Elements.Element.ID
  {
    self.init(data, id: \.id, content: content)
  }

  /// - Parameters:
  ///   - data: a binding to the elements, so that the views can change them.
  ///   - id: what tells one element from the others.
  ///   - content: the view of an element, made from a binding to it.
  public init<Elements>(
    _ data: Binding<Elements>, id: KeyPath<Elements.Element, ID>,
    @ViewBuilder content: @escaping (Binding<Elements.Element>) -> Content
  )
  where Elements: MutableCollection & RandomAccessCollection, Data == IndexedBindings<Elements> {
    self.data = IndexedBindings(base: data, elements: data.wrappedValue)
    self.id = { $0.wrappedValue[keyPath: id] }
    self.content = content
  }

  /// Lets a person delete rows of a list, with the Delete key.
  ///
  /// - Parameter action: removes the elements at these offsets.
  public func onDelete(perform action: ((IndexSet) -> Void)?) -> ForEach {
    var changed = self
    changed.delete = action.map { action in { action([$0]) } }
    return changed
  }

  /// Lets a person move rows of a list, with Alt-Up and Alt-Down.
  ///
  /// - Parameter action: moves the elements at these offsets before the element at an offset.
  public func onMove(perform action: ((IndexSet, Int) -> Void)?) -> ForEach {
    var changed = self
    changed.move = action.map { action in { action([$0], $1) } }
    return changed
  }
}

/// Bindings to the elements of a collection that is bound itself.
public struct IndexedBindings<Elements: MutableCollection & RandomAccessCollection>: RandomAccessCollection {
  let base: Binding<Elements>
  let elements: Elements

  public var startIndex: Elements.Index { elements.startIndex }
  public var endIndex: Elements.Index { elements.endIndex }
  public func index(after index: Elements.Index) -> Elements.Index { elements.index(after: index) }
  public func index(before index: Elements.Index) -> Elements.Index { elements.index(before: index) }
  public func index(_ index: Elements.Index, offsetBy distance: Int) -> Elements.Index {
    elements.index(index, offsetBy: distance)
  }
  public func distance(from start: Elements.Index, to end: Elements.Index) -> Int {
    elements.distance(from: start, to: end)
  }

  /// A binding to an element. When the element is gone it keeps its last value, and assignments do nothing.
  public subscript(index: Elements.Index) -> Binding<Elements.Element> {
    let base = base
    let last = elements[index]
    func isThere(_ elements: Elements) -> Bool { elements.startIndex <= index && index < elements.endIndex }
    return Binding(
      get: {
        let now = base.wrappedValue
        return isThere(now) ? now[index] : last
      },
      set: { value in
        var now = base.wrappedValue
        guard isThere(now) else { return }
        now[index] = value
        base.wrappedValue = now
      })
  }
}

extension ForEach: RowStructure {
  func elements(in context: Context) -> [Element] {
    guard context.environment.defersRows else {
      return data.flatMap { context.evaluate(content($0), .id(AnyHashable(self.id($0)))) }
    }
    let node = context.node
    let data = data
    let start = data.startIndex
    let id = { (index: Int) in AnyHashable(self.id(data[data.index(start, offsetBy: index)])) }
    var inner = context
    inner.environment.defersRows = false
    let rows = RowsElement(node: node, count: data.count, id: id) { index, focus in
      var row = inner
      row.focus = focus
      let element = data[data.index(start, offsetBy: index)]
      return row.evaluateOne(content(element), .id(AnyHashable(self.id(element))))
    }
    rows.delete = delete
    rows.move = move
    rows.keepNodes()
    return [rows]
  }
}
