package import NavigationModel
package import WireFormat

/// A stack's whole history, to look at any moment of it.
///
/// All stacks that were ever shown are one tree of rows, each on the one beneath, so a moment is the number of its top
/// row: to show one costs O(its depth), wherever it is, and nothing is folded again. The events stay as their canonical
/// bytes, and are decoded from the checkpoint before them, a page at a time.
///
/// Memory: the bytes of the events, 28 bytes an event, and what the fold keeps. Beside that, whatever the history is, at
/// most 12 bytes for each of ``maximumRows`` rows, ``checkpointBytes`` for checkpoints, which are thinned out, a page of
/// events, and the conflicts of ``maximumDecisions`` events. When there are more rows those of the oldest moments are let
/// go: such a moment is folded again from the beginning when it is looked at, and those after it go on from there.
/// Moments are counted from 0, the empty stack; moment n is after the n-th event in log order.
package struct Timeline: ~Copyable {
  package let stack: StackName
  private var fold: StackFold
  private var chains: StackChains
  /// What was folded, once there is something that can't be read; nil before.
  private var foldable: VersionVector?
  /// The events' canonical bytes, one behind the other.
  private var bytes: [UInt8] = []
  private var records: [Record] = []
  private var authors: [DeviceID] = []
  private var authorPlaces: [DeviceID: Int32] = [:]
  /// The numbers of each author's events, by sequence - 1.
  private var numbers: [[Int32]] = []
  private var rows: [Row] = [Row(number: 0, below: 0, depth: 0)]
  /// The first moment whose rows are kept.
  private var firstKept = 0
  private let maximumRows: Int
  /// Stands at a moment whose rows are let go.
  private var past: PastFold?
  /// The fold's numbers of what is shown now, and the places of these rows in `rows`.
  private var shown: [Int32] = []
  private var path: [Int32] = []
  private var checkpoints: Checkpoints
  /// The events that were decoded last, and what the decoder needs to go on behind them.
  private var page = Page()
  private var openConflicts: Set<Conflict> = []
  /// Of the open conflicts.
  private var signature: [Int32] = []
  /// What was decided anew at an event, by its number.
  private var decisions: [Int: [Conflict]] = [:]

  /// One event as it stands in the timeline.
  private struct Record {
    var milliseconds: Int
    /// The top row after it.
    var top: Int32
    var author: Int32
    /// How many entries are shown after it.
    var depth: Int32
    /// The number of its bytes, and flags in the highest bits.
    var lengthAndFlags: UInt32

    /// An event has at most 128 KiB.
    static let lengthBits = 24

    var length: Int { Int(lengthAndFlags & (1 << Self.lengthBits - 1)) }
    var flags: UInt8 { UInt8(lengthAndFlags >> Self.lengthBits) }
  }

  private final class PastFold {
    var fold: StackFold
    var moment = 0

    init(_ policy: Policy) { fold = StackFold(policy: policy) }
  }

  private struct Row {
    /// The fold's number of the entry.
    var number: Int32
    var below: Int32
    var depth: Int32
  }

  /// Decoded events that stand behind each other.
  private struct Page {
    var first = 0
    var events: [Event] = []
    var end = Checkpoint(count: 0, offset: 0, authors: [])
  }

  /// How many events a page has at most.
  private static let pageSize = 2048
  /// How many events keep what was decided at them; of later ones it is only known that something was.
  package static let maximumDecisions = 1 << 20
  /// What all checkpoints together may take, about.
  package static let checkpointBytes = 64 << 20
  /// How many rows are kept: 768 MiB. A million events of eight devices that act at the same time all along have half of
  /// that.
  package static let maximumRows = 64 << 20

  private static let void: UInt8 = 1
  private static let late: UInt8 = 2
  private static let concurrent: UInt8 = 4
  private static let decision: UInt8 = 8

  package init(
    stack: StackName, policy: Policy, checkpointBytes: Int = Timeline.checkpointBytes,
    maximumRows: Int = Timeline.maximumRows
  ) {
    self.maximumRows = maximumRows
    checkpoints = Checkpoints(maximumBytes: checkpointBytes)
    self.stack = stack
    fold = StackFold(policy: policy)
    chains = StackChains(stack: stack)
  }

  // MARK: Taking in

  /// Takes in the next event of the log as its canonical bytes.
  ///
  /// - Returns: false if it is left out, because it is of a newer kind or rests on one that is.
  /// - Throws: what is wrong with it; the timeline is as before then.
  package mutating func receive(
    _ device: DeviceID, _ sequence: Int, _ bytes: [UInt8], in range: Range<Int>
  ) throws(ChainFault) -> Bool {
    keepCheckpoint()
    guard let event = try chains.receive(device, sequence, bytes, in: range) else {
      if foldable == nil {
        foldable = chains.vector
        foldable?[device] = sequence - 1
      }
      return false
    }
    guard isFoldable(event) else { return false }
    self.bytes.append(contentsOf: bytes[range])
    take(event, length: range.count)
    return true
  }

  private mutating func isFoldable(_ event: Event) -> Bool {
    guard let known = foldable else { return true }
    guard known.covers(event.context), known[event.dot.device] == event.dot.sequence - 1 else { return false }
    foldable?[event.dot.device] = event.dot.sequence
    return true
  }

  /// Takes in the next event of the log.
  package mutating func append(_ event: Event) throws(ChainFault) {
    keepCheckpoint()
    let written = try chains.append(event)
    bytes.append(contentsOf: written)
    take(event, length: written.count)
  }

  private mutating func take(_ event: Event, length: Int) {
    let author = place(of: event.dot.device)
    let isConcurrent = event.context.total + event.dot.sequence - 1 != records.count
    let isVoid = fold.apply(event)
    var flags: UInt8 = isVoid ? Timeline.void : 0
    if isVoid, fold.newestVoidIsLate { flags |= Timeline.late }
    if isConcurrent { flags |= Timeline.concurrent }
    if isConcurrent || isVoid || putsBeneathTop(event) { noteDecisions(event, isVoid, &flags) }
    show(fold.rows())
    numbers[Int(author)].append(Int32(records.count + 1))
    records.append(
      Record(
        milliseconds: event.timestamp.milliseconds, top: path.last ?? 0, author: author,
        depth: Int32(path.count), lengthAndFlags: UInt32(length) | UInt32(flags) << Record.lengthBits))
  }

  /// Whether an event puts something beside what is shown: nothing else of an author who saw all makes a conflict.
  private func putsBeneathTop(_ event: Event) -> Bool {
    guard case .push(let on, _) = event.action else { return false }
    return on != shown.last.map { fold.entry($0).id }
  }

  private mutating func noteDecisions(_ event: Event, _ isVoid: Bool, _ flags: inout UInt8) {
    let signature = fold.conflictSignature()
    if signature == self.signature, !isVoid { return }
    self.signature = signature
    let now = Set(fold.shownConflicts())
    var fresh = now.subtracting(openConflicts).sorted()
    openConflicts = now
    if isVoid { fresh.append(.noop(event.dot)) }
    guard !fresh.isEmpty else { return }
    flags |= Timeline.decision
    if decisions.count < Timeline.maximumDecisions { decisions[records.count + 1] = fresh }
  }

  private mutating func place(of device: DeviceID) -> Int32 {
    if let last = records.last?.author, authors[Int(last)] == device { return last }
    if let place = authorPlaces[device] { return place }
    let place = Int32(authors.count)
    authors.append(device)
    authorPlaces[device] = place
    numbers.append([])
    return place
  }

  private mutating func show(_ now: [Int32]) {
    var common = min(shown.count, now.count)
    if !shown[..<common].elementsEqual(now[..<common]) {
      common = zip(shown, now).prefix { $0 == $1 }.count
    }
    path.removeLast(path.count - common)
    for number in now[common...] {
      rows.append(Row(number: number, below: path.last ?? 0, depth: Int32(path.count + 1)))
      path.append(Int32(rows.count - 1))
    }
    shown = now
    if rows.count > maximumRows { letGoOfOldRows() }
  }

  /// Lets go of the older half of the rows, but for those that later moments stand on.
  private mutating func letGoOfOldRows() {
    // Rows come in the order of moments, and the newest row of a moment that has new ones is its top.
    var moment = firstKept
    var newest: Int32 = 0
    while moment < records.count, newest < rows.count / 2 {
      moment += 1
      newest = max(newest, records[moment - 1].top)
    }
    guard moment > firstKept, moment < records.count else { return }
    let base = path(at: moment)
    let shift = newest - Int32(base.count)
    var places: [Int32: Int32] = [0: 0]
    for (place, row) in base.enumerated() { places[row] = Int32(place + 1) }
    func moved(_ row: Int32) -> Int32 { row > newest ? row - shift : places[row] ?? 0 }
    var kept = [rows[0]]
    kept.reserveCapacity(maximumRows + 64)
    for row in base { kept.append(rows[Int(row)]) }
    kept.append(contentsOf: rows[(Int(newest) + 1)...])
    for place in 1..<kept.count { kept[place].below = moved(kept[place].below) }
    rows = kept
    for number in moment...records.count { records[number - 1].top = moved(records[number - 1].top) }
    path = path.map(moved)
    firstKept = moment
  }

  private mutating func keepCheckpoint() {
    guard checkpoints.isDue(at: records.count) else { return }
    checkpoints.add(
      Checkpoint(count: records.count, offset: bytes.count, authors: authors.map { chains.authorState(of: $0) }))
  }

  /// Makes room for events that are said to come; no more of it than for four million, since a daemon may say anything.
  package mutating func reserve(_ count: Int) {
    let count = max(0, min(count, 4 << 20))
    records.reserveCapacity(records.count + count)
    rows.reserveCapacity(rows.count + count)
  }

  // MARK: Looking

  package var policy: Policy { fold.policy }

  /// The number of events, and of the newest moment.
  package var count: Int { records.count }

  /// The devices that acted, in the order of their first event.
  package var devices: [DeviceID] { authors }

  /// When the newest event was made, in milliseconds since 1970; the earliest number if there is none.
  package var newestTime: Int { count == 0 ? .min : fold.newestTimestamp.milliseconds }

  /// All events: of each device the number of its last.
  package var vector: VersionVector { fold.vector }

  /// How far each chain was taken in, what could not be read included.
  package var heads: [DeviceHead] { chains.heads }

  /// What the fold decided in all of the history.
  package mutating func conflicts() -> [Conflict] { fold.conflicts() }

  /// How many rows are kept, and how many bytes of events: figures for benchmarks.
  package var size: (rows: Int, bytes: Int, checkpoints: Int) { (rows.count, bytes.count, checkpoints.all.count) }

  /// The shown entries at a moment, bottom to top. O(their number), but for moments whose rows are let go.
  package mutating func entries(at moment: Int) -> [Entry] {
    guard moment < firstKept else { return path(at: moment).map { fold.entry(rows[Int($0)].number) } }
    let past = self.past.flatMap { $0.moment <= moment ? $0 : nil } ?? PastFold(policy)
    while past.moment < moment {
      past.moment += 1
      past.fold.apply(event(past.moment))
    }
    self.past = past
    return past.fold.entries()
  }

  /// How many entries are shown at a moment. O(1).
  package func depth(at moment: Int) -> Int { moment == 0 ? 0 : Int(records[moment - 1].depth) }

  /// Who made an event, without decoding it. O(1).
  package func author(of number: Int) -> DeviceID { authors[Int(records[number - 1].author)] }

  /// When an event was made, in milliseconds since 1970, without decoding it. O(1).
  package func time(of number: Int) -> Int { records[number - 1].milliseconds }

  package func isVoid(_ number: Int) -> Bool { records[number - 1].flags & Timeline.void != 0 }

  /// Whether a void event was not above its causal past in the order of events; else it named what it couldn't.
  package func isLate(_ number: Int) -> Bool { records[number - 1].flags & Timeline.late != 0 }

  /// Whether its author had not seen all that the log had before it.
  package func isConcurrent(_ number: Int) -> Bool { records[number - 1].flags & Timeline.concurrent != 0 }

  /// The conflicts that came to be with an event.
  package func newConflicts(at number: Int) -> [Conflict] { decisions[number] ?? [] }

  /// The number of the event of that name, nil if it isn't there. O(1).
  package func number(of dot: Dot) -> Int? {
    guard let place = authorPlaces[dot.device], dot.sequence >= 1, dot.sequence <= numbers[Int(place)].count else {
      return nil
    }
    return Int(numbers[Int(place)][dot.sequence - 1])
  }

  /// The first event from `number` on, in the direction of the step (1 or -1), at which something was decided.
  package func decision(from number: Int, step: Int) -> Int? {
    var at = number
    while at >= 1, at <= records.count {
      if records[at - 1].flags & (Timeline.decision | Timeline.void) != 0 { return at }
      at += step
    }
    return nil
  }

  /// The last moment before the first event that was made after a time.
  package func moment(at milliseconds: Int) -> Int {
    records.firstIndex { $0.milliseconds > milliseconds } ?? records.count
  }

  /// The n-th event in log order, from 1 on. Mostly O(1); else a page is decoded from the checkpoint before it.
  package mutating func event(_ number: Int) -> Event {
    precondition((1...records.count).contains(number), "there is no event \(number)")
    let place = number - 1 - page.first
    if place < 0 || place >= page.events.count { decodePage(with: number) }
    return page.events[number - 1 - page.first]
  }

  private mutating func decodePage(with number: Int) {
    var at = checkpoints.last(before: number)
    // Going on from page to page decodes nothing twice.
    if page.end.count < number, page.end.count > at.count { at = page.end }
    for author in authors[at.authors.count...] { at.authors.append(AuthorState(device: author)) }
    page.first = at.count + (number - 1 - at.count) / Timeline.pageSize * Timeline.pageSize
    page.events.removeAll(keepingCapacity: true)
    let end = min(page.first + Timeline.pageSize, records.count)
    while at.count < end {
      let record = records[at.count]
      do {
        let event = try EventCodec.decode(
          bytes, in: at.offset..<at.offset + record.length, after: &at.authors[Int(record.author)])
        if at.count >= page.first { page.events.append(event) }
      } catch { preconditionFailure("an event that was taken in can't be decoded again: \(error)") }
      at.offset += record.length
      at.count += 1
    }
    page.end = at
  }

  private func top(at moment: Int) -> Int32 { moment == 0 ? 0 : records[moment - 1].top }

  /// The rows of a moment, bottom to top.
  private func path(at moment: Int) -> [Int32] {
    var row = top(at: moment)
    var result = [Int32](repeating: 0, count: Int(rows[Int(row)].depth))
    for place in result.indices.reversed() {
      result[place] = row
      row = rows[Int(row)].below
    }
    return result
  }
}
