/// Which view has the focus, to be read and set by the program.
@propertyWrapper
public struct FocusState<Value: Hashable>: DynamicProperty {
  private let initial: Value
  private var box: FocusBox<Value>?

  private init(initial: Value) { self.initial = initial }

  /// Whether a view has the focus: for `focused(_:)`.
  public init() where Value == Bool { self.init(initial: false) }

  /// Which of several views has the focus: for `focused(_:equals:)`.
  public init<Field: Hashable>() where Value == Field? { self.init(initial: nil) }

  /// The value; an assignment moves the focus.
  @MainActor public var wrappedValue: Value {
    get { box?.value ?? initial }
    nonmutating set { box?.request(newValue) }
  }

  /// For `focused(_:)`.
  @MainActor public var projectedValue: Binding { Binding(box: box, initial: initial) }

  /// A connection between a view and the state.
  public struct Binding {
    let box: FocusBox<Value>?
    let initial: Value
  }
}

extension FocusState: ConnectableProperty {
  mutating func connect(slot: Int, in context: Context) {
    box = context.node.slot(slot) { FocusBox(initial, context.graph.invalidation) }
  }
}

final class FocusBox<Value: Hashable> {
  private(set) var value: Value
  /// What the program wants and isn't so yet.
  private(set) var wanted: Value?
  private let none: Value
  private let invalidation: Invalidation

  init(_ value: Value, _ invalidation: Invalidation) {
    self.value = value
    none = value
    self.invalidation = invalidation
  }

  func request(_ value: Value) {
    self.value = value
    wanted = value
    invalidation.set()
  }

  func granted() { wanted = nil }

  /// A view got the focus, or lost it.
  func note(_ own: Value, hasFocus: Bool) {
    guard wanted == nil else { return }
    if hasFocus, value != own {
      value = own
      invalidation.set()
    } else if !hasFocus, value == own, own != none {
      value = none
      invalidation.set()
    }
  }
}

extension View {
  /// Connects the view's focus with a state that is true while it has it.
  public func focused(_ condition: FocusState<Bool>.Binding) -> some View {
    FocusModifier(content: self, box: condition.box, value: true)
  }

  /// Connects the view's focus with a state that has a value while it has it.
  public func focused<Value: Hashable>(_ binding: FocusState<Value>.Binding, equals value: Value) -> some View {
    FocusModifier(content: self, box: binding.box, value: value)
  }
}

private struct FocusModifier<Content: View, Value: Hashable>: View, PrimitiveView {
  let content: Content
  let box: FocusBox<Value>?
  let value: Value

  func elements(in context: Context) -> [Element] {
    let before = context.focus.items.count
    let elements = context.evaluate(content, .body)
    let nodes = context.focus.items[before...].map(\.node)
    guard let box, context.isShown else { return elements }
    let (value, graph) = (value, context.graph)
    graph.afterPass { [weak graph] in
      guard let graph else { return }
      if box.wanted == value, let first = nodes.first {
        box.granted()
        graph.setFocus(first)
      } else {
        box.note(value, hasFocus: nodes.contains { $0 === graph.focused })
      }
    }
    return elements
  }
}
