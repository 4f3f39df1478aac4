/// An ``ObservableObject`` that a view owns: made once, when the view appears, and kept as long as its place in the tree.
@propertyWrapper
public struct StateObject<Object: ObservableObject>: DynamicProperty {
  private let make: () -> Object
  private var object: Object?

  /// - Parameter wrappedValue: makes the object; evaluated once.
  public init(wrappedValue: @autoclosure @escaping () -> Object) { make = wrappedValue }

  /// The object.
  @MainActor public var wrappedValue: Object { object ?? make() }

  /// Bindings to the object's properties.
  @MainActor public var projectedValue: ObservedObject<Object>.Wrapper { ObservedObject.Wrapper(object: wrappedValue) }
}

extension StateObject: ConnectableProperty {
  mutating func connect(slot: Int, in context: Context) {
    let held = context.node.slot(slot) { ObjectSubscription(make(), context.graph.invalidation) }
    object = (held.object as! Object)
  }
}

/// An ``ObservableObject`` that somebody else owns.
@propertyWrapper
public struct ObservedObject<Object: ObservableObject>: DynamicProperty {
  /// The object.
  public var wrappedValue: Object

  /// - Parameter wrappedValue: the object to be observed.
  public init(wrappedValue: Object) { self.wrappedValue = wrappedValue }

  /// - Parameter initialValue: the object to be observed.
  public init(initialValue: Object) { wrappedValue = initialValue }

  /// Bindings to the object's properties.
  public var projectedValue: Wrapper { Wrapper(object: wrappedValue) }

  /// Gives a binding for each of the object's properties.
  @dynamicMemberLookup
  public struct Wrapper {
    let object: Object

    /// A binding to a property of the object.
    public subscript<Value>(dynamicMember keyPath: ReferenceWritableKeyPath<Object, Value>) -> Binding<Value> {
      Binding(get: { object[keyPath: keyPath] }, set: { object[keyPath: keyPath] = $0 })
    }
  }
}

extension ObservedObject: ConnectableProperty {
  mutating func connect(slot: Int, in context: Context) { context.node.observe(wrappedValue, slot: slot, in: context) }
}

/// An ``ObservableObject`` that a view above put into the environment with `environmentObject(_:)`.
@propertyWrapper
public struct EnvironmentObject<Object: ObservableObject>: DynamicProperty {
  private var object: Object?

  /// The object is found by its type.
  public init() {}

  /// The object. There must be one.
  @MainActor public var wrappedValue: Object {
    guard let object else {
      preconditionFailure("no \(Object.self) in the environment: add .environmentObject(_:) to a view above")
    }
    return object
  }

  /// Bindings to the object's properties.
  @MainActor public var projectedValue: ObservedObject<Object>.Wrapper { ObservedObject.Wrapper(object: wrappedValue) }
}

extension EnvironmentObject: ConnectableProperty {
  mutating func connect(slot: Int, in context: Context) {
    object = context.environment.objects[ObjectIdentifier(Object.self)] as? Object
    if let object { context.node.observe(object, slot: slot, in: context) }
  }
}

extension Node {
  /// Subscribes to an object for as long as the property holds this one.
  @MainActor fileprivate func observe(_ object: AnyObject, slot: Int, in context: Context) {
    let held = self.slot(slot) { ObjectSubscription(object, context.graph.invalidation) }
    if held.object !== object { slots[slot] = ObjectSubscription(object, context.graph.invalidation) }
  }
}
