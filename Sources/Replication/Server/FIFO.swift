/// A queue whose both ends cost O(1), amortised.
struct FIFO<Element> {
  private var elements: [Element] = []
  private var start = 0

  var isEmpty: Bool { start == elements.count }
  var count: Int { elements.count - start }
  var first: Element? { isEmpty ? nil : elements[start] }

  init() {}

  init(_ element: Element) { elements = [element] }

  /// Changes the first element, which there must be, in its place.
  mutating func changeFirst(_ change: (inout Element) -> Void) { change(&elements[start]) }

  mutating func append(_ element: Element) { elements.append(element) }

  mutating func popFirst() -> Element? {
    guard start < elements.count else { return nil }
    let element = elements[start]
    start += 1
    if start == elements.count {
      elements.removeAll(keepingCapacity: elements.count <= 64)
      start = 0
    } else if start >= 64, start * 2 >= elements.count {
      elements.removeFirst(start)
      start = 0
    }
    return element
  }

  mutating func removeAll() -> [Element] {
    defer { self = FIFO() }
    return Array(elements[start...])
  }

  mutating func remove(where matches: (Element) -> Bool) {
    elements.removeFirst(start)
    start = 0
    elements.removeAll(where: matches)
  }
}

extension FIFO: Sendable where Element: Sendable {}

extension FIFO: Equatable where Element: Equatable {
  static func == (left: FIFO, right: FIFO) -> Bool { left.elements[left.start...] == right.elements[right.start...] }
}

extension FIFO: Hashable where Element: Hashable {
  func hash(into hasher: inout Hasher) { hasher.combine(elements[start...]) }
}
