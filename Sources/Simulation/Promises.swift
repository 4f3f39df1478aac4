import NavigationModel

/// What was acknowledged: an action whose outcome was given is on stable storage, and stays wherever it is until what
/// holds it is destroyed everywhere.
struct Promises {
  struct Promise {
    var stack: StackName
    var dot: Dot
    var action: Action
    /// Of the event, if it is known: two histories under one id may have the same action at one place.
    var timestamp: Timestamp?
    /// The author's number.
    var device: Int
    var id: Int?

    func isKept(by event: Event) -> Bool {
      event.dot == dot && event.action == action && timestamp.map { $0 == event.timestamp } ?? true
    }

    /// Whether both were told of one event: copies of a folder may do the same thing, with one stamp and under one dot.
    func isOfSameEvent(as other: Promise) -> Bool {
      stack == other.stack && dot == other.dot && action == other.action && timestamp != nil
        && timestamp == other.timestamp
    }
  }

  private(set) var all: [Promise] = []
  private var byID: [String: Promise] = [:]

  mutating func add(_ promise: Promise) {
    all.append(promise)
    if let id = promise.id { byID["\(promise.device)/\(id)"] = promise }
  }

  func promise(of id: Int, _ device: Int) -> Promise? { byID["\(device)/\(id)"] }

  mutating func removeAll(_ isGone: (Promise) -> Bool) -> Int {
    let before = all.count
    for promise in all where isGone(promise) {
      if let id = promise.id { byID["\(promise.device)/\(id)"] = nil }
    }
    all.removeAll(where: isGone)
    return before - all.count
  }
}
