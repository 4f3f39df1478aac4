extension View {
  /// The title of the screen. If several views of a screen have one, that of the outermost is shown.
  public func navigationTitle(_ title: String) -> some View {
    ScreenModifier(content: self) { info, _ in if info.title == nil { info.title = title } }
  }

  /// The title of the screen. If several views of a screen have one, that of the outermost is shown.
  public func navigationTitle(_ title: Text) -> some View { navigationTitle(title.string) }

  /// The title of the screen. If several views of a screen have one, that of the outermost is shown.
  @_disfavoredOverload
  public func navigationTitle<Title: StringProtocol>(_ title: Title) -> some View { navigationTitle(String(title)) }

  /// Whether the bar shows the way back. The keys go back all the same.
  public func navigationBarBackButtonHidden(_ hides: Bool = true) -> some View {
    ScreenModifier(content: self) { info, _ in info.hidesBack = hides }
  }

  /// Lets a person search: `/` goes to the field, Esc empties and leaves it.
  ///
  /// - Parameters:
  ///   - text: what is searched for.
  ///   - prompt: what is shown while nothing is.
  public func searchable(text: Binding<String>, prompt: String = "Search") -> some View {
    SearchModifier(content: self, text: text, prompt: prompt)
  }
}

/// A view that says something about its screen.
private struct ScreenModifier<Content: View>: View, RowStructure {
  let content: Content
  let change: (ScreenInfo, Context) -> Void

  func elements(in context: Context) -> [Element] {
    if let info = context.environment.screenInfo { change(info, context) }
    return context.evaluate(content, .body)
  }
}

private struct SearchModifier<Content: View>: View, PrimitiveView {
  let content: Content
  let text: Binding<String>
  let prompt: String

  func elements(in context: Context) -> [Element] {
    let field = context.evaluate(SearchField(text: text, prompt: prompt), .index(0)) { environment in
      environment.defersRows = false
    }
    let search = StackElement(.horizontal, field, spacing: 0) { _, _ in 0 }
    let content = context.evaluate(content, .index(1))
    if let info = context.environment.screenInfo, info.search == nil {
      info.search = search
      return content
    }
    return [StackElement(.vertical, [search] + content, spacing: 0)]
  }
}

private struct SearchField: View, PrimitiveView {
  let text: Binding<String>
  let prompt: String

  func elements(in context: Context) -> [Element] {
    let before = context.focus.items.count
    let elements = context.evaluate(TextField(prompt, text: text), .body)
    for item in context.focus.items[before...] {
      item.isReserved = true
      item.leave = { text.wrappedValue = "" }
      context.focus.searchField = item.node
    }
    return context.evaluate(Text("/"), .index(0)) + elements
  }
}
