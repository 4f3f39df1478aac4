public import Observation

/// A value that the views above hand down.
@propertyWrapper
public struct Environment<Value>: DynamicProperty {
  private let read: (EnvironmentValues) -> Value
  private var environment: EnvironmentValues?

  /// - Parameter keyPath: which value, such as `\.dismiss`.
  public init(_ keyPath: KeyPath<EnvironmentValues, Value>) {
    read = { $0[keyPath: keyPath] }
  }

  /// The value.
  @MainActor public var wrappedValue: Value { read(environment ?? EnvironmentValues()) }
}

extension Environment where Value: AnyObject & Observable {
  /// - Parameter type: the type of an object that a view above put into the environment with `environment(_:)`.
  public init(_ type: Value.Type) {
    read = { environment in
      guard let object = environment.objects[ObjectIdentifier(type)] as? Value else {
        preconditionFailure("no \(type) in the environment: add .environment(_:) to a view above")
      }
      return object
    }
  }
}

extension Environment: ConnectableProperty {
  mutating func connect(slot _: Int, in context: Context) { environment = context.environment }
}
