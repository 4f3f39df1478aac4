/// How one version vector stands to another. A partial order, so it is not `Comparable`.
public enum CausalOrder: Hashable, Sendable {
  case equal
  /// The left one is contained in the right one.
  case before
  /// The left one contains the right one.
  case after
  case concurrent
}

/// For each device the highest sequence number held: a set of events without holes (Mattern 1989; Almeida et al. 2002).
///
/// Ordered by device, so two equal vectors are the same bytes. Look-up is O(log devices), joining O(devices).
public struct VersionVector: Hashable, Sendable {
  public struct Element: Hashable, Sendable {
    public let device: DeviceID
    /// At least 1: a device of which nothing is held is not in the vector.
    public var sequence: Int

    @inlinable
    public init(device: DeviceID, sequence: Int) {
      self.device = device
      self.sequence = sequence
    }
  }

  /// By ascending device; no zeros.
  public private(set) var elements: [Element]
  /// How many events the vector counts. As contexts of one author only grow, equal totals of two of them mean equal
  /// contexts, and a context with the total of a replica that holds it is that replica's vector.
  public private(set) var total: Int

  public init() {
    elements = []
    total = 0
  }

  /// A vector of elements that are in ascending order of device, each once and at least 1: nil otherwise, and when the
  /// sum leaves what an `Int` holds.
  public init?(ascending elements: [Element]) {
    var sum = 0
    for (place, element) in elements.enumerated() {
      guard element.sequence >= 1, place == 0 || elements[place - 1].device < element.device else { return nil }
      let (next, overflow) = sum.addingReportingOverflow(element.sequence)
      guard !overflow else { return nil }
      sum = next
    }
    self.elements = elements
    total = sum
  }

  @inlinable public var isEmpty: Bool { elements.isEmpty }

  /// The highest sequence of a device, 0 for none. Setting it to 0 takes the device out.
  public subscript(device: DeviceID) -> Int {
    get {
      let place = lowerBound(of: device)
      return place < elements.count && elements[place].device == device ? elements[place].sequence : 0
    }
    set {
      let place = lowerBound(of: device)
      if place < elements.count, elements[place].device == device {
        total += newValue - elements[place].sequence
        if newValue == 0 { elements.remove(at: place) } else { elements[place].sequence = newValue }
      } else if newValue != 0 {
        total += newValue
        elements.insert(Element(device: device, sequence: newValue), at: place)
      }
    }
  }

  /// Whether the event of that dot is counted.
  public func contains(_ dot: Dot) -> Bool { dot.sequence <= self[dot.device] }

  /// Takes in all that another vector counts: the least upper bound.
  public mutating func join(_ other: VersionVector) {
    if other.elements.count == 1 {
      let only = other.elements[0]
      if self[only.device] < only.sequence { self[only.device] = only.sequence }
      return
    }
    self = joined(with: other)
  }

  /// The least upper bound of both.
  public func joined(with other: VersionVector) -> VersionVector {
    var result: [Element] = []
    result.reserveCapacity(Swift.max(elements.count, other.elements.count))
    forEachPair(with: other) { device, left, right in
      result.append(Element(device: device, sequence: Swift.max(left, right)))
    }
    return VersionVector(unchecked: result)
  }

  /// The greatest lower bound of both: what both count.
  public func met(with other: VersionVector) -> VersionVector {
    var result: [Element] = []
    forEachPair(with: other) { device, left, right in
      if left > 0, right > 0 { result.append(Element(device: device, sequence: Swift.min(left, right))) }
    }
    return VersionVector(unchecked: result)
  }

  /// How this vector stands to another; both sides' devices are looked at.
  public func order(_ other: VersionVector) -> CausalOrder {
    var less = false
    var more = false
    forEachPair(with: other) { _, left, right in
      if left < right { less = true } else if left > right { more = true }
    }
    return switch (less, more) {
    case (false, false): .equal
    case (true, false): .before
    case (false, true): .after
    case (true, true): .concurrent
    }
  }

  /// Whether all that another counts is counted here.
  public func covers(_ other: VersionVector) -> Bool {
    for element in other.elements where self[element.device] < element.sequence { return false }
    return true
  }

  /// Both vectors side by side, each device of either once, in ascending order; 0 stands for none.
  @inlinable
  public func forEachPair(with other: VersionVector, _ body: (_ device: DeviceID, _ left: Int, _ right: Int) -> Void) {
    var left = 0
    var right = 0
    while left < elements.count || right < other.elements.count {
      if right == other.elements.count
        || (left < elements.count && elements[left].device < other.elements[right].device)
      {
        body(elements[left].device, elements[left].sequence, 0)
        left += 1
      } else if left == elements.count || other.elements[right].device < elements[left].device {
        body(other.elements[right].device, 0, other.elements[right].sequence)
        right += 1
      } else {
        body(elements[left].device, elements[left].sequence, other.elements[right].sequence)
        left += 1
        right += 1
      }
    }
  }

  private init(unchecked elements: [Element]) {
    self.elements = elements
    total = elements.reduce(0) { $0 + $1.sequence }
  }

  private func lowerBound(of device: DeviceID) -> Int {
    var low = 0
    var high = elements.count
    while low < high {
      let middle = (low + high) / 2
      if elements[middle].device < device { low = middle + 1 } else { high = middle }
    }
    return low
  }
}

extension VersionVector: CustomStringConvertible {
  public var description: String {
    "{" + elements.map { "\($0.device):\($0.sequence)" }.joined(separator: ", ") + "}"
  }
}

extension VersionVector: ExpressibleByDictionaryLiteral {
  /// A device that stands twice keeps its higher number; numbers below 1 are left out.
  public init(dictionaryLiteral pairs: (DeviceID, Int)...) {
    self.init()
    for (device, sequence) in pairs where sequence > self[device] { self[device] = sequence }
  }
}
