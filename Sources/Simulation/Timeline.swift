/// What is to happen, by time; of one time in the order in which it was put in. A binary heap.
struct Timeline {
  struct Entry {
    var at: Int
    var order: Int
    var body: () -> Void

    static func < (left: Entry, right: Entry) -> Bool {
      left.at != right.at ? left.at < right.at : left.order < right.order
    }
  }

  private var heap: [Entry] = []
  private var order = 0

  /// When the next thing happens.
  var next: Int? { heap.first?.at }

  mutating func add(at time: Int, _ body: @escaping () -> Void) {
    order += 1
    heap.append(Entry(at: time, order: order, body: body))
    var place = heap.count - 1
    while place > 0, heap[place] < heap[(place - 1) / 2] {
      heap.swapAt(place, (place - 1) / 2)
      place = (place - 1) / 2
    }
  }

  mutating func removeFirst() -> Entry? {
    guard let first = heap.first else { return nil }
    let last = heap.removeLast()
    guard !heap.isEmpty else { return first }
    heap[0] = last
    var place = 0
    while true {
      var least = place
      for child in [2 * place + 1, 2 * place + 2] where child < heap.count && heap[child] < heap[least] {
        least = child
      }
      if least == place { return first }
      heap.swapAt(place, least)
      place = least
    }
  }

  mutating func removeAll() { heap = [] }
}
