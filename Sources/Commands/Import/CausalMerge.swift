import NavigationModel
import WireFormat

/// Merges devices' sorted lines into an order of causality. Of what may come next the first in the file comes, so lines
/// in such an order keep it.
///
/// Every event's context counts with those of its author's events before it. An event that is there more than once is
/// given once.
struct CausalMerge {
  /// Of what was given.
  private(set) var chains: StackChains
  private let name: String
  private var authors: [Author]
  private var ready = Heap<Ready>()
  /// The authors whose next event rests on one of that device's that wasn't given yet, by the sequence that it waits for.
  private var waiting: [DeviceID: [(sequence: Int, author: Int)]] = [:]

  private struct Author {
    var lines: SortedLines
    var next: Read?
    /// The one that was given last.
    var last: Read?
  }

  private struct Read {
    /// As the line has it.
    var event: Event
    var number: Int
    /// The digest before the event: what the line says, or of a given event what it is.
    var previous: Digest?
  }

  private struct Ready: Comparable {
    var number: Int
    var author: Int

    static func < (left: Ready, right: Ready) -> Bool { left.number < right.number }
  }

  /// - Parameters:
  ///   - lines: of each device.
  ///   - name: what a person calls the file.
  init(of lines: [SortedLines], _ stack: StackName, named name: String) throws {
    self.name = name
    chains = StackChains(stack: stack)
    authors = lines.map { Author(lines: $0) }
    for author in authors.indices { try advance(author) }
  }

  /// The next event, and its canonical bytes; nil at the end. Throws a ``CommandError`` that names the line.
  mutating func next() throws -> (event: Event, bytes: [UInt8])? {
    guard let place = ready.removeFirst()?.author, var read = authors[place].next else {
      let stuck = authors.compactMap(\.next).min { $0.number < $1.number }
      if let stuck { throw error(stuck, "the event \(stuck.event.dot) needs others that are not in the file") }
      return nil
    }
    let dot = read.event.dot
    let digest = chains.digest(of: dot.device)
    if let previous = read.previous, previous != digest {
      throw error(
        read,
        "the digest before \(dot) is another one: an event before it was changed, or this one is forged")
    }
    var event = read.event
    event.context = contextNow(of: event)
    let bytes: [UInt8]
    do { bytes = try chains.append(event) } catch let fault { throw error(read, "\(dot): \(fault)") }
    read.previous = digest
    authors[place].last = read
    try advance(place)
    wake(dot)
    return (event, bytes)
  }

  /// Reads an author's next event, and passes over copies of the last one.
  private mutating func advance(_ place: Int) throws {
    while let line = try authors[place].lines.next() {
      let read = try self.read(line)
      let last = authors[place].last
      if let last, last.event.dot == read.event.dot {
        guard last.event == read.event, read.previous == nil || read.previous == last.previous else {
          throw error(read, "another event than in line \(last.number) is called \(read.event.dot)")
        }
        continue
      }
      guard read.event.dot.sequence == (last?.event.dot.sequence ?? 0) + 1 else {
        throw error(read, "the event \(read.event.dot) needs others that are not in the file")
      }
      authors[place].next = read
      queue(place, read)
      return
    }
    authors[place].next = nil
  }

  private func read(_ line: SortedLine) throws -> Read {
    do {
      guard case .event(let parsed) = try JSONLine(parsing: line.bytes) else {
        preconditionFailure("only events are sorted")
      }
      return Read(
        event: try parsed.event { DeviceID($0) }, number: line.key.number, previous: parsed.previous)
    } catch {
      throw CommandError(.damage, "\(name), line \(line.key.number): \(error)")
    }
  }

  /// Puts an author's next event among those that may come, or among those that wait.
  private mutating func queue(_ place: Int, _ read: Read) {
    let lacking = read.event.context.elements.first { chains.vector[$0.device] < $0.sequence }
    guard let lacking else { return ready.insert(Ready(number: read.number, author: place)) }
    waiting[lacking.device, default: []].append((lacking.sequence, place))
  }

  private mutating func wake(_ dot: Dot) {
    guard let waiters = waiting[dot.device], waiters.contains(where: { $0.sequence <= dot.sequence }) else { return }
    waiting[dot.device] = waiters.filter { $0.sequence > dot.sequence }
    for (sequence, author) in waiters where sequence <= dot.sequence {
      if let read = authors[author].next { queue(author, read) }
    }
  }

  private func contextNow(of event: Event) -> VersionVector {
    let before = chains.authorState(of: event.dot.device).context
    guard !event.context.covers(before) else { return event.context }
    var context = event.context
    context.join(before)
    return context
  }

  private func error(_ read: Read, _ problem: String) -> CommandError {
    CommandError(.damage, "\(name), line \(read.number): \(problem)")
  }
}
