/// Values of any types, one for each screen above the root.
public struct NavigationPath {
  /// A value and its identity.
  package struct Element {
    package let id: EntryID
    package let value: PathValue

    package init(id: EntryID = EntryID(), value: PathValue) {
      self.id = id
      self.value = value
    }
  }

  /// From the root up.
  package var elements: [Element]

  /// The name of the shared stack that this is the path of. A remote action may have come between two of ours, so that
  /// removing too many isn't a mistake then.
  package var sharedName: String?

  /// The root.
  public init() { elements = [] }

  /// - Parameters:
  ///   - elements: the values from the root up.
  ///   - file: where it is written, for diagnostics.
  ///   - line: where it is written, for diagnostics.
  ///   - column: where it is written, for diagnostics.
  public init<S: Sequence>(
    _ elements: S, file: String = #fileID, line: UInt = #line, column: UInt = #column
  ) where S.Element: Hashable {
    let place = SourcePlace(file: file, line: line, column: column)
    self.elements = elements.map { Element(value: PathValue($0, at: place)) }
  }

  /// A path of entries whose identities are known.
  package init(elements: [Element], sharedName: String? = nil) {
    self.elements = elements
    self.sharedName = sharedName
  }

  /// How many screens there are above the root.
  public var count: Int { elements.count }

  /// Whether the root is shown.
  public var isEmpty: Bool { elements.isEmpty }

  /// Shows a value on top. It is coded at once, if it can be.
  ///
  /// - Parameters:
  ///   - value: what is shown.
  ///   - file: where it is written, for diagnostics.
  ///   - line: where it is written, for diagnostics.
  ///   - column: where it is written, for diagnostics.
  public mutating func append<Value: Hashable>(
    _ value: Value, file: String = #fileID, line: UInt = #line, column: UInt = #column
  ) {
    append(value, at: SourcePlace(file: file, line: line, column: column))
  }

  mutating func append(_ value: any Hashable, at place: SourcePlace) {
    elements.append(Element(value: PathValue(value, at: place)))
  }

  /// Removes screens from the top.
  ///
  /// - Parameters:
  ///   - k: how many. On a shared path at most as many as there are, which a diagnostic tells; otherwise there must be
  ///     that many.
  ///   - file: where it is written, for diagnostics.
  ///   - line: where it is written, for diagnostics.
  ///   - column: where it is written, for diagnostics.
  public mutating func removeLast(
    _ k: Int = 1, file: String = #fileID, line: UInt = #line, column: UInt = #column
  ) {
    precondition(k >= 0, "NavigationPath.removeLast(\(k)): a number of entries can't be negative")
    if k > elements.count, let sharedName {
      let place = SourcePlace(file: file, line: line, column: column)
      DiagnosticSink.current.tell(.removedTooMany(k, of: elements.count, sharedName, place))
      return elements.removeAll()
    }
    precondition(
      k <= elements.count,
      "NavigationPath.removeLast(\(k)): the path has \(elements.count) entries; check isEmpty or count before")
    elements.removeLast(k)
  }
}

extension NavigationPath: Equatable {
  /// Whether the values are the same, of the same types, in the same order.
  public static func == (one: NavigationPath, other: NavigationPath) -> Bool {
    one.elements.count == other.elements.count
      && zip(one.elements, other.elements).allSatisfy { $0.value == $1.value }
  }
}
