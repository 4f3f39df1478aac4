package import NavigationModel

/// Figures of a history.
package struct Statistics: Hashable, Sendable {
  package struct Device: Hashable, Sendable {
    package var device: DeviceID
    package var events: Int
    package var first: Int
    package var last: Int
  }

  package struct Visit: Hashable, Sendable {
    package var value: Value
    package var count: Int
  }

  /// What happened in a span of time.
  package struct Span: Hashable, Sendable {
    /// In milliseconds since 1970.
    package var start: Int
    package var events: Int
    package var concurrent: Int
    package var conflicts: Int
    /// Pops, and ways to the root.
    package var backs = 0
    /// The greatest depth in it.
    package var deepest = 0
  }

  package var events = 0
  package var pushes = 0
  /// Pops: the person went back.
  package var backs = 0
  package var toRoot = 0
  package var sets = 0
  package var replaces = 0
  package var void = 0
  /// Events whose author had not seen all that the log had before them.
  package var concurrent = 0
  package var deepest = 0
  /// The mean depth after an event.
  package var meanDepth = 0.0
  package var depth = 0
  /// How many moments had each depth; the last stands for it and all above.
  package var depths: [Int] = []
  /// By the number of events, the most first.
  package var devices: [Device] = []
  /// By the number of times that the value was put on, the most first.
  package var visits: [Visit] = []
  /// Of equal length, without gaps.
  package var spans: [Span] = []
  /// In milliseconds.
  package var spanLength = 0
}

extension Timeline {
  /// The history's figures. O(events).
  ///
  /// - Parameters:
  ///   - mostVisited: how many values are listed.
  ///   - spans: into how many spans of time the history is divided at most.
  package mutating func statistics(mostVisited: Int = 10, spans: Int = 48) -> Statistics {
    var result = Statistics()
    guard count > 0 else { return result }
    result.events = count
    var visits: [Value: Int] = [:]
    var perDevice: [DeviceID: Statistics.Device] = [:]
    var (first, last) = (Int.max, Int.min)
    for number in 1...count {
      first = min(first, time(of: number))
      last = max(last, time(of: number))
    }
    result.spanLength = Self.spanLength(for: last - first, atMost: spans)
    let start = first - first % result.spanLength
    result.spans = (0...(last - start) / result.spanLength).map {
      Statistics.Span(start: start + $0 * result.spanLength, events: 0, concurrent: 0, conflicts: 0)
    }
    var total = 0
    for number in 1...count {
      let event = event(number)
      let time = event.timestamp.milliseconds
      switch event.action {
      case .push: result.pushes += 1
      case .pop: result.backs += 1
      case .popToRoot: result.toRoot += 1
      case .set: result.sets += 1
      case .replace: result.replaces += 1
      }
      for value in event.action.values { visits[value, default: 0] += 1 }
      let depth = depth(at: number)
      total += depth
      result.deepest = max(result.deepest, depth)
      if depth >= result.depths.count, result.depths.count < 20 {
        result.depths += Array(repeating: 0, count: min(depth, 19) + 1 - result.depths.count)
      }
      result.depths[min(depth, result.depths.count - 1)] += 1
      let device = event.dot.device
      var known = perDevice[device] ?? Statistics.Device(device: device, events: 0, first: time, last: time)
      known.events += 1
      known.first = min(known.first, time)
      known.last = max(known.last, time)
      perDevice[device] = known
      let span = (time - start) / result.spanLength
      result.spans[span].events += 1
      result.spans[span].deepest = max(result.spans[span].deepest, depth)
      switch event.action {
      case .pop, .popToRoot: result.spans[span].backs += 1
      case .push, .set, .replace: break
      }
      if isConcurrent(number) {
        result.concurrent += 1
        result.spans[span].concurrent += 1
      }
      if isVoid(number) { result.void += 1 }
      if isVoid(number) || !newConflicts(at: number).isEmpty { result.spans[span].conflicts += 1 }
    }
    result.meanDepth = Double(total) / Double(count)
    result.depth = depth(at: count)
    result.devices = perDevice.values.sorted { ($1.events, $0.device) < ($0.events, $1.device) }
    result.visits = visits.map { Statistics.Visit(value: $0.key, count: $0.value) }
      .sorted { left, right in
        if left.count != right.count { return left.count > right.count }
        if left.value.type != right.value.type { return left.value.type < right.value.type }
        return left.value.payload.lexicographicallyPrecedes(right.value.payload)
      }
    result.visits = Array(result.visits.prefix(mostVisited))
    return result
  }

  /// The shortest of a row of usual lengths that needs no more spans than allowed, in milliseconds.
  private static func spanLength(for duration: Int, atMost count: Int) -> Int {
    let second = 1000
    let usual = [
      1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200, 21_600, 43_200, 86_400, 172_800, 604_800, 2_592_000,
    ]
    let length = usual.first { duration / ($0 * second) < count - 1 } ?? duration / second / (count - 1) + 1
    return length * second
  }
}
