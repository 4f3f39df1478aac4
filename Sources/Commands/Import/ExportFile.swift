import Foundation
package import NavigationModel
package import WireFormat

/// An export of either form, as `navsync export` writes it: a header, entries in log order, a trailer.
struct ExportFile {
  let input: RereadableInput
  let header: ExportHeader
  let stack: StackName
  let policy: Policy
  let names: DeviceNames
  /// Whether somebody named the stack: lines of others are passed over then.
  fileprivate let isChosen: Bool

  /// What was put into this form by this program.
  init(_ input: RereadableInput, _ header: ExportHeader, of stack: StackName, _ policy: Policy, _ names: DeviceNames) {
    self.input = input
    self.header = header
    self.stack = stack
    self.policy = policy
    self.names = names
    isChosen = false
  }

  /// Nil if the file doesn't begin as such an export: its lines may then be of any source.
  ///
  /// - Parameter chosen: which stack is wanted, nil for the file's own; nil, too, if its header is another's.
  init?(_ input: RereadableInput, stack chosen: StackName?) throws {
    let lines = try input.lines()
    guard let header = try Self.header(lines) else { return nil }
    guard let stack = try? StackName(header.stack), let policy = Policy(header.policy),
      header.devices.allSatisfy({ DeviceID($0.id) != nil }), chosen == nil || chosen == stack
    else { return nil }
    // Devices by other texts than ids have no digests.
    if !lines.isBinary, let next = try? lines.next(), case .event(let event)? = try? JSONLine(parsing: next) {
      guard event.devices.allSatisfy({ DeviceID($0) != nil }) else { return nil }
    }
    self.input = input
    self.header = header
    self.stack = stack
    isChosen = chosen != nil
    self.policy = policy
    var names = DeviceNames()
    for device in header.devices { if let id = DeviceID(device.id) { names.note(device.name, of: id) } }
    self.names = names
  }

  private static func header(_ lines: LineReader) throws -> ExportHeader? {
    let first: [UInt8]
    if lines.isBinary {
      guard let (kind, content) = try lines.nextBlock(), kind == .header else {
        throw lines.placeError("an export begins with its header")
      }
      first = content
    } else {
      var line = try lines.next()
      while line?.isEmpty == true { line = try lines.next() }
      guard let line else { return nil }
      first = line
    }
    do {
      guard case .header(let header) = try JSONLine(parsing: first) else { return nil }
      return header
    } catch {
      // Lines of any source may begin with a bad one: who reads those says so.
      guard error.isNewerFormat else { return nil }
      throw CommandError(.refused, "\(lines.name): \(error)")
    }
  }

  /// Its entries, from the first on.
  func reader() throws -> ExportReader { try ExportReader(self) }
}

/// The entries of the export on a console's input as far as they are good, and what the chains come to; for the fuzzer.
/// Nil if the input isn't one.
package func entries(
  on console: Console
) throws -> (stack: StackName, entries: [(Dot, [UInt8])], heads: [DeviceHead])? {
  guard let file = try ExportFile(try RereadableInput(path: "-", on: console), stack: nil) else { return nil }
  let reader = try file.reader()
  var entries: [(Dot, [UInt8])] = []
  do {
    while let entry = try reader.next() { entries.append((Dot(entry.chain, entry.sequence), entry.bytes)) }
  } catch is CommandError {}
  return (file.stack, entries, Array(entries.isEmpty ? [] : reader.chains.heads))
}

/// The entries of an export in its order, each checked against those before it, and the trailer against them all.
///
/// Holds a block and what the chains need, however long the export is.
final class ExportReader {
  struct Entry {
    var chain: DeviceID
    var sequence: Int
    var bytes: [UInt8]
    /// Nil for what is no event that can be read.
    var event: Event?
  }

  /// With all entries that were given.
  private(set) var chains: StackChains
  /// How many entries were given.
  private(set) var count = 0
  private let file: ExportFile
  private let lines: LineReader
  /// A block's, taken in one by one: the chains are as they are right after what was given last.
  private var waiting: ArraySlice<(dot: Dot, bytes: [UInt8])> = []
  private var hasHeader = false
  private var isWhole = false

  fileprivate init(_ file: ExportFile) throws {
    self.file = file
    lines = try file.input.lines()
    chains = StackChains(stack: file.stack)
  }

  /// The next entry, nil behind the trailer. Throws a ``CommandError`` that names the line or block; what was given
  /// before it is good.
  func next() throws -> Entry? {
    while true {
      if let entry = waiting.popFirst() { return try give(receive(entry.dot.device, entry.dot.sequence, entry.bytes)) }
      if lines.isBinary {
        guard let (kind, content) = try lines.nextBlock() else { return try end() }
        switch kind {
        case .header, .trailer: _ = try take(content)
        case .events: try take(batch: content)
        }
      } else {
        guard let line = try lines.next() else { return try end() }
        if !line.isEmpty, let entry = try take(line) { return give(entry) }
      }
    }
  }

  private func give(_ entry: Entry) -> Entry {
    count += 1
    return entry
  }

  private func end() throws -> Entry? {
    guard isWhole else {
      let place = lines.isBinary ? "" : " after line \(lines.lineNumber)"
      throw CommandError(
        .damage, "\(lines.name) ends\(place) without its trailer: it was cut; what stands before the cut is good")
    }
    return nil
  }

  private func take(batch content: [UInt8]) throws {
    guard !isWhole else { throw lines.placeError("an event after the trailer") }
    do {
      try EventBatch(bytes: content).forEach { waiting.append(($0.dot, Array(content[$0.range]))) }
    } catch { throw lines.placeError("\(error)") }
  }

  private func receive(_ chain: DeviceID, _ sequence: Int, _ bytes: [UInt8]) throws -> Entry {
    do {
      let event = try chains.receive(chain, sequence, bytes, in: 0..<bytes.count)
      return Entry(chain: chain, sequence: sequence, bytes: bytes, event: event)
    } catch { throw lines.placeError("\(name(chain)):\(sequence): \(error)") }
  }

  private func name(_ chain: DeviceID) -> String { file.names.text(chains.author(of: chain)) }

  /// Takes in a line; gives the entry that it has.
  private func take(_ line: [UInt8]) throws -> Entry? {
    let parsed: JSONLine
    do { parsed = try JSONLine(parsing: line) } catch {
      throw CommandError(error.isNewerFormat ? .refused : .damage, lines.placeError("\(error)").message)
    }
    switch parsed {
    case .header:
      guard !hasHeader else { throw lines.placeError("a second header; the file has more than one export in it") }
      hasHeader = true
      return nil
    case .event(let line): return try isWanted(line.stack) ? entry(of: line) : nil
    case .chain(let line): return try isWanted(line.stack) ? entry(of: line) : nil
    case .trailer(let trailer):
      try take(trailer)
      return nil
    }
  }

  /// Whether a line is the stack's. Another's needs a choice.
  private func isWanted(_ stack: String?) throws -> Bool {
    guard !isWhole else { throw lines.placeError("an event after the trailer") }
    guard let stack, stack != file.header.stack else { return true }
    guard !file.isChosen else { return false }
    throw CommandError(
      .usage, "\(lines.name) has events of \(file.header.stack) and of \(stack); choose one with --stack")
  }

  private func entry(of line: EventLine) throws -> Entry {
    let event: Event
    do { event = try line.event { DeviceID($0) } } catch { throw lines.placeError("\(error)") }
    var chain = event.dot.device
    if let text = line.chain {
      guard let id = DeviceID(text), chains.author(of: id) == chain else {
        throw lines.placeError("the chain \(text) is not a copy of a history of \(line.device)")
      }
      chain = id
    }
    let place = "\(name(chain)):\(event.dot.sequence)"
    let sequence = event.dot.sequence + (line.chain == nil ? 0 : StackChains.copyOffset)
    if sequence == chains.vector[chain] + 1, let previous = line.previous, previous != chains.history(of: chain) {
      throw lines.placeError(
        "the digest before \(place) is another one: an event before it was changed, or this one is forged")
    }
    do {
      if line.chain == nil, !chains.retired.contains(chain) {
        return Entry(chain: chain, sequence: sequence, bytes: try chains.append(event), event: event)
      }
      var state = chains.authorState(of: chain)
      let bytes: [UInt8]
      do { bytes = try EventCodec.encode(event, after: &state) } catch { throw ChainFault.unwritable(error) }
      return try receive(chain, sequence, bytes)
    } catch let fault as ChainFault { throw lines.placeError("\(place): \(fault)") }
  }

  private func entry(of line: ChainLine) throws -> Entry {
    guard let chain = DeviceID(line.chain) else { throw lines.placeError("'\(line.chain)' is not a chain's id") }
    switch line.entry {
    case .unread(let sequence, let bytes): return try receive(chain, sequence, bytes)
    case .fork(let text, let sequence, let digest):
      guard let device = DeviceID(text) else { throw lines.placeError("'\(text)' is not a device id") }
      let fork = Fork(device: device, sequence: sequence, digest: digest)
      guard fork.id == chain else { throw lines.placeError("the chain of this copy is \(fork.id), not \(chain)") }
      return try receive(chain, 1, fork.bytes)
    }
  }

  private func take(_ trailer: ExportTrailer) throws {
    guard !isWhole else { throw lines.placeError("a second trailer") }
    guard trailer.count == count else {
      throw lines.placeError("the trailer counts \(trailer.count) events, but \(count) are there")
    }
    if let wrong = chains.wrongHead(in: trailer) {
      throw lines.placeError("the trailer's head of \(wrong.device) is not what the events come to")
    }
    isWhole = true
  }
}

extension StackChains {
  /// The first head of a trailer that is not what the chains come to.
  func wrongHead(in trailer: ExportTrailer) -> ExportTrailer.Head? {
    trailer.heads.first { head in
      guard let chain = DeviceID(head.device) else { return true }
      return vector[chain] != head.sequence || digest(of: chain) != head.digest
    }
  }
}
