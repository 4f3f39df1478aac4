/// A value that a view owns: it lives as long as the view's place in the tree, not as the view's value.
@propertyWrapper
public struct State<Value>: DynamicProperty {
  private let initial: () -> Value
  private var box: StateBox<Value>?

  /// The value that the state has until the first assignment. Evaluated once, when the view appears.
  public init(wrappedValue: @autoclosure @escaping () -> Value) { initial = wrappedValue }

  /// The value that the state has until the first assignment.
  public init(initialValue: Value) { initial = { initialValue } }

  /// The value; an assignment evaluates the views again. An assignment to a view that isn't shown is lost.
  @MainActor public var wrappedValue: Value {
    get { box?.value ?? initial() }
    nonmutating set { box?.value = newValue }
  }

  /// A two-way connection to the value.
  @MainActor public var projectedValue: Binding<Value> {
    guard let box else { return .constant(initial()) }
    return Binding(get: { box.value }, set: { box.value = $0 })
  }
}

extension State where Value: ExpressibleByNilLiteral {
  /// State that begins as nil.
  public init() { self.init(initialValue: nil) }
}

extension State: ConnectableProperty {
  mutating func connect(slot: Int, in context: Context) {
    box = context.node.slot(slot) { StateBox(initial(), invalidation: context.graph.invalidation) }
  }
}

/// Where a state's value lives: in the node.
final class StateBox<Value> {
  private let invalidation: Invalidation
  var value: Value { didSet { invalidation.set() } }

  init(_ value: Value, invalidation: Invalidation) {
    self.value = value
    self.invalidation = invalidation
  }
}
