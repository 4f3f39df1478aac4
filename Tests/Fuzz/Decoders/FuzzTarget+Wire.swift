import NavigationModel
import WireFormat

func takeMessage(_ bytes: [UInt8]) throws(BrokenLaw) -> Bool {
  guard let message = try? Message(decoding: bytes) else { return false }
  // Protobuf has several ways to write the same, so the first writing settles it.
  let written = message.encoded()
  guard let read = try? Message(decoding: written) else { throw BrokenLaw("\(message) can't be read back") }
  try hold(read == message, "\(message) is read back as \(read)")
  try hold(read.encoded() == written, "\(message) is written in two ways")
  if case .events(let events) = message {
    _ = try takeBatch(events.batch)
    for var state in events.authorStates {
      // What a reader of the feed does: it has no history before the state.
      guard let batch = try? EventBatch(bytes: events.batch) else { break }
      batch.forEach { record in
        guard record.dot == Dot(state.device, state.sequence + 1) else { return }
        _ = try? EventCodec.decode(batch.bytes, in: record.range, after: &state)
      }
    }
  }
  return true
}

/// The first byte chooses the author's state; the rest is the event.
func takeEvent(_ bytes: [UInt8]) throws(BrokenLaw) -> Bool {
  guard let choice = bytes.first else { return false }
  let before = AuthorState.samples[Int(choice) % AuthorState.samples.count]
  let canonical = Array(bytes.dropFirst())
  var state = before
  guard let event = try? EventCodec.decode(canonical, after: &state) else {
    try hold(state == before, "a refused event changed its author's state")
    return false
  }
  var again = before
  let written: [UInt8]
  do { written = try EventCodec.encode(event, after: &again) } catch {
    throw BrokenLaw("\(event) is read and can't be written: \(error)")
  }
  try hold(written == canonical, "\(event) is written in another way than it was read")
  try hold(again == state, "reading and writing \(event) leave the author in different states")
  try takeLine(of: event)
  return true
}

/// The event as a line of an export comes back as the event.
func takeLine(of event: Event) throws(BrokenLaw) {
  let line = JSONLines.line(event, stack: "alice/main", previous: .empty)
  guard case .event(let parsed)? = try? JSONLine(parsing: line),
    let read = try? parsed.event(resolving: { DeviceID($0) })
  else { throw BrokenLaw("the line of \(event) can't be read: \(String(decoding: line, as: UTF8.self))") }
  try hold(read == event, "\(event) is another event after its line: \(read)")
}

func takeBatch(_ bytes: [UInt8]) throws(BrokenLaw) -> Bool {
  guard let batch = try? EventBatch(bytes: bytes) else { return false }
  var records: [(dot: Dot, bytes: [UInt8])] = []
  batch.forEach { records.append(($0.dot, Array(batch.bytes[$0.range]))) }
  try hold(records.count == batch.count, "a batch of \(batch.count) events has \(records.count)")
  try hold(EventBatch(records).bytes == bytes, "a batch is written in another way than it was read")
  guard let stack = try? StackName("alice/main") else { throw BrokenLaw("alice/main is no name") }
  var claims = StackClaims(stack: stack)
  var events: [Event] = []
  for record in records {
    guard let event = try? claims.receive(record.dot, record.bytes) else { continue }
    let author = claims.chains.author(of: record.dot.device)
    try hold(event.dot.device == author, "the event of \(record.dot) is read as \(event.dot)")
    events.append(event)
  }
  let chains = claims.chains
  let isPlain = !chains.isForked && !chains.hasUnreadable
  if !isPlain { events = claims.admission.events }
  // Chains admit what a fold takes, whatever a faulty device says in it.
  for policy in [Policy.merge, .latest, .lead(DeviceID(high: 0, low: 1))] {
    var fold = StackFold(policy: policy)
    for event in events { fold.apply(event) }
    try hold(!isPlain || fold.vector == chains.vector, "\(policy): the fold counts other events than the chains")
    let snapshot = fold.snapshot()
    do {
      var restored = try StackFold(snapshot)
      try hold(restored.entries() == fold.entries(), "\(policy): a snapshot shows another stack")
      try hold(restored.conflicts() == fold.conflicts(), "\(policy): a snapshot reports other conflicts")
    } catch let error as BrokenLaw { throw error } catch {
      throw BrokenLaw("\(policy): a snapshot that was just written can't be read: \(error)")
    }
  }
  return true
}

extension AuthorState {
  /// States that the events to read come after: a new author's, one with others known, one with an entry on top.
  static let samples: [AuthorState] = {
    let (author, other, third) = (DeviceID(high: 0, low: 1), DeviceID(high: 0, low: 2), DeviceID(high: 7, low: 7))
    var known = AuthorState(device: author)
    known.sequence = 200
    known.timestamp = Timestamp(milliseconds: 1_700_000_000_000, counter: 3)
    known.context = [other: 130, third: 1]
    known.table = [author, other, third]
    var onTop = known
    onTop.top = EntryID(Dot(author, 200), 1)
    var last = known
    last.sequence = Dot.maximumSequence - 1
    last.timestamp = Timestamp(milliseconds: Timestamp.maximumMagnitude, counter: Timestamp.maximumMagnitude)
    return [AuthorState(device: author), known, onTop, last]
  }()
}
