public import Observation

/// Gives bindings to the properties of an `@Observable` object.
@propertyWrapper
@dynamicMemberLookup
public struct Bindable<Object: AnyObject & Observable> {
  /// The object.
  public var wrappedValue: Object

  /// - Parameter wrappedValue: the object whose properties are to be bound.
  public init(wrappedValue: Object) { self.wrappedValue = wrappedValue }

  /// - Parameter object: the object whose properties are to be bound.
  public init(_ object: Object) { wrappedValue = object }

  /// This, to reach the bindings by `$object.property`.
  public var projectedValue: Bindable<Object> { self }

  /// A binding to a property of the object.
  public subscript<Value>(dynamicMember keyPath: ReferenceWritableKeyPath<Object, Value>) -> Binding<Value> {
    let object = wrappedValue
    return Binding(get: { object[keyPath: keyPath] }, set: { object[keyPath: keyPath] = $0 })
  }
}
