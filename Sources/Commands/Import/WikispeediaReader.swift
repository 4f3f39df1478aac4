import CSodium
import Foundation
package import NavigationModel
import WireFormat

/// Reads recorded paths through Wikipedia (Wikispeedia, Stanford SNAP) as the events of navigation stacks.
///
/// A line is one session: person (a number), start (Unix seconds), duration (seconds), path; tab-separated. In a path,
/// articles stand between `;`, percent-encoded, and `<` is a back click.
///
/// - A person is the stack `wikispeedia/person-<n>`, a session is a device.
/// - A device's id is the 16-byte BLAKE2b of the text `<person>⇥<start>⇥<k>`: ⇥ is a tab, and `k` is 1 for the first
///   session of that person with that start, 2 for the second. So a file imported twice gives the same events.
/// - A session holds the person's sessions that ended (start + duration) before its start, and begins with a
///   `popToRoot` at its start if there are any. Sessions that overlap are concurrent.
/// - Step `i` of `n`, from 1 on, is at start + duration · i / n, in whole milliseconds.
/// - An article is a push of an `Article`, its payload the name as a JSON string, onto what the session has on top; a
///   back click pops that. A back click of a session that has nothing on top is left out and counted.
///
/// Sessions come in the order of the lines, which must be that of their starts, each person's own; that is a causal
/// order. Memory grows with the number of sessions.
package struct WikispeediaReader {
  /// One line, as one device's whole chain.
  package struct Session: Hashable, Sendable {
    package var stack: StackName
    package var device: DeviceID
    /// A display name for the device: `session-<start>`, and `-<k>` from the second with that start on.
    package var deviceName: String
    /// In order of their sequence; empty if the path is only back clicks at the root.
    package var events: [Event]
    /// Back clicks at the root, left out.
    package var skippedBacks: Int
  }

  private let lines: LineReader
  private var people: [Int: Person] = [:]

  package init(_ lines: LineReader) { self.lines = lines }

  /// The next line's session, nil at the end. Throws a ``CommandError`` with the line's number.
  package mutating func next() throws -> Session? {
    guard let line = try lines.next() else { return nil }
    do {
      let record = try Record(line: line)
      return try people[record.person, default: Person()].session(record)
    } catch let problem as LineProblem {
      throw lines.error(problem.description)
    }
  }
}

/// What is wrong with a line, in words that follow a colon.
private struct LineProblem: Error {
  let description: String
}

/// What was read of a person so far.
private struct Person {
  private struct Past {
    var end: Int
    var last: Dot
    var highest: Timestamp
  }

  /// Sessions that made events.
  private var past: [Past] = []
  private var latestStart = Int.min
  private var countAtLatestStart = 0

  mutating func session(_ record: Record) throws -> WikispeediaReader.Session {
    guard record.start >= latestStart else {
      throw LineProblem(
        description: "person \(record.person) has a session before that started later; sort the lines by their start")
    }
    countAtLatestStart = record.start == latestStart ? countAtLatestStart + 1 : 1
    latestStart = record.start

    var author = Author(device: deviceID(record, countAtLatestStart))
    for session in past where session.end < record.start {
      author.context[session.last.device] = session.last.sequence
      author.highest = max(author.highest, session.highest)
    }
    if !author.context.isEmpty { author.act(.popToRoot, at: record.start * 1000) }
    var skippedBacks = 0
    for (place, step) in record.steps.enumerated() {
      let time = record.start * 1000 + record.duration * 1000 * (place + 1) / record.steps.count
      switch step {
      case .article(let payload): author.push(Value(type: "Article", payload: payload), at: time)
      case .back: if !author.pop(at: time) { skippedBacks += 1 }
      }
    }
    if let last = author.events.last {
      past.append(Past(end: record.start + record.duration, last: last.dot, highest: last.timestamp))
    }
    let name = "session-\(record.start)" + (countAtLatestStart == 1 ? "" : "-\(countAtLatestStart)")
    return WikispeediaReader.Session(
      stack: try stackName(record.person), device: author.device, deviceName: name, events: author.events,
      skippedBacks: skippedBacks)
  }

  private func stackName(_ person: Int) throws -> StackName { try StackName("wikispeedia/person-\(person)") }

  private func deviceID(_ record: Record, _ which: Int) -> DeviceID {
    let text = Array("\(record.person)\t\(record.start)\t\(which)".utf8)
    var digest = [UInt8](repeating: 0, count: 16)
    let code = crypto_generichash(&digest, digest.count, text, UInt64(text.count), nil, 0)
    precondition(code == 0, "libsodium refuses a 16-byte BLAKE2b")
    let halves = digest.withUnsafeBytes {
      ($0.loadUnaligned(as: UInt64.self), $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
    }
    return DeviceID(high: UInt64(bigEndian: halves.0), low: UInt64(bigEndian: halves.1))
  }
}

/// A session as it acts: what it sees is what it pushed itself.
private struct Author {
  let device: DeviceID
  var context = VersionVector()
  var highest = Timestamp.zero
  private(set) var events: [Event] = []
  private var shown: [EntryID] = []

  init(device: DeviceID) { self.device = device }

  mutating func push(_ value: Value, at milliseconds: Int) {
    act(.push(on: shown.last, values: [value]), at: milliseconds)
    shown.append(EntryID(Dot(device, events.count), 0))
  }

  /// False if there is nothing to pop.
  mutating func pop(at milliseconds: Int) -> Bool {
    guard let top = shown.popLast() else { return false }
    act(.pop(entries: [top]), at: milliseconds)
    return true
  }

  mutating func act(_ action: Action, at milliseconds: Int) {
    highest = highest.next(at: milliseconds)
    events.append(
      Event(dot: Dot(device, events.count + 1), context: context, timestamp: highest, action: action))
  }
}

/// A line taken apart.
private struct Record {
  enum Step {
    /// The article's name as JSON.
    case article([UInt8])
    case back
  }

  var person: Int
  var start: Int
  var duration: Int
  var steps: [Step]

  init(line: [UInt8]) throws {
    guard let text = String(validating: line, as: UTF8.self) else { throw LineProblem(description: "not UTF-8") }
    let columns = text.split(separator: "\t", omittingEmptySubsequences: false)
    guard columns.count == 4 else {
      throw LineProblem(
        description: "\(columns.count) columns; expected person, start, duration and path, separated by tabs")
    }
    /// No sum or product of accepted numbers leaves what an `Int` or a timestamp holds.
    func number(_ column: Int, _ name: String, atMost most: Int) throws -> Int {
      guard let number = Int(columns[column]), (0...most).contains(number) else {
        throw LineProblem(description: "the \(name) '\(columns[column])' isn't a number from 0 to \(most)")
      }
      return number
    }
    person = try number(0, "person", atMost: 1_000_000_000_000)
    start = try number(1, "start", atMost: 1_000_000_000_000)
    duration = try number(2, "duration", atMost: 1_000_000_000)
    guard !columns[3].isEmpty else { throw LineProblem(description: "the path is empty") }
    steps = try columns[3].split(separator: ";", omittingEmptySubsequences: false).map { step in
      if step == "<" { return .back }
      guard !step.isEmpty, let name = step.removingPercentEncoding else {
        throw LineProblem(description: "the step '\(step)' isn't the percent-encoded name of an article")
      }
      let payload = JSONText.quoted(name)
      guard payload.count <= Value.maximumSize / 2 else {
        throw LineProblem(description: "the name of an article has \(payload.count) bytes")
      }
      return .article(payload)
    }
  }
}
