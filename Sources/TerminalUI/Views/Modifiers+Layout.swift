/// A view whose elements are each wrapped in another one.
struct ElementModifier<Content: View>: View, PrimitiveView {
  let content: Content
  let wrap: (Element, Context) -> Element

  func elements(in context: Context) -> [Element] {
    context.evaluate(content, .body).map { wrap($0, context) }
  }
}

extension View {
  func wrappingElements(_ wrap: @escaping (Element, Context) -> Element) -> ElementModifier<Self> {
    ElementModifier(content: self, wrap: wrap)
  }

  /// Keeps room free around the view.
  ///
  /// - Parameters:
  ///   - edges: on which sides.
  ///   - length: how many cells; if nil one line, or two columns.
  public func padding(_ edges: Edge.Set = .all, _ length: Int? = nil) -> some View {
    wrappingElements { element, _ in
      PaddingElement(
        element, top: edges.contains(.top) ? length ?? 1 : 0, bottom: edges.contains(.bottom) ? length ?? 1 : 0,
        leading: edges.contains(.leading) ? length ?? 2 : 0, trailing: edges.contains(.trailing) ? length ?? 2 : 0)
    }
  }

  /// Keeps room free on all sides.
  public func padding(_ length: Int) -> some View { padding(.all, length) }

  /// Gives the view a room of its own.
  ///
  /// - Parameters:
  ///   - width: in columns; nil leaves it to the view.
  ///   - height: in lines; nil leaves it to the view.
  ///   - alignment: where the view stands in it.
  public func frame(width: Int? = nil, height: Int? = nil, alignment: Alignment = .center) -> some View {
    wrappingElements { element, _ in
      FrameElement(
        element, width: .init(minimum: width, maximum: width), height: .init(minimum: height, maximum: height),
        alignment: alignment)
    }
  }

  /// Gives the view a room within bounds. With a maximum it takes as much of it as there is.
  ///
  /// - Parameters:
  ///   - minWidth: the least, in columns.
  ///   - maxWidth: the most, in columns; `.infinity` for all that there is.
  ///   - minHeight: the least, in lines.
  ///   - maxHeight: the most, in lines; `.infinity` for all that there is.
  ///   - alignment: where the view stands in it.
  public func frame(
    minWidth: Double? = nil, maxWidth: Double? = nil, minHeight: Double? = nil, maxHeight: Double? = nil,
    alignment: Alignment = .center
  ) -> some View {
    func cells(_ length: Double?) -> Int? {
      length.map { $0.isNaN ? 0 : Int(min(Double(Int32.max), max(0, $0))) }
    }
    return wrappingElements { element, _ in
      FrameElement(
        element, width: .init(minimum: cells(minWidth), maximum: cells(maxWidth)),
        height: .init(minimum: cells(minHeight), maximum: cells(maxHeight)), alignment: alignment)
    }
  }

  /// Gives the view the size that it likes, whatever room there is.
  public func fixedSize(horizontal: Bool = true, vertical: Bool = true) -> some View {
    wrappingElements { element, _ in FixedSizeElement(element, horizontal: horizontal, vertical: vertical) }
  }

  /// Gives the view room before others of the same stack.
  public func layoutPriority(_ value: Double) -> some View {
    wrappingElements { element, _ in PriorityElement(element, value) }
  }

  /// Puts a line around the view.
  public func border<S: ShapeStyle>(_ style: S) -> some View {
    let color = style.resolved()
    return wrappingElements { element, _ in BorderElement(element, color) }
  }

  /// Puts a line around the view.
  public func border() -> some View { border(Color.primary) }

  /// Puts a colour behind the view.
  public func background<S: ShapeStyle>(_ style: S) -> some View {
    let color = style.resolved()
    return wrappingElements { element, _ in BackgroundElement(element, color) }
      .changingEnvironment { $0.textStyle.background = color }
  }

  /// Puts a view in front of this one.
  public func overlay<Overlay: View>(alignment: Alignment = .center, @ViewBuilder content: () -> Overlay) -> some View {
    ZStack(alignment: alignment) {
      self
      content()
    }
  }

  /// Shows nothing and keeps the room.
  public func hidden() -> some View { wrappingElements { element, _ in HiddenElement(element) } }
}

@MainActor
private final class PaddingElement: WrappedElement {
  private let top: Int
  private let bottom: Int
  private let leading: Int
  private let trailing: Int

  init(_ content: Element, top: Int, bottom: Int, leading: Int, trailing: Int) {
    (self.top, self.bottom, self.leading, self.trailing) = (top, bottom, leading, trailing)
    super.init(content)
  }

  override func measure(_ proposal: Proposal) -> CellSize {
    let inner = content.size(
      Proposal(
        width: proposal.width.map { $0 - leading - trailing }, height: proposal.height.map { $0 - top - bottom }))
    return CellSize(width: inner.width + leading + trailing, height: inner.height + top + bottom)
  }

  override func place(in rect: CellRect, on canvas: Canvas) {
    let room = CellRect(
      column: rect.origin.column + leading, row: rect.origin.row + top, width: rect.size.width - leading - trailing,
      height: rect.size.height - top - bottom)
    content.place(in: room, on: canvas)
  }
}

@MainActor
private final class FrameElement: WrappedElement {
  struct Bounds {
    var minimum: Int?
    var maximum: Int?

    /// What is offered to the content.
    func offer(_ length: Int?) -> Int? {
      guard let length else { return maximum.map { $0 == Int(Int32.max) ? nil : $0 } ?? nil }
      return max(minimum ?? 0, min(length, maximum ?? length))
    }

    /// What is taken, of what is offered and for the content.
    func length(_ offered: Int?, content: Int) -> Int {
      if let minimum, minimum == maximum { return minimum }
      if let maximum, let offered { return max(minimum ?? 0, min(offered, maximum)) }
      return max(minimum ?? 0, min(content, maximum ?? content))
    }
  }

  private let width: Bounds
  private let height: Bounds
  private let alignment: Alignment

  init(_ content: Element, width: Bounds, height: Bounds, alignment: Alignment) {
    (self.width, self.height, self.alignment) = (width, height, alignment)
    super.init(content)
  }

  override func expands(_ axis: Axis) -> Bool {
    let bounds = axis == .horizontal ? width : height
    if bounds.minimum != nil, bounds.minimum == bounds.maximum { return false }
    return bounds.maximum != nil || content.expands(axis)
  }

  override func isRigid(_ axis: Axis) -> Bool {
    let bounds = axis == .horizontal ? width : height
    return bounds.minimum != nil && bounds.minimum == bounds.maximum
  }

  override func measure(_ proposal: Proposal) -> CellSize {
    let inner = content.size(Proposal(width: width.offer(proposal.width), height: height.offer(proposal.height)))
    return CellSize(
      width: width.length(proposal.width, content: inner.width),
      height: height.length(proposal.height, content: inner.height))
  }

  override func place(in rect: CellRect, on canvas: Canvas) {
    let size = content.size(Proposal(rect.size))
    canvas.clipped(to: rect) { content.place(in: aligned(size, in: rect, alignment), on: canvas) }
  }
}

@MainActor
private final class FixedSizeElement: WrappedElement {
  private let horizontal: Bool
  private let vertical: Bool

  init(_ content: Element, horizontal: Bool, vertical: Bool) {
    (self.horizontal, self.vertical) = (horizontal, vertical)
    super.init(content)
  }

  override func expands(_ axis: Axis) -> Bool {
    !(axis == .horizontal ? horizontal : vertical) && content.expands(axis)
  }

  override func isRigid(_ axis: Axis) -> Bool { axis == .horizontal ? horizontal : vertical }

  override func measure(_ proposal: Proposal) -> CellSize {
    content.size(Proposal(width: horizontal ? nil : proposal.width, height: vertical ? nil : proposal.height))
  }
}

@MainActor
private final class PriorityElement: WrappedElement {
  private let priority: Double

  init(_ content: Element, _ priority: Double) {
    self.priority = priority
    super.init(content)
  }

  override var layoutPriority: Double { priority }
}

@MainActor
private final class BackgroundElement: WrappedElement {
  private let color: Color

  init(_ content: Element, _ color: Color) {
    self.color = color
    super.init(content)
  }

  override func place(in rect: CellRect, on canvas: Canvas) {
    canvas.fill(rect, style: CellStyle(background: color.cell))
    content.place(in: rect, on: canvas)
  }
}

@MainActor
private final class HiddenElement: WrappedElement {
  override func place(in _: CellRect, on _: Canvas) {}
}

@MainActor
private final class BorderElement: WrappedElement {
  private let style: CellStyle

  init(_ content: Element, _ color: Color) {
    style = TextStyle(color: color).cellStyle()
    super.init(content)
  }

  override func measure(_ proposal: Proposal) -> CellSize {
    let inner = content.size(
      Proposal(width: proposal.width.map { $0 - 2 }, height: proposal.height.map { $0 - 2 }))
    return CellSize(width: inner.width + 2, height: inner.height + 2)
  }

  override func place(in rect: CellRect, on canvas: Canvas) {
    guard rect.size.width >= 2, rect.size.height >= 2 else { return }
    let line = String(repeating: "─", count: rect.size.width - 2)
    let (left, right) = (rect.origin.column, rect.columns.upperBound - 1)
    let (top, bottom) = (rect.origin.row, rect.rows.upperBound - 1)
    func write(_ text: String, _ column: Int, _ row: Int) {
      canvas.write(text, at: CellPosition(column: column, row: row), style: style, role: .decoration)
    }
    write("┌\(line)┐", left, top)
    write("└\(line)┘", left, bottom)
    for row in (top + 1)..<max(top + 1, bottom) {
      write("│", left, row)
      write("│", right, row)
    }
    content.place(
      in: CellRect(column: left + 1, row: top + 1, width: rect.size.width - 2, height: rect.size.height - 2),
      on: canvas)
  }
}
