extension View {
  /// Says what shows the values of a type on the path.
  ///
  /// It stands once for each type in a stack, outside of lists. If it stands twice, the one nearest the root is used.
  ///
  /// - Parameters:
  ///   - data: the type.
  ///   - name: the name that values are stored under, and sent to other devices. Without one it is the type's qualified
  ///     name in the source, which changes when the type moves.
  ///   - aliases: names that the type had before: what was stored under them is still read.
  ///   - destination: the screen of a value.
  ///   - file: where it is written, for diagnostics.
  ///   - line: where it is written, for diagnostics.
  ///   - column: where it is written, for diagnostics.
  public func navigationDestination<Value: Hashable, Destination: View>(
    for data: Value.Type, name: String? = nil, aliases: [String] = [], file: String = #fileID, line: UInt = #line,
    column: UInt = #column, @ViewBuilder destination: @escaping (Value) -> Destination
  ) -> some View {
    ValueDestination(
      content: self, name: name, aliases: aliases, place: SourcePlace(file: file, line: line, column: column),
      destination: destination)
  }

  /// Shows a screen while something is true. Going back makes it false.
  ///
  /// - Parameters:
  ///   - isPresented: whether the screen is there.
  ///   - destination: the screen.
  ///   - file: where it is written, for diagnostics.
  ///   - line: where it is written, for diagnostics.
  ///   - column: where it is written, for diagnostics.
  public func navigationDestination<Destination: View>(
    isPresented: Binding<Bool>, file: String = #fileID, line: UInt = #line, column: UInt = #column,
    @ViewBuilder destination: () -> Destination
  ) -> some View {
    let view = destination()
    return PresentedDestination(
      content: self, key: isPresented.wrappedValue ? true : nil,
      place: SourcePlace(file: file, line: line, column: column), destination: { view },
      reset: { if isPresented.wrappedValue { isPresented.wrappedValue = false } })
  }

  /// Shows a screen while there is an item. Going back makes it nil.
  ///
  /// - Parameters:
  ///   - item: what the screen is about.
  ///   - destination: the screen of an item.
  ///   - file: where it is written, for diagnostics.
  ///   - line: where it is written, for diagnostics.
  ///   - column: where it is written, for diagnostics.
  public func navigationDestination<Item: Hashable, Destination: View>(
    item: Binding<Item?>, file: String = #fileID, line: UInt = #line, column: UInt = #column,
    @ViewBuilder destination: @escaping (Item) -> Destination
  ) -> some View {
    let value = item.wrappedValue
    return PresentedDestination(
      content: self, key: erased(value), place: SourcePlace(file: file, line: line, column: column),
      destination: { value.map(destination) },
      reset: { if item.wrappedValue == value { item.wrappedValue = nil } })
  }
}

private struct ValueDestination<Content: View, Value: Hashable, Destination: View>: View, RowStructure {
  let content: Content
  let name: String?
  let aliases: [String]
  let place: SourcePlace
  let destination: (Value) -> Destination

  func elements(in context: Context) -> [Element] {
    register(in: context)
    return context.evaluate(content, .body)
  }

  private func register(in context: Context) {
    let (graph, environment) = (context.graph, context.environment)
    guard let stack = environment.navigation else {
      return graph.report(.outsideStack("navigationDestination(for: \(Value.self).self)", place), once: place)
    }
    if let container = environment.lazyContainer {
      let what = "for: \(Value.self).self"
      return graph.report(.destinationInLazyContainer(what, place, container), once: place)
    }
    TypeNames.shared.register(Value.self, name: name, aliases: aliases)
    let destination = destination
    stack.register(
      Value.self,
      StackModel.Destination(place: place) { context, key, value in
        context.evaluateOne(destination(value as! Value), key)
      })
  }
}

private struct PresentedDestination<Content: View, Destination: View>: View, RowStructure {
  let content: Content
  /// What the screen is about; nil if it isn't to be there.
  let key: AnyHashable?
  let place: SourcePlace
  let destination: () -> Destination
  let reset: () -> Void

  func elements(in context: Context) -> [Element] {
    present(in: context)
    return context.evaluate(content, .body)
  }

  private func present(in context: Context) {
    let (graph, environment) = (context.graph, context.environment)
    guard let stack = environment.navigation, let screen = environment.screen else {
      return graph.report(.outsideStack("navigationDestination(isPresented:) or (item:)", place), once: place)
    }
    if let container = environment.lazyContainer {
      return graph.report(.destinationInLazyContainer("isPresented: or item:", place, container), once: place)
    }
    let memory = context.node.own { PresentedKey() }
    // Another item is another screen.
    if key != nil, memory.key != key { memory.id = .view(EntryID()) }
    let isOther = memory.key != nil && key != nil && memory.key != key
    memory.key = key
    let destination = destination
    let view = StackModel.PushedView(
      id: memory.id, source: context.node.serial, owner: screen,
      content: { $0.evaluateOne(destination(), $1) }, reset: reset)
    if isOther { stack.replace(view) } else { stack.present(view, key != nil) }
  }
}

@MainActor
private final class PresentedKey {
  var key: AnyHashable?
  var id = ScreenID.view(EntryID())
}
