/// A two-way connection to a value that somebody else owns.
@propertyWrapper
@dynamicMemberLookup
public struct Binding<Value>: DynamicProperty {
  private let read: () -> Value
  private let write: (Value) -> Void

  /// For a path whose owner knows which entry is which: the entries' identities, in order. See ``EntryID``.
  package var entryIDs: (() -> [EntryID])?

  /// For a path that others change too: how many changes of others there were. A change of theirs doesn't take away the
  /// screen that a person is typing in, one of the program itself does.
  package var othersChanges: (() -> Int)?

  /// - Parameters:
  ///   - get: gives the value; called at each evaluation.
  ///   - set: takes a new value; called on the main actor.
  public init(get: @escaping () -> Value, set: @escaping (Value) -> Void) {
    read = get
    write = set
  }

  /// A binding to what another one is bound to.
  public init(projectedValue: Binding<Value>) { self = projectedValue }

  /// A binding whose value never changes.
  public static func constant(_ value: Value) -> Binding<Value> { Binding(get: { value }, set: { _ in }) }

  /// The value.
  public var wrappedValue: Value {
    get { read() }
    nonmutating set { write(newValue) }
  }

  /// The binding itself.
  public var projectedValue: Binding<Value> { self }

  /// A binding to a part of the value.
  public subscript<Part>(dynamicMember keyPath: WritableKeyPath<Value, Part>) -> Binding<Part> {
    Binding<Part>(
      get: { read()[keyPath: keyPath] },
      set: { part in
        var whole = read()
        whole[keyPath: keyPath] = part
        write(whole)
      })
  }

  /// A binding to an optional from one to a value; assigning nil does nothing.
  public init<Wrapped>(_ base: Binding<Wrapped>) where Value == Wrapped? {
    self.init(get: { base.wrappedValue }, set: { if let value = $0 { base.wrappedValue = value } })
  }

  /// A binding to the value of an optional, nil while the optional is.
  public init?(_ base: Binding<Value?>) {
    guard let start = base.wrappedValue else { return nil }
    self.init(get: { base.wrappedValue ?? start }, set: { base.wrappedValue = $0 })
  }
}
