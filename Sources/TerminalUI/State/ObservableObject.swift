import Locking

/// A class whose changes evaluate the views that hold it, through `@StateObject`, `@ObservedObject` or
/// `@EnvironmentObject`.
///
/// Its `@Published` properties tell of their changes by themselves; for anything else call `objectWillChange.send()`.
public protocol ObservableObject: AnyObject {
  /// What tells of changes.
  var objectWillChange: ObservableObjectPublisher { get }
}

extension ObservableObject {
  /// The object's own publisher.
  public var objectWillChange: ObservableObjectPublisher { ObservableObjectPublisher(object: ObjectIdentifier(self)) }
}

/// Tells the views that hold an object of its changes.
public struct ObservableObjectPublisher: Sendable {
  let object: ObjectIdentifier

  /// Evaluates the views that hold the object, soon. May be called from any thread.
  public func send() { Subscriptions.shared.send(object) }
}

/// Which graphs hold which objects.
///
/// One table for the process, since an object has no storage that an extension could use, and since the number of
/// objects that views hold is small. A graph enters itself when a node takes an object and leaves when the node goes,
/// so that an entry never outlives its object: the node holds it.
final class Subscriptions: Sendable {
  static let shared = Subscriptions()

  private struct Subscription {
    var invalidation: Invalidation
    var count: Int
  }

  private let table = Locked([ObjectIdentifier: [ObjectIdentifier: Subscription]]())

  func add(_ object: ObjectIdentifier, _ invalidation: Invalidation) {
    table.withLock {
      $0[object, default: [:]][
        ObjectIdentifier(invalidation), default: Subscription(invalidation: invalidation, count: 0)
      ]
      .count += 1
    }
  }

  func remove(_ object: ObjectIdentifier, _ invalidation: Invalidation) {
    table.withLock { table in
      guard var subscription = table[object]?[ObjectIdentifier(invalidation)] else { return }
      subscription.count -= 1
      table[object]?[ObjectIdentifier(invalidation)] = subscription.count > 0 ? subscription : nil
      if table[object]?.isEmpty == true { table[object] = nil }
    }
  }

  func send(_ object: ObjectIdentifier) {
    let subscribed = table.withLock { $0[object].map { $0.values.map(\.invalidation) } ?? [] }
    for invalidation in subscribed { invalidation.set() }
  }
}

/// An object that a node holds, subscribed for as long as the node does.
final class ObjectSubscription {
  let object: AnyObject
  private let invalidation: Invalidation

  init(_ object: AnyObject, _ invalidation: Invalidation) {
    self.object = object
    self.invalidation = invalidation
    Subscriptions.shared.add(ObjectIdentifier(object), invalidation)
  }

  deinit { Subscriptions.shared.remove(ObjectIdentifier(object), invalidation) }
}

/// A property of an ``ObservableObject`` whose changes evaluate the views that hold the object.
@propertyWrapper
public struct Published<Value> {
  private var value: Value

  /// The value that it begins with.
  public init(wrappedValue: Value) { value = wrappedValue }

  /// The value that it begins with.
  public init(initialValue: Value) { value = initialValue }

  @available(*, unavailable, message: "@Published is for properties of classes")
  public var wrappedValue: Value {
    get { fatalError("@Published is for properties of classes") }
    set { fatalError("@Published is for properties of classes") }
  }

  /// The value, by way of the object that it belongs to.
  public static subscript<Object: ObservableObject>(
    _enclosingInstance object: Object, wrapped _: ReferenceWritableKeyPath<Object, Value>,
    storage storage: ReferenceWritableKeyPath<Object, Published<Value>>
  ) -> Value {
    get { object[keyPath: storage].value }
    set {
      object.objectWillChange.send()
      object[keyPath: storage].value = newValue
    }
  }
}
