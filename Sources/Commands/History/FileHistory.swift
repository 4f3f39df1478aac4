import NavigationModel
import WireFormat

/// A file of events as JSON lines, read whole: an export, or lines from any source.
///
/// Devices may be any texts there. If all are ids they are those; else they take ids in the order of their bytes, so that
/// ties fall as the semantics says, and are printed by their texts.
struct FileHistory {
  let name: String
  /// Of the header, or the one that was chosen.
  private(set) var stack: StackName?
  private(set) var policy: Policy = .merge
  private(set) var names = DeviceNames()
  /// The lines' events in the file's order, those that are there twice once. `previous` is what the line says.
  private(set) var lines: [Line] = []
  private(set) var forks: [Dot] = []
  private(set) var held: [Dot] = []
  /// What can be folded, in the file's order if causality allows it, else in the order of admission.
  private(set) var items: [HistoryItem] = []
  /// What the trailer says, nil if there is none.
  private(set) var trailer: ExportTrailer?
  private(set) var header: ExportHeader?
  private(set) var texts: [DeviceID: String] = [:]
  /// Why reading ended before the end of the file; what is good before that is here.
  private(set) var problem: CommandError?
  /// Whether the devices' texts are ids.
  private(set) var hasRealIDs = true

  struct Line {
    var number: Int
    var event: Event
    var previous: Digest?
  }

  /// Whether the file says at its beginning that it is an export, and lacks the end that would prove it whole.
  var isCut: Bool { header != nil && trailer == nil && problem == nil }

  func text(_ device: DeviceID) -> String { texts[device] ?? device.description }

  /// - Parameters:
  ///   - stack: which stack's lines to take; nil: there must be one only.
  ///   - policy: in place of the header's.
  init(_ reader: LineReader, stack chosen: StackName?, policy: PolicyArgument?) throws {
    name = reader.name
    var parsed: [(number: Int, line: EventLine)] = []
    var source = EventLines(reader, stack: chosen)
    do {
      while let line = try source.next() { parsed.append((reader.lineNumber, line)) }
    } catch let error as CommandError where error.code == .damage && !source.isAtBeginning {
      // Behind something good, damage only ends the reading.
      problem = error
    }
    (header, trailer, stack) = (source.header, source.trailer, try source.stack())
    let leader: String? = if case .lead(let leader) = policy { leader } else { nil }
    try resolveDevices(parsed, leader: leader)
    try takePolicy(policy, try source.headerPolicy())
    var seen: Set<EventLine> = []
    var eventLines: [(line: EventLine, number: Int)] = []
    for (number, line) in parsed where seen.insert(line).inserted { eventLines.append((line, number)) }
    let ids = Dictionary(uniqueKeysWithValues: texts.map { ($1, $0) })
    for (line, number) in eventLines {
      do {
        lines.append(Line(number: number, event: try line.event { ids[$0] }, previous: line.previous))
      } catch {
        throw CommandError(.damage, "\(name), line \(number): \(error)")
      }
    }
    admit(eventLines.map(\.line))
  }

  private mutating func resolveDevices(_ parsed: [(number: Int, line: EventLine)], leader: String?) throws {
    var all: Set<String> = []
    for (_, line) in parsed { all.formUnion(line.devices) }
    hasRealIDs = !all.isEmpty && all.allSatisfy { DeviceID($0) != nil }
    if let leader { all.insert(leader) }
    if let header, header.policy.hasPrefix("lead:") { all.insert(String(header.policy.dropFirst(5))) }
    if hasRealIDs {
      for text in all { if let id = DeviceID(text) { texts[id] = text } }
    } else {
      let sorted = all.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
      for (place, text) in sorted.enumerated() {
        let id = DeviceID(high: 0, low: UInt64(place + 1))
        texts[id] = text
        names.note(text, of: id)
      }
    }
    for device in header?.devices ?? [] {
      if hasRealIDs, let id = DeviceID(device.id) { names.note(device.name, of: id) }
    }
  }

  private mutating func takePolicy(_ chosen: PolicyArgument?, _ inHeader: @autoclosure () throws -> PolicyArgument?)
    throws
  {
    let asked = try chosen ?? inHeader()
    if case .lead(let text) = asked, let id = texts.first(where: { $0.value == text })?.key {
      policy = .lead(id)
    } else {
      policy = try asked?.policy(among: names) ?? .merge
    }
  }

  /// Chains go by number. A fork is decided by (timestamp, the line's bytes).
  private mutating func admit(_ eventLines: [EventLine]) {
    var claimants: [Dot: [Int]] = [:]
    for (place, line) in lines.enumerated() { claimants[line.event.dot, default: []].append(place) }
    var ranks = [UInt64](repeating: 0, count: lines.count)
    for places in claimants.values where places.count > 1 {
      let sorted = places.sorted { eventLines[$0].bytes.lexicographicallyPrecedes(eventLines[$1].bytes) }
      for (rank, place) in sorted.enumerated() { ranks[place] = UInt64(rank) }
    }
    func link(_ sequence: Int) -> Digest { sequence == 0 ? .empty : Digest(high: 1, low: UInt64(sequence)) }
    let admission = Admission(
      zip(lines, ranks).map { line, rank in
        Claim(
          event: line.event, previous: link(line.event.dot.sequence - 1), digest: link(line.event.dot.sequence),
          tieBreak: Digest(high: 0, low: rank))
      })
    forks = admission.forks
    held = admission.held
    var admitted: [Dot: Event] = [:]
    for event in admission.events { admitted[event.dot] = event }
    var inOrder: [Event] = []
    var vector = VersionVector()
    var previous: [Dot: Digest] = [:]
    for line in lines {
      if let digest = line.previous { previous[line.event.dot] = digest }
      guard let event = admitted[line.event.dot], vector[event.dot.device] == event.dot.sequence - 1,
        vector.covers(event.context)
      else { continue }
      vector[event.dot.device] = event.dot.sequence
      inOrder.append(event)
    }
    let events = inOrder.count == admission.events.count ? inOrder : admission.events
    items = events.enumerated().map { place, event in
      HistoryItem(offset: place + 1, storedAt: nil, event: event, previous: previous[event.dot] ?? .empty)
    }
  }
}
