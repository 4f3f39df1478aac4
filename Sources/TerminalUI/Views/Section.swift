/// Views of a list that belong together, with a header and a footer.
public struct Section<Parent: View, Content: View, Footer: View>: View {
  private let header: Parent
  private let content: Content
  private let footer: Footer

  /// - Parameters:
  ///   - content: the rows.
  ///   - header: what stands above them.
  ///   - footer: what stands below them.
  public init(
    @ViewBuilder content: () -> Content, @ViewBuilder header: () -> Parent, @ViewBuilder footer: () -> Footer
  ) {
    self.header = header()
    self.content = content()
    self.footer = footer()
  }
}

extension Section where Footer == EmptyView {
  /// - Parameters:
  ///   - content: the rows.
  ///   - header: what stands above them.
  public init(@ViewBuilder content: () -> Content, @ViewBuilder header: () -> Parent) {
    self.init(content: content, header: header, footer: { EmptyView() })
  }

  /// - Parameters:
  ///   - header: what stands above the rows.
  ///   - content: the rows.
  public init(header: Parent, @ViewBuilder content: () -> Content) {
    self.init(content: content, header: { header }, footer: { EmptyView() })
  }
}

extension Section where Parent == Text, Footer == EmptyView {
  /// - Parameters:
  ///   - title: what stands above the rows.
  ///   - content: the rows.
  @_disfavoredOverload
  public init<Title: StringProtocol>(_ title: Title, @ViewBuilder content: () -> Content) {
    self.init(content: content, header: { Text(String(title)) }, footer: { EmptyView() })
  }

  /// - Parameters:
  ///   - title: what stands above the rows.
  ///   - content: the rows.
  public init(_ title: String, @ViewBuilder content: () -> Content) {
    self.init(content: content, header: { Text(title) }, footer: { EmptyView() })
  }
}

extension Section where Parent == EmptyView {
  /// - Parameters:
  ///   - content: the rows.
  ///   - footer: what stands below them.
  public init(@ViewBuilder content: () -> Content, @ViewBuilder footer: () -> Footer) {
    self.init(content: content, header: { EmptyView() }, footer: footer)
  }
}

extension Section where Parent == EmptyView, Footer == EmptyView {
  /// - Parameter content: the rows.
  public init(@ViewBuilder content: () -> Content) {
    self.init(content: content, header: { EmptyView() }, footer: { EmptyView() })
  }
}

extension Section: RowStructure {
  func elements(in context: Context) -> [Element] {
    let isList = context.environment.defersRows
    var outside = context
    outside.environment.defersRows = false
    let headers = outside.evaluate(header, .index(0)) { environment in
      environment.textStyle = TextStyle(bold: true).over(environment.textStyle)
    }
    let footers = outside.evaluate(footer, .index(2)) { environment in
      environment.textStyle = TextStyle(color: .secondary).over(environment.textStyle)
    }
    let rows = context.evaluate(content, .index(1))
    guard isList else { return headers + rows + footers }
    return caption(headers, .header, in: context) + rows + caption(footers, .footer, in: context)
  }

  private func caption(_ elements: [Element], _ kind: RowsElement.Kind, in context: Context) -> [Element] {
    guard !elements.isEmpty else { return [] }
    let element = StackElement(.vertical, elements, spacing: 0)
    return [
      RowsElement(
        node: context.node, kind: kind, count: 1, id: { _ in AnyHashable(kind) }, make: { _, _ in element })
    ]
  }
}
