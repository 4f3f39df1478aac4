import Foundation

/// What a soak measured at one moment.
struct SoakSample: Encodable, Sendable {
  /// Since the soak began.
  var seconds: Double
  /// Of the daemon's own memory.
  var residentBytes: Int
  var descriptors: Int
  var threads: Int
  /// Of a processor, since the sample before.
  var processorShare: Double
  /// All files of the daemon's store, without its write-ahead log.
  var storeBytes: Int
  var writeAheadBytes: Int
  /// In the daemon's store.
  var events: Int
  /// The mean of all devices that run.
  var deviceResidentBytes: Int
  var deviceDescriptors: Double
  var devices: Int

  var storeBytesAnEvent: Double { events == 0 ? 0 : Double(storeBytes) / Double(events) }
}

/// How a figure went over the second half of a soak.
package struct Trend: Encodable, Sendable {
  package var name: String
  /// The line through the points (least squares): where it begins and where it ends.
  package var begin: Double
  package var end: Double
  /// The most that `end` may be above `begin`.
  package var allowed: Double

  package var isFlat: Bool { end - begin <= allowed }

  /// - Parameter allowed: from where the line begins to what it may grow by.
  package init(_ name: String, _ points: [(x: Double, y: Double)], allowed: (Double) -> Double) {
    self.name = name
    let count = Double(max(points.count, 1))
    let (meanX, meanY) = (points.reduce(0) { $0 + $1.x } / count, points.reduce(0) { $0 + $1.y } / count)
    let spread = points.reduce(0) { $0 + ($1.x - meanX) * ($1.x - meanX) }
    let slope = spread == 0 ? 0 : points.reduce(0) { $0 + ($1.x - meanX) * ($1.y - meanY) } / spread
    begin = meanY + slope * ((points.first?.x ?? 0) - meanX)
    end = meanY + slope * ((points.last?.x ?? 0) - meanX)
    self.allowed = allowed(begin)
  }
}

extension [SoakSample] {
  /// The trends that a soak goes by, over its second half: until then caches fill.
  ///
  /// The same stacks come into use again and again, so what is held in memory has no reason to grow with the log.
  var trends: [Trend] {
    let half = suffix(from: count / 2)
    func trend(_ name: String, _ value: (SoakSample) -> Double, allowed: (Double) -> Double) -> Trend {
      Trend(name, half.map { ($0.seconds, value($0)) }, allowed: allowed)
    }
    return [
      trend("resident memory of the daemon, MiB", { Double($0.residentBytes) / 1_048_576 }, allowed: { $0 * 0.1 + 2 }),
      trend("descriptors of the daemon", { Double($0.descriptors) }, allowed: { $0 * 0.1 + 8 }),
      trend("threads of the daemon", { Double($0.threads) }, allowed: { _ in 1 }),
      trend("processor of the daemon, %", { $0.processorShare * 100 }, allowed: { $0 * 0.25 + 2 }),
      trend("bytes of the store an event", \.storeBytesAnEvent, allowed: { $0 * 0.1 }),
      trend("write-ahead log, MiB", { Double($0.writeAheadBytes) / 1_048_576 }, allowed: { _ in 8 }),
      trend(
        "resident memory of a device, MiB", { Double($0.deviceResidentBytes) / 1_048_576 }, allowed: { $0 * 0.1 + 2 }),
      trend("descriptors of a device", \.deviceDescriptors, allowed: { $0 * 0.1 + 2 }),
    ]
  }
}
