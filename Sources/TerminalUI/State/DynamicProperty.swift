/// A property of a view that brings state from outside the view's value.
///
/// A struct that conforms may be made of other dynamic properties (`@State`, `@StateObject`, `@Environment`): these are
/// connected to the view's node first, then `update()` is called, before each evaluation of the view's body. A package
/// on top of TerminalUI makes wrappers of its own in this way.
public protocol DynamicProperty {
  /// Called on the main actor before each evaluation of the body, when the inner properties have their values.
  @MainActor mutating func update()
}

extension DynamicProperty {
  @MainActor public mutating func update() {}
}

/// A property that keeps something in the node of the view that it stands in.
protocol ConnectableProperty: DynamicProperty {
  /// - Parameter slot: where the property stands in its view, the same at each evaluation.
  @MainActor mutating func connect(slot: Int, in context: Context)
}
