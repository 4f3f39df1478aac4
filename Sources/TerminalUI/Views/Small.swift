/// A list of controls.
public struct Form<Content: View>: View {
  private let content: Content
  private let place: SourcePlace

  /// - Parameters:
  ///   - content: the controls.
  ///   - file: where it is written, for diagnostics.
  ///   - line: where it is written, for diagnostics.
  ///   - column: where it is written, for diagnostics.
  public init(
    file: String = #fileID, line: UInt = #line, column: UInt = #column, @ViewBuilder content: () -> Content
  ) {
    self.content = content()
    place = SourcePlace(file: file, line: line, column: column)
  }

  /// A list.
  public var body: some View { List<Never, Content>(content, nil, place) }
}

/// A title with a sign before it. A terminal has no symbols, so that only the title is shown.
public struct Label<Title: View, Icon: View>: View {
  private let title: Title
  private let icon: Icon

  /// - Parameters:
  ///   - title: the title.
  ///   - icon: the sign.
  public init(@ViewBuilder title: () -> Title, @ViewBuilder icon: () -> Icon) {
    self.title = title()
    self.icon = icon()
  }

  /// The sign and the title.
  public var body: some View {
    HStack {
      icon
      title
    }
  }
}

extension Label where Title == Text, Icon == EmptyView {
  /// - Parameters:
  ///   - title: the title.
  ///   - systemImage: a symbol that a terminal doesn't have.
  public init(_ title: String, systemImage: String) {
    self.init(title: { Text(title) }, icon: { EmptyView() })
  }
}

/// A value with its name, at the two ends of a line.
public struct LabeledContent<Label: View, Content: View>: View {
  private let label: Label
  private let content: Content

  /// - Parameters:
  ///   - content: the value.
  ///   - label: its name.
  public init(@ViewBuilder content: () -> Content, @ViewBuilder label: () -> Label) {
    self.label = label()
    self.content = content()
  }

  /// The name at the left, the value at the right.
  public var body: some View {
    HStack {
      label
      Spacer()
      content.foregroundStyle(.secondary)
    }
  }
}

extension LabeledContent where Label == Text {
  /// - Parameters:
  ///   - title: the value's name.
  ///   - content: the value.
  public init(_ title: String, @ViewBuilder content: () -> Content) {
    self.init(content: content) { Text(title) }
  }
}

extension LabeledContent where Label == Text, Content == Text {
  /// - Parameters:
  ///   - title: the value's name.
  ///   - value: the value.
  public init<Value: StringProtocol>(_ title: String, value: Value) {
    self.init(title) { Text(String(value)) }
  }
}

/// How far something has come.
public struct ProgressView: View {
  private let title: String?
  private let part: Double?

  /// Something that goes on for an unknown time.
  public init(_ title: String? = nil) {
    self.title = title
    part = nil
  }

  /// - Parameters:
  ///   - title: what goes on.
  ///   - value: how far it has come; nil if that isn't known.
  ///   - total: how far it has to come.
  public init(_ title: String? = nil, value: Double?, total: Double = 1) {
    self.title = title
    part = value.map { value in
      let part = value / total
      // Nothing of nothing is nothing.
      return part.isFinite ? min(1, max(0, part)) : 0
    }
  }

  /// A bar, and the part in per cent.
  public var body: some View {
    HStack {
      if let title { Text(title) }
      if let part {
        ProgressBar(part: part)
        Text("\(Int((part * 100).rounded())) %")
      } else {
        Text("…")
      }
    }
  }
}

private struct ProgressBar: View, PrimitiveView {
  let part: Double

  func elements(in _: Context) -> [Element] { [ProgressElement(part)] }
}

@MainActor
private final class ProgressElement: Element {
  private let part: Double

  init(_ part: Double) { self.part = part }

  override func expands(_ axis: Axis) -> Bool { axis == .horizontal }
  override func measure(_ proposal: Proposal) -> CellSize { CellSize(width: proposal.width ?? 20, height: 1) }

  override func place(in rect: CellRect, on canvas: Canvas) {
    let done = Int((Double(rect.size.width) * part).rounded())
    canvas.write(
      String(repeating: "█", count: done) + String(repeating: "░", count: rect.size.width - done), at: rect.origin,
      style: .plain, role: .decoration)
  }
}

/// Views that are shown when a person wants to see them.
public struct DisclosureGroup<Label: View, Content: View>: View {
  private let label: Label
  private let content: () -> Content
  private let isExpanded: Binding<Bool>?
  @State private var ownIsExpanded = false

  /// - Parameters:
  ///   - isExpanded: whether the views are shown; nil leaves it to the person.
  ///   - content: the views.
  ///   - label: what is always shown.
  public init(
    isExpanded: Binding<Bool>? = nil, @ViewBuilder content: @escaping () -> Content, @ViewBuilder label: () -> Label
  ) {
    self.isExpanded = isExpanded
    self.content = content
    self.label = label()
  }

  /// A button that shows and hides the views below it.
  public var body: some View {
    let shown = isExpanded ?? $ownIsExpanded
    Button {
      shown.wrappedValue.toggle()
    } label: {
      HStack {
        Text(shown.wrappedValue ? "▾" : "▸")
        label
      }
    }
    if shown.wrappedValue { content().padding(.leading, 2) }
  }
}

extension DisclosureGroup where Label == Text {
  /// - Parameters:
  ///   - title: what is always shown.
  ///   - isExpanded: whether the views are shown; nil leaves it to the person.
  ///   - content: the views.
  public init(_ title: String, isExpanded: Binding<Bool>? = nil, @ViewBuilder content: @escaping () -> Content) {
    self.init(isExpanded: isExpanded, content: content) { Text(title) }
  }
}

/// What is shown where there is nothing to be shown.
public struct ContentUnavailableView: View {
  private let title: String
  private let description: String?

  /// - Parameters:
  ///   - title: what isn't there.
  ///   - systemImage: a symbol that a terminal doesn't have.
  ///   - description: why, and what to do.
  public init(_ title: String, systemImage: String = "", description: Text? = nil) {
    self.title = title
    self.description = description?.string
  }

  /// The title, and the description below it.
  public var body: some View {
    VStack {
      Text(title).bold()
      if let description { Text(description).foregroundStyle(.secondary) }
    }
    .frame(maxWidth: .infinity, maxHeight: .infinity)
  }
}

/// Views that depend on the room that there is.
public struct GeometryReader<Content: View>: View, PrimitiveView {
  private let content: (GeometryProxy) -> Content

  /// - Parameter content: the views for a room.
  public init(@ViewBuilder content: @escaping (GeometryProxy) -> Content) { self.content = content }

  func elements(in context: Context) -> [Element] {
    let memory = context.node.own { GeometryMemory() }
    let content = context.evaluateOne(content(GeometryProxy(size: memory.size)), .body)
    return [GeometryElement(content, memory, context.graph)]
  }
}

/// The room that there is.
public struct GeometryProxy: Hashable, Sendable {
  /// In columns and lines.
  public let size: GeometrySize

  init(size: CellSize) { self.size = GeometrySize(width: size.width, height: size.height) }
}

/// A size in columns and lines.
public struct GeometrySize: Hashable, Sendable {
  /// In columns.
  public let width: Int
  /// In lines.
  public let height: Int
}

@MainActor
private final class GeometryMemory {
  var size = CellSize.zero
}

@MainActor
private final class GeometryElement: WrappedElement {
  private let memory: GeometryMemory
  private unowned let graph: Graph

  init(_ content: Element, _ memory: GeometryMemory, _ graph: Graph) {
    self.memory = memory
    self.graph = graph
    super.init(content)
  }

  override func expands(_: Axis) -> Bool { true }

  override func measure(_ proposal: Proposal) -> CellSize {
    CellSize(width: proposal.width ?? memory.size.width, height: proposal.height ?? memory.size.height)
  }

  override func place(in rect: CellRect, on canvas: Canvas) {
    if memory.size != rect.size {
      // Evaluated once more before anything is drawn.
      memory.size = rect.size
      graph.setNeedsDisplay()
    }
    canvas.clipped(to: rect) {
      content.place(in: CellRect(origin: rect.origin, size: content.size(Proposal(rect.size))), on: canvas)
    }
  }
}
