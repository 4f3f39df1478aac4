/// What is on its way or held back, for who checks that it stays within its bounds.
extension ClientCore {
  /// The most bytes of events of one stack that are sent and not answered.
  package var mostBytesInFlight: Int {
    stacks.values.map { $0.inFlight.reduce(0) { $0 + $1.bytes } }.max() ?? 0
  }

  /// What ``mostBytesInFlight`` may come to: the window, and one read over it.
  package static var bytesInFlightAllowed: Int { Followed.windowBytes + (128 << 10) }

  /// The most bytes that are held back for one stack since something before them lacks.
  package var mostBytesHeld: Int { stacks.values.map { $0.gap?.heldBytes ?? 0 }.max() ?? 0 }

  package static var bytesHeldAllowed: Int { Followed.heldBytesAllowed }
}
