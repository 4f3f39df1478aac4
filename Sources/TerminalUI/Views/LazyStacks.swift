/// Views from top to bottom. In a `ScrollView` only those that are seen are made, and the stack scrolls as a list does:
/// from one view to the next.
public struct LazyVStack<Content: View>: View, PrimitiveView {
  private let alignment: HorizontalAlignment
  private let spacing: Int
  private let content: Content
  private let place: SourcePlace

  /// - Parameters:
  ///   - alignment: where narrow views stand.
  ///   - spacing: empty lines between the views; none if nil.
  ///   - content: the views.
  ///   - file: where it is written, for diagnostics.
  ///   - line: where it is written, for diagnostics.
  ///   - column: where it is written, for diagnostics.
  public init(
    alignment: HorizontalAlignment = .center, spacing: Int? = nil, file: String = #fileID, line: UInt = #line,
    column: UInt = #column, @ViewBuilder content: () -> Content
  ) {
    self.alignment = alignment
    self.spacing = spacing ?? 0
    self.content = content()
    place = SourcePlace(file: file, line: line, column: column)
  }

  func elements(in context: Context) -> [Element] {
    let isScrolled = context.environment.isScrolled
    let children = context.evaluate(content, .body) { environment in
      environment.defersRows = isScrolled
      environment.isScrolled = false
      environment.lazyContainer = LazyPlace(name: "LazyVStack", place: place)
    }
    guard isScrolled else { return [StackElement(.vertical, children, alignment: alignment, spacing: spacing)] }
    let element = ListElement(
      children.compactMap { $0 as? RowsElement },
      style: ListElement.Style(gutter: 0, spacing: spacing, alignment: alignment),
      memory: context.node.own { ListMemory() }, in: context)
    if context.isShown { element.register() } else { element.makeFocusedRow() }
    return [element]
  }
}

/// Views from left to right that may be made when they are seen.
public struct LazyHStack<Content: View>: View, PrimitiveView {
  private let alignment: VerticalAlignment
  private let spacing: Int
  private let content: Content
  private let place: SourcePlace

  /// - Parameters:
  ///   - alignment: where low views stand.
  ///   - spacing: blanks between the views; one if nil.
  ///   - content: the views.
  ///   - file: where it is written, for diagnostics.
  ///   - line: where it is written, for diagnostics.
  ///   - column: where it is written, for diagnostics.
  public init(
    alignment: VerticalAlignment = .center, spacing: Int? = nil, file: String = #fileID, line: UInt = #line,
    column: UInt = #column, @ViewBuilder content: () -> Content
  ) {
    self.alignment = alignment
    self.spacing = spacing ?? 1
    self.content = content()
    place = SourcePlace(file: file, line: line, column: column)
  }

  func elements(in context: Context) -> [Element] {
    let children = context.evaluate(content, .body) { environment in
      environment.defersRows = false
      environment.isScrolled = false
      environment.lazyContainer = LazyPlace(name: "LazyHStack", place: place)
    }
    return [StackElement(.horizontal, children, spacing: spacing) { alignment.offset(of: $0, in: $1) }]
  }
}
