/// Pushes a value, or a view, when it is used.
public struct NavigationLink<Label: View, Destination: View>: View {
  private enum Target {
    case value((any Hashable)?)
    case view(Destination)
  }

  private let target: Target
  private let label: Label
  private let place: SourcePlace
}

extension NavigationLink where Destination == Never {
  /// A link that pushes a value.
  ///
  /// - Parameters:
  ///   - value: what is pushed; nil disables the link.
  ///   - label: what is written on it.
  ///   - file: where it is written, for diagnostics.
  ///   - line: where it is written, for diagnostics.
  ///   - column: where it is written, for diagnostics.
  public init<Value: Hashable>(
    value: Value?, file: String = #fileID, line: UInt = #line, column: UInt = #column,
    @ViewBuilder label: () -> Label
  ) {
    target = .value(value)
    self.label = label()
    place = SourcePlace(file: file, line: line, column: column)
  }
}

extension NavigationLink where Label == Text, Destination == Never {
  /// A link that pushes a value.
  ///
  /// - Parameters:
  ///   - title: what is written on it.
  ///   - value: what is pushed; nil disables the link.
  ///   - file: where it is written, for diagnostics.
  ///   - line: where it is written, for diagnostics.
  ///   - column: where it is written, for diagnostics.
  public init<Value: Hashable>(
    _ title: String, value: Value?, file: String = #fileID, line: UInt = #line, column: UInt = #column
  ) {
    self.init(value: value, file: file, line: line, column: column) { Text(title) }
  }

  /// A link that pushes a value.
  ///
  /// - Parameters:
  ///   - title: what is written on it.
  ///   - value: what is pushed; nil disables the link.
  ///   - file: where it is written, for diagnostics.
  ///   - line: where it is written, for diagnostics.
  ///   - column: where it is written, for diagnostics.
  @_disfavoredOverload
  public init<Title: StringProtocol, Value: Hashable>(
    _ title: Title, value: Value?, file: String = #fileID, line: UInt = #line, column: UInt = #column
  ) {
    self.init(value: value, file: file, line: line, column: column) { Text(String(title)) }
  }
}

extension NavigationLink {
  /// A link that pushes a view. The view is invisible in the path.
  ///
  /// - Parameters:
  ///   - destination: what is pushed.
  ///   - label: what is written on it.
  ///   - file: where it is written, for diagnostics.
  ///   - line: where it is written, for diagnostics.
  ///   - column: where it is written, for diagnostics.
  public init(
    file: String = #fileID, line: UInt = #line, column: UInt = #column, @ViewBuilder destination: () -> Destination,
    @ViewBuilder label: () -> Label
  ) {
    self.init(destination: destination(), file: file, line: line, column: column, label: label)
  }

  /// A link that pushes a view. The view is invisible in the path.
  ///
  /// - Parameters:
  ///   - destination: what is pushed.
  ///   - label: what is written on it.
  ///   - file: where it is written, for diagnostics.
  ///   - line: where it is written, for diagnostics.
  ///   - column: where it is written, for diagnostics.
  public init(
    destination: Destination, file: String = #fileID, line: UInt = #line, column: UInt = #column,
    @ViewBuilder label: () -> Label
  ) {
    target = .view(destination)
    self.label = label()
    place = SourcePlace(file: file, line: line, column: column)
  }
}

extension NavigationLink where Label == Text {
  /// A link that pushes a view. The view is invisible in the path.
  ///
  /// - Parameters:
  ///   - title: what is written on it.
  ///   - destination: what is pushed.
  ///   - file: where it is written, for diagnostics.
  ///   - line: where it is written, for diagnostics.
  ///   - column: where it is written, for diagnostics.
  public init(
    _ title: String, destination: Destination, file: String = #fileID, line: UInt = #line, column: UInt = #column
  ) {
    self.init(destination: destination, file: file, line: line, column: column) { Text(title) }
  }

  /// A link that pushes a view. The view is invisible in the path.
  ///
  /// - Parameters:
  ///   - title: what is written on it.
  ///   - destination: what is pushed.
  ///   - file: where it is written, for diagnostics.
  ///   - line: where it is written, for diagnostics.
  ///   - column: where it is written, for diagnostics.
  public init(
    _ title: String, file: String = #fileID, line: UInt = #line, column: UInt = #column,
    @ViewBuilder destination: () -> Destination
  ) {
    self.init(destination: destination(), file: file, line: line, column: column) { Text(title) }
  }
}

extension NavigationLink: PrimitiveView {
  func elements(in context: Context) -> [Element] {
    let action = action(in: context)
    let label = context.evaluateOne(label, .body) { environment in
      if action == nil { environment.isEnabled = false }
    }
    return [ControlElement(label, decoration: .link, action: action, in: context)]
  }

  /// What the link does; nil if it can't be used.
  private func action(in context: Context) -> (() -> Void)? {
    guard let stack = context.environment.navigation, let screen = context.environment.screen else {
      context.graph.report(.outsideStack("the NavigationLink", place), once: place)
      return nil
    }
    switch target {
    case .value(nil): return nil
    case .value(let value?):
      guard stack.access.accepts(type(of: value)) else {
        let element = stack.access.elementType.map { "\($0)" } ?? ""
        context.graph.report(.wrongType("\(type(of: value))", element, place), once: place)
        return nil
      }
      return { [weak stack, place] in stack?.push(value, by: place) }
    case .view(let view):
      let source = context.node.serial
      let content: (Context, Node.Key) -> Element = { $0.evaluateOne(view, $1) }
      stack.refresh(source, content)
      return { [weak stack] in
        stack?.push(
          StackModel.PushedView(id: .view(EntryID()), source: source, owner: screen, content: content, reset: {}))
      }
    }
  }
}
