/// Rows of which one has the focus; only those that are seen are made, so that a list may be as long as you like.
///
/// A row is used as its view says: Enter pushes its `NavigationLink` or presses its `Button`.
public struct List<SelectionValue: Hashable, Content: View>: View {
  private let content: Content
  private let selection: ListSelection?
  private let place: SourcePlace

  init(_ content: Content, _ selection: ListSelection?, _ place: SourcePlace) {
    self.content = content
    self.selection = selection
    self.place = place
  }
}

extension List where SelectionValue == Never {
  /// - Parameters:
  ///   - content: the rows.
  ///   - file: where it is written, for diagnostics.
  ///   - line: where it is written, for diagnostics.
  ///   - column: where it is written, for diagnostics.
  public init(
    file: String = #fileID, line: UInt = #line, column: UInt = #column, @ViewBuilder content: () -> Content
  ) {
    self.init(content(), nil, SourcePlace(file: file, line: line, column: column))
  }

  /// - Parameters:
  ///   - data: the elements.
  ///   - rowContent: the row of an element.
  ///   - file: where it is written, for diagnostics.
  ///   - line: where it is written, for diagnostics.
  ///   - column: where it is written, for diagnostics.
  public init<Data: RandomAccessCollection, Row: View>(
    _ data: Data, file: String = #fileID, line: UInt = #line, column: UInt = #column,
    @ViewBuilder rowContent: @escaping (Data.Element) -> Row
  ) where Data.Element: Identifiable, Content == ForEach<Data, Data.Element.ID, Row> {
    self.init(
      ForEach(data, content: rowContent), nil, SourcePlace(file: file, line: line, column: column))
  }

  /// - Parameters:
  ///   - data: the elements.
  ///   - id: what tells one element from the others.
  ///   - rowContent: the row of an element.
  ///   - file: where it is written, for diagnostics.
  ///   - line: where it is written, for diagnostics.
  ///   - column: where it is written, for diagnostics.
  public init<Data: RandomAccessCollection, ID: Hashable, Row: View>(
    _ data: Data, id: KeyPath<Data.Element, ID>, file: String = #fileID, line: UInt = #line, column: UInt = #column,
    @ViewBuilder rowContent: @escaping (Data.Element) -> Row
  ) where Content == ForEach<Data, ID, Row> {
    self.init(
      ForEach(data, id: id, content: rowContent), nil, SourcePlace(file: file, line: line, column: column))
  }

  /// - Parameters:
  ///   - data: numbers.
  ///   - rowContent: the row of a number.
  ///   - file: where it is written, for diagnostics.
  ///   - line: where it is written, for diagnostics.
  ///   - column: where it is written, for diagnostics.
  public init<Row: View>(
    _ data: Range<Int>, file: String = #fileID, line: UInt = #line, column: UInt = #column,
    @ViewBuilder rowContent: @escaping (Int) -> Row
  ) where Content == ForEach<Range<Int>, Int, Row> {
    self.init(
      ForEach(data, content: rowContent), nil, SourcePlace(file: file, line: line, column: column))
  }

  /// - Parameters:
  ///   - data: a binding to the elements, so that the rows can change them.
  ///   - rowContent: the row of an element, made from a binding to it.
  ///   - file: where it is written, for diagnostics.
  ///   - line: where it is written, for diagnostics.
  ///   - column: where it is written, for diagnostics.
  public init<Data: MutableCollection & RandomAccessCollection, Row: View>(
    _ data: Binding<Data>, file: String = #fileID, line: UInt = #line, column: UInt = #column,
    @ViewBuilder rowContent: @escaping (Binding<Data.Element>) -> Row
  ) where Data.Element: Identifiable, Content == ForEach<IndexedBindings<Data>, Data.Element.ID, Row> {
    self.init(
      ForEach(data, content: rowContent), nil, SourcePlace(file: file, line: line, column: column))
  }
}

extension List {
  /// - Parameters:
  ///   - selection: the identity or tag of the row that was chosen last, with Enter or a click.
  ///   - content: the rows.
  ///   - file: where it is written, for diagnostics.
  ///   - line: where it is written, for diagnostics.
  ///   - column: where it is written, for diagnostics.
  public init(
    selection: Binding<SelectionValue?>?, file: String = #fileID, line: UInt = #line, column: UInt = #column,
    @ViewBuilder content: () -> Content
  ) {
    self.init(
      content(), ListSelection.one(selection), SourcePlace(file: file, line: line, column: column))
  }

  /// - Parameters:
  ///   - selection: the identities or tags of the rows that are chosen; Enter or a click changes it.
  ///   - content: the rows.
  ///   - file: where it is written, for diagnostics.
  ///   - line: where it is written, for diagnostics.
  ///   - column: where it is written, for diagnostics.
  public init(
    selection: Binding<Set<SelectionValue>>?, file: String = #fileID, line: UInt = #line, column: UInt = #column,
    @ViewBuilder content: () -> Content
  ) {
    self.init(
      content(), ListSelection.several(selection), SourcePlace(file: file, line: line, column: column))
  }

  /// - Parameters:
  ///   - data: the elements.
  ///   - selection: the identity of the row that was chosen last, with Enter or a click.
  ///   - rowContent: the row of an element.
  ///   - file: where it is written, for diagnostics.
  ///   - line: where it is written, for diagnostics.
  ///   - column: where it is written, for diagnostics.
  public init<Data: RandomAccessCollection, Row: View>(
    _ data: Data, selection: Binding<SelectionValue?>?, file: String = #fileID, line: UInt = #line,
    column: UInt = #column, @ViewBuilder rowContent: @escaping (Data.Element) -> Row
  ) where Data.Element: Identifiable, Content == ForEach<Data, Data.Element.ID, Row> {
    self.init(
      ForEach(data, content: rowContent), ListSelection.one(selection),
      SourcePlace(file: file, line: line, column: column))
  }
}

/// The rows that are chosen, by the values that stand for them.
struct ListSelection {
  let contains: (AnyHashable) -> Bool
  let choose: (AnyHashable) -> Void

  static func one<Value: Hashable>(_ binding: Binding<Value?>?) -> ListSelection? {
    guard let binding else { return nil }
    return ListSelection(
      contains: { value in erased(binding.wrappedValue) == value },
      choose: { value in if let value = value.base as? Value { binding.wrappedValue = value } })
  }

  static func several<Value: Hashable>(_ binding: Binding<Set<Value>>?) -> ListSelection? {
    guard let binding else { return nil }
    return ListSelection(
      contains: { value in
        guard let value = value.base as? Value else { return false }
        return binding.wrappedValue.contains(value)
      },
      choose: { value in
        guard let value = value.base as? Value else { return }
        if binding.wrappedValue.remove(value) == nil { binding.wrappedValue.insert(value) }
      })
  }
}

/// A value without its type. (A function, since `map(AnyHashable.init)` would capture the type in an isolated closure.)
func erased<Value: Hashable>(_ value: Value?) -> AnyHashable? {
  guard let value else { return nil }
  return AnyHashable(value)
}

extension List: PrimitiveView {
  func elements(in context: Context) -> [Element] {
    let rows = context.evaluate(content, .body) { environment in
      environment.defersRows = true
      environment.isScrolled = false
      environment.isInRow = true
      environment.lazyContainer = LazyPlace(name: "List", place: place)
    }
    let element = ListElement(
      rows.compactMap { $0 as? RowsElement }, memory: context.node.own { ListMemory() }, selection: selection,
      in: context)
    if context.isShown { element.register() } else { element.makeFocusedRow() }
    return [element]
  }
}
