public import NavigationModel

extension StackChains {
  /// A run of one device's events that was checked against the chains and not yet taken in.
  public struct CheckedRun: Sendable {
    public let device: DeviceID
    /// The sequence of the first of ``events``.
    public let firstSequence: Int
    /// Those that are admissible, in order, and their bytes.
    public let events: [Event]
    public let bytes: [[UInt8]]
    /// Why the run ends before its end; nil if all of it is admissible.
    public let fault: ChainFault?
    /// How many at the run's beginning are held already by their numbers. The caller compares their bytes with the log's.
    public let duplicates: Int
    /// The chain with the events.
    let chain: Chain

    /// The head after the run.
    public var head: DeviceHead {
      DeviceHead(device: device, sequence: chain.count, digest: chain.digest.digest)
    }
    /// The dot that ``fault`` is about.
    public var faultDot: Dot { Dot(device, firstSequence + events.count) }
  }

  /// Checks a run of one device's events without taking it in: ``commit(_:)`` does that, before any other event of the
  /// device comes.
  ///
  /// - Parameters:
  ///   - previous: the sender's digest before the first event; it shows a fork if it is of the place that the held chain
  ///     ends at. If the run begins earlier, compare it with ``closedDigest(of:atOrBelow:)`` brought up to there.
  public func check(
    _ device: DeviceID, firstSequence: Int, previous: Digest, events run: [[UInt8]]
  ) -> CheckedRun {
    var chain = chain(of: device) ?? Chain(stack: stack, device: device)
    let held = chain.count
    // A peer may name any first sequence; the sum can't leave an Int once it is within the bound.
    guard (1...Dot.maximumSequence).contains(firstSequence), firstSequence <= held + 1 else {
      return CheckedRun(
        device: device, firstSequence: firstSequence, events: [], bytes: [],
        fault: run.isEmpty ? nil : .gap(expected: held + 1), duplicates: 0, chain: chain)
    }
    let duplicates = min(held + 1 - firstSequence, run.count)
    var events: [Event] = []
    var fault: ChainFault?
    if firstSequence == held + 1, !run.isEmpty, previous != chain.digest.digest {
      fault = .fork(Dot(device, firstSequence))
    }
    for bytes in run.dropFirst(duplicates) where fault == nil {
      do throws(ChainFault) {
        guard let event = try Self.admit(bytes, in: 0..<bytes.count, to: &chain, held: reach, stack) else {
          throw .malformed(DecodeError(.unsupported, at: 0, in: "event"))
        }
        events.append(event)
      } catch { fault = error }
    }
    return CheckedRun(
      device: device, firstSequence: firstSequence + duplicates, events: events,
      bytes: Array(run.dropFirst(duplicates).prefix(events.count)), fault: fault, duplicates: duplicates, chain: chain)
  }

  /// Takes in the admissible events of a checked run. Nothing of the device may have come in between.
  public mutating func commit(_ run: CheckedRun) {
    guard !run.events.isEmpty else { return }
    precondition(vector[run.device] + 1 == run.firstSequence, "events of \(run.device) came in after the check")
    keep(run.chain)
  }
}
