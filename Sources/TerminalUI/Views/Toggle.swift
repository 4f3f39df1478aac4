/// Something that is on or off.
public struct Toggle<Label: View>: View {
  private let isOn: Binding<Bool>
  private let label: Label

  /// - Parameters:
  ///   - isOn: whether it is on.
  ///   - label: what stands after its box.
  public init(isOn: Binding<Bool>, @ViewBuilder label: () -> Label) {
    self.isOn = isOn
    self.label = label()
  }
}

extension Toggle where Label == Text {
  /// - Parameters:
  ///   - title: what stands after its box.
  ///   - isOn: whether it is on.
  public init(_ title: String, isOn: Binding<Bool>) { self.init(isOn: isOn) { Text(title) } }
}

extension Toggle: PrimitiveView {
  func elements(in context: Context) -> [Element] {
    let mark = context.evaluate(Text(isOn.wrappedValue ? "[x]" : "[ ]"), .index(0))
    let labels = context.evaluate(label, .index(1))
    let element = StackElement(.horizontal, mark + labels, spacing: 1) { _, _ in 0 }
    let isOn = isOn
    return [ControlElement(element, decoration: .plain, action: { isOn.wrappedValue.toggle() }, in: context)]
  }
}

/// A number, or another value, that goes up and down.
public struct Stepper<Label: View>: View {
  private let label: Label
  private let increment: (() -> Void)?
  private let decrement: (() -> Void)?

  /// - Parameters:
  ///   - label: what stands before its buttons.
  ///   - onIncrement: what `+` does; nil disables it.
  ///   - onDecrement: what `-` does; nil disables it.
  public init(
    @ViewBuilder label: () -> Label, onIncrement: (() -> Void)?, onDecrement: (() -> Void)?
  ) {
    self.label = label()
    increment = onIncrement
    decrement = onDecrement
  }

  /// The label and two buttons. One that can do no more keeps the focus, so that Enter, pressed once too often, doesn't
  /// press the other one.
  public var body: some View {
    HStack {
      label
      Button("-") { decrement?() }.foregroundStyle(decrement == nil ? Color.secondary : .primary)
      Button("+") { increment?() }.foregroundStyle(increment == nil ? Color.secondary : .primary)
    }
  }
}

extension Stepper where Label == Text {
  /// - Parameters:
  ///   - title: what stands before its buttons.
  ///   - value: the number.
  ///   - bounds: the least and the most.
  ///   - step: how far it goes at once.
  public init<Value: Strideable>(
    _ title: String, value: Binding<Value>, in bounds: ClosedRange<Value>, step: Value.Stride = 1
  ) {
    let (up, down) = (value.wrappedValue.advanced(by: step), value.wrappedValue.advanced(by: -step))
    self.init(
      label: { Text(title) }, onIncrement: up <= bounds.upperBound ? { value.wrappedValue = up } : nil,
      onDecrement: down >= bounds.lowerBound ? { value.wrappedValue = down } : nil)
  }

  /// - Parameters:
  ///   - title: what stands before its buttons.
  ///   - value: the number.
  ///   - step: how far it goes at once.
  public init<Value: Strideable>(_ title: String, value: Binding<Value>, step: Value.Stride = 1) {
    self.init(
      label: { Text(title) }, onIncrement: { value.wrappedValue = value.wrappedValue.advanced(by: step) },
      onDecrement: { value.wrappedValue = value.wrappedValue.advanced(by: -step) })
  }
}

/// One value of several.
///
/// On a terminal it shows the value that is chosen; pressing it goes to the next one.
public struct Picker<Label: View, Value: Hashable, Content: View>: View {
  private let label: Label
  private let selection: Binding<Value>
  private let content: Content

  /// - Parameters:
  ///   - selection: the tag, or the identity in a `ForEach`, of the view that is chosen.
  ///   - content: the views to choose from.
  ///   - label: what stands before them.
  public init(selection: Binding<Value>, @ViewBuilder content: () -> Content, @ViewBuilder label: () -> Label) {
    self.selection = selection
    self.content = content()
    self.label = label()
  }
}

extension Picker where Label == Text {
  /// - Parameters:
  ///   - title: what stands before the views.
  ///   - selection: the tag, or the identity in a `ForEach`, of the view that is chosen.
  ///   - content: the views to choose from.
  public init(_ title: String, selection: Binding<Value>, @ViewBuilder content: () -> Content) {
    self.init(selection: selection, content: content) { Text(title) }
  }
}

extension Picker: PrimitiveView {
  func elements(in context: Context) -> [Element] {
    let labels = context.evaluate(label, .index(0))
    // The choices are evaluated as the rows of a list are, which gives their values.
    let rows = context.evaluate(content, .index(1)) { environment in
      environment.defersRows = true
      environment.isInRow = true
    }
    var values: [AnyHashable] = []
    var chosen: Element?
    for case let part as RowsElement in rows {
      for index in 0..<part.count {
        let row = part.row(index)
        let value = row.tag ?? part.id(index)
        values.append(value)
        if value == AnyHashable(selection.wrappedValue) { chosen = row.element }
      }
    }
    let (selection, all) = (selection, values)
    func choose(_ step: Int) {
      let place = all.firstIndex(of: AnyHashable(selection.wrappedValue))
      let next = place.map { ($0 + step + all.count) % all.count } ?? 0
      if next < all.count, let value = all[next].base as? Value { selection.wrappedValue = value }
    }
    let marks = (context.evaluate(Text("◂"), .index(2)), context.evaluate(Text("▸"), .index(3)))
    let element = StackElement(
      .horizontal, labels + marks.0 + [chosen ?? Element()] + marks.1, spacing: 1, offset: { _, _ in 0 })
    let control = ControlElement(
      element, decoration: .plain, action: values.isEmpty ? nil : { choose(1) }, in: context)
    control.press { press in
      switch press {
      case KeyPress(.left): choose(-1)
      case KeyPress(.right): choose(1)
      default: return false
      }
      return true
    }
    return [control]
  }
}
