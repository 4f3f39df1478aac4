/// Where an item of a toolbar stands.
public struct ToolbarItemPlacement: Hashable, Sendable {
  let isBottom: Bool

  /// In the bar.
  public static let automatic = ToolbarItemPlacement(isBottom: false)
  /// In the bar, as what is done most.
  public static let primaryAction = ToolbarItemPlacement(isBottom: false)
  /// In the bar, to agree.
  public static let confirmationAction = ToolbarItemPlacement(isBottom: false)
  /// In the bar, to leave.
  public static let cancellationAction = ToolbarItemPlacement(isBottom: false)
  /// In the bar.
  public static let topBarLeading = ToolbarItemPlacement(isBottom: false)
  /// In the bar.
  public static let topBarTrailing = ToolbarItemPlacement(isBottom: false)
  /// Below the screen's content.
  public static let bottomBar = ToolbarItemPlacement(isBottom: true)
}

/// Something in a toolbar.
public struct ToolbarItem<Content: View>: View, PrimitiveView {
  private let placement: ToolbarItemPlacement
  private let content: Content

  /// - Parameters:
  ///   - placement: where it stands.
  ///   - content: the view.
  public init(placement: ToolbarItemPlacement = .automatic, @ViewBuilder content: () -> Content) {
    self.placement = placement
    self.content = content()
  }

  func elements(in context: Context) -> [Element] {
    let elements = context.evaluate(content, .body)
    guard placement.isBottom, let info = context.environment.screenInfo else { return elements }
    info.bottom += elements
    return []
  }
}

/// Several things in a toolbar.
public struct ToolbarItemGroup<Content: View>: View {
  private let placement: ToolbarItemPlacement
  private let content: Content

  /// - Parameters:
  ///   - placement: where they stand.
  ///   - content: the views.
  public init(placement: ToolbarItemPlacement = .automatic, @ViewBuilder content: () -> Content) {
    self.placement = placement
    self.content = content()
  }

  /// One item with all of the views.
  public var body: some View { ToolbarItem(placement: placement) { content } }
}

extension View {
  /// Puts views into the bar of the screen, or below its content.
  ///
  /// - Parameter content: `ToolbarItem`s, or views for the bar.
  public func toolbar<Content: View>(@ViewBuilder content: () -> Content) -> some View {
    ToolbarModifier(content: self, items: content())
  }
}

private struct ToolbarModifier<Content: View, Items: View>: View, PrimitiveView {
  let content: Content
  let items: Items

  func elements(in context: Context) -> [Element] {
    let elements = context.evaluate(content, .index(0))
    guard let info = context.environment.screenInfo else { return elements }
    // After the content, so that this has the focus first.
    let items = context.evaluate(items, .index(1)) { environment in
      environment.defersRows = false
      environment.isInRow = false
    }
    info.bar += items
    return elements
  }
}
