@_spi(Reflection) internal import Swift

/// Where the dynamic properties of a struct stand.
///
/// A view's `@State` has no storage of its own: it is connected, before each use of the view's body, to the node that
/// stands for the view. The connecting goes through the fields' offsets, since Swift's `Mirror` gives copies only.
/// `_forEachField` is the standard library's own, under an SPI; `FieldLayout.verified` checks at the first use that it
/// tells the truth about a type made for it.
struct FieldLayout {
  struct Field {
    var offset: Int
    var type: any DynamicProperty.Type
    /// The fields of a property that is made of properties.
    var inner: FieldLayout
  }

  var fields: [Field] = []

  /// The layout of a type; empty if it has no dynamic property. Found once per type.
  @MainActor static func of(_ type: Any.Type) -> FieldLayout {
    if let known = known[ObjectIdentifier(type)] { return known }
    precondition(verified, "this Swift runtime reports fields differently; TerminalUI has to be adapted to it")
    let found = read(type)
    known[ObjectIdentifier(type)] = found
    return found
  }

  @MainActor private static var known: [ObjectIdentifier: FieldLayout] = [:]

  private static func read(_ type: Any.Type) -> FieldLayout {
    var layout = FieldLayout()
    // 2 is `ignoreUnknown`; the named option is a mutable global, which Swift 6 refuses.
    _ = _forEachField(of: type, options: _EachFieldOptions(rawValue: 2)) { _, offset, fieldType, _ in
      if let property = fieldType as? any DynamicProperty.Type {
        layout.fields.append(Field(offset: offset, type: property, inner: read(fieldType)))
      }
      return true
    }
    return layout
  }

  private struct Probe {
    var first: UInt8 = 7
    var second = "second"
    var third: Int?
  }

  private static let verified: Bool = {
    var offsets: [Int] = []
    let complete = _forEachField(of: Probe.self, options: _EachFieldOptions(rawValue: 2)) { _, offset, _, _ in
      offsets.append(offset)
      return true
    }
    return complete
      && offsets == [
        MemoryLayout<Probe>.offset(of: \.first), MemoryLayout<Probe>.offset(of: \.second),
        MemoryLayout<Probe>.offset(of: \.third),
      ]
  }()
}

extension FieldLayout {
  /// Connects every dynamic property of a value to its node, inner ones first, and updates it.
  @MainActor func connect<Owner>(_ owner: inout Owner, in context: Context) {
    guard !fields.isEmpty else { return }
    withUnsafeMutableBytes(of: &owner) { bytes in
      connect(at: bytes.baseAddress!, offset: 0, in: context)
    }
  }

  @MainActor private func connect(at base: UnsafeMutableRawPointer, offset: Int, in context: Context) {
    for field in fields {
      let address = base + field.offset
      let place = offset + field.offset
      field.inner.connect(at: address, offset: place, in: context)
      FieldLayout.update(field.type, at: address, slot: place, in: context)
    }
  }

  @MainActor private static func update<Property: DynamicProperty>(
    _: Property.Type, at address: UnsafeMutableRawPointer, slot: Int, in context: Context
  ) {
    let property = address.assumingMemoryBound(to: Property.self)
    if var connectable = property.pointee as? any ConnectableProperty {
      connectable.connect(slot: slot, in: context)
      property.pointee = connectable as! Property
    }
    property.pointee.update()
  }
}
