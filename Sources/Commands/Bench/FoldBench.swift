import Glibc
import NavigationModel
import WireFormat

/// How fast events fold, on histories of several devices that act in turn and see each other's actions with a delay.
enum FoldBench {
  struct Result: Sendable {
    var devices: Int
    var events: Int
    var nanosecondsAnEvent: Double
    /// Questions that the live tags couldn't answer, an event.
    var slowShare: Double
  }

  /// Folds a history of so many events, three times, and takes the median.
  static func run(devices: Int, events count: Int) -> Result {
    let events = history(devices: devices, events: count)
    var times: [Double] = []
    var slow = 0
    for _ in 0..<9 {
      let start = processorTime()
      var fold = StackFold(policy: .merge)
      for event in events { fold.apply(event) }
      times.append((processorTime() - start) / Double(events.count))
      slow = fold.slowChecks
      precondition(fold.count == events.count)
    }
    return Result(
      devices: devices, events: events.count, nanosecondsAnEvent: times.sorted()[4],
      slowShare: Double(slow) / Double(events.count))
  }

  /// From canonical bytes: decoded, admitted, hashed and folded, as a replica takes in a log.
  static func runFromBytes(devices: Int, events count: Int) throws -> Result {
    let events = history(devices: devices, events: count)
    let stack = try StackName("bench/fold")
    var writer = StackChains(stack: stack)
    var records: [(dot: Dot, bytes: [UInt8])] = []
    for event in events { records.append((event.dot, try writer.append(event))) }
    let batch = EventBatch(records)
    var times: [Double] = []
    for _ in 0..<5 {
      let start = processorTime()
      var chains = StackChains(stack: stack)
      var fold = StackFold(policy: .merge)
      try batch.forEach { (record) throws(ChainFault) in
        guard let event = try chains.receive(record.dot.device, record.dot.sequence, batch.bytes, in: record.range)
        else {
          return
        }
        fold.apply(event)
      }
      times.append((processorTime() - start) / Double(events.count))
      precondition(chains == writer)
    }
    return Result(devices: devices, events: events.count, nanosecondsAnEvent: times.sorted()[2], slowShare: 0)
  }

  /// Rounds in which each device acts one to five times without seeing the others, then all level: 70 % pushes, 25 %
  /// pops, 2.5 % to the root, 2.5 % deep links.
  static func history(devices count: Int, events: Int) -> [Event] {
    let ids = (0..<count).map { DeviceID(high: UInt64($0 + 1), low: 7) }
    let folds = ids.map { _ in FoldBox() }
    var all: [Event] = []
    var random: UInt64 = 42
    func roll(_ bound: UInt64) -> UInt64 {
      random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return (random >> 33) % bound
    }
    func value() -> Value { Value(type: "Product", payload: Array("{\"id\":\(roll(100_000))}".utf8)) }
    while all.count < events {
      let start = all.count
      for (place, box) in folds.enumerated() {
        for _ in 0...roll(5) {
          let intent: Intent =
            switch roll(1000) {
            case 0..<700: .push([value()])
            case 700..<950: .pop(1)
            case 950..<975: .popToRoot
            case _: .set((0...roll(4)).map { _ in value() })
            }
          guard let action = box.fold.action(for: intent) else { continue }
          var context = box.fold.vector
          let sequence = context[ids[place]] + 1
          context[ids[place]] = 0
          let event = Event(
            dot: Dot(ids[place], sequence), context: context,
            timestamp: box.fold.newestTimestamp.next(at: 1_000_000 + all.count), action: action)
          box.fold.apply(event)
          all.append(event)
        }
      }
      for (place, box) in folds.enumerated() {
        for event in all[start...] where event.dot.device != ids[place] { box.fold.apply(event) }
      }
    }
    return all
  }

  /// What this thread has used of a processor, in nanoseconds.
  private static func processorTime() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
  }

  private final class FoldBox {
    var fold = StackFold(policy: .merge)
  }
}
