import NavigationModel

/// The orders in which a set of events can arrive: all that causality allows, one after the other.
struct ArrivalOrders {
  /// What each event needs to have arrived before it, as a set of bits.
  private let needs: [UInt32]
  private let limit: Int

  /// - Parameters:
  ///   - events: in an order that causality allows, at most 32.
  ///   - limit: so many orders at most.
  init(_ events: [Event], limit: Int) {
    precondition(events.count <= 32, "so many events have too many orders")
    self.limit = limit
    needs = events.map { event in
      var bits: UInt32 = 0
      for (place, other) in events.enumerated() {
        let isBefore =
          other.dot.device == event.dot.device
          ? other.dot.sequence < event.dot.sequence : event.context.contains(other.dot)
        if isBefore { bits |= 1 << UInt32(place) }
      }
      return bits
    }
  }

  /// Calls the body with each order, as places of the events, and gives how many there were.
  func forEach<E: Error>(_ body: ([Int]) throws(E) -> Void) throws(E) -> Int {
    var count = 0
    var order: [Int] = []
    try extend(&order, arrived: 0, &count, body)
    return count
  }

  private func extend<E: Error>(
    _ order: inout [Int], arrived: UInt32, _ count: inout Int, _ body: ([Int]) throws(E) -> Void
  ) throws(E) {
    guard order.count < needs.count else {
      count += 1
      return try body(order)
    }
    for place in needs.indices where arrived & 1 << UInt32(place) == 0 && needs[place] & ~arrived == 0 {
      guard count < limit else { return }
      order.append(place)
      try extend(&order, arrived: arrived | 1 << UInt32(place), &count, body)
      order.removeLast()
    }
  }
}
