/// Views from top to bottom.
public struct VStack<Content: View>: View, PrimitiveView {
  private let alignment: HorizontalAlignment
  private let spacing: Int
  private let content: Content

  /// - Parameters:
  ///   - alignment: where narrow views stand.
  ///   - spacing: empty lines between the views; none if nil.
  ///   - content: the views.
  public init(
    alignment: HorizontalAlignment = .center, spacing: Int? = nil, @ViewBuilder content: () -> Content
  ) {
    self.alignment = alignment
    self.spacing = spacing ?? 0
    self.content = content()
  }

  func elements(in context: Context) -> [Element] {
    let children = context.evaluate(content, .body) { $0.defersRows = false }
    return [StackElement(.vertical, children, alignment: alignment, spacing: spacing)]
  }
}

/// Views from left to right.
public struct HStack<Content: View>: View, PrimitiveView {
  private let alignment: VerticalAlignment
  private let spacing: Int
  private let content: Content

  /// - Parameters:
  ///   - alignment: where low views stand.
  ///   - spacing: blanks between the views; one if nil.
  ///   - content: the views.
  public init(alignment: VerticalAlignment = .center, spacing: Int? = nil, @ViewBuilder content: () -> Content) {
    self.alignment = alignment
    self.spacing = spacing ?? 1
    self.content = content()
  }

  func elements(in context: Context) -> [Element] {
    let children = context.evaluate(content, .body) { $0.defersRows = false }
    return [StackElement(.horizontal, children, spacing: spacing) { alignment.offset(of: $0, in: $1) }]
  }
}

/// Views in front of each other, the last one nearest.
public struct ZStack<Content: View>: View, PrimitiveView {
  private let alignment: Alignment
  private let content: Content

  /// - Parameters:
  ///   - alignment: where small views stand.
  ///   - content: the views.
  public init(alignment: Alignment = .center, @ViewBuilder content: () -> Content) {
    self.alignment = alignment
    self.content = content()
  }

  func elements(in context: Context) -> [Element] {
    [LayeredElement(context.evaluate(content, .body) { $0.defersRows = false }, alignment: alignment)]
  }
}

/// Room that takes what the views beside it leave.
public struct Spacer: View, PrimitiveView {
  private let minLength: Int

  /// - Parameter minLength: the least that it takes; nothing if nil.
  public init(minLength: Int? = nil) { self.minLength = minLength ?? 0 }

  func elements(in _: Context) -> [Element] { [SpacerElement(minLength: minLength)] }
}

/// A line between views: across in a column, upright in a row.
public struct Divider: View, PrimitiveView {
  /// A line.
  public init() {}

  func elements(in _: Context) -> [Element] { [DividerElement()] }
}
