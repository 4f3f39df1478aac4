import EventLog
import NavigationModel
import WireFormat

/// One stack on its way into a store or a daemon.
final class ImportedStack {
  let stack: StackName
  let policy: Policy
  /// What devices are called, as far as the source says by now.
  var names: [DeviceID: String] = [:]
  /// With all entries that were given, unless an export's reader has them.
  fileprivate(set) var chains: StackChains
  private let reader: ExportReader?

  init(_ stack: StackName, policy: Policy, reader: ExportReader? = nil) {
    self.stack = stack
    self.policy = policy
    self.reader = reader
    chains = StackChains(stack: stack)
  }

  /// A chain's digest after the entry that was given last.
  func digest(of chain: DeviceID) -> Digest { reader?.chains.digest(of: chain) ?? chains.digest(of: chain) }

  /// Whose history a chain is.
  func author(of chain: DeviceID) -> DeviceID { reader?.chains.author(of: chain) ?? chains.author(of: chain) }

  /// Takes in an event that isn't encoded yet.
  ///
  /// - Parameter source: what a person calls where it comes from.
  func append(_ event: Event, from source: String) throws -> ImportedEntry {
    do {
      let bytes = try chains.append(event)
      return ImportedEntry(dot: event.dot, bytes: bytes, time: event.timestamp.milliseconds)
    } catch { throw CommandError(.damage, "\(source): \(stack), event \(event.dot): \(error)") }
  }

  /// An event's name for people.
  func text(_ dot: Dot) -> String {
    let author = author(of: dot.device)
    let sequence = author == dot.device ? dot.sequence : dot.sequence - StackChains.copyOffset
    return "\(names[author] ?? author.description):\(sequence)"
  }
}

/// An entry of a stack's log, in the order of its source.
struct ImportedEntry {
  /// The device, or the copy of a history, and the number there.
  var dot: Dot
  var bytes: [UInt8]
  /// When it was made, in milliseconds since 1970; nil for what is no event that can be read.
  var time: Int?
}

/// Where entries are imported from. It can be gone through more than once, and is checked on the way.
enum ImportSource {
  case export(ExportFile)
  case sessions(RereadableInput)
  case store(any EventLogReader, path: String, [StackName])

  var name: String {
    switch self {
    case .export(let file): file.input.name
    case .sessions(let input): input.name
    case .store(_, let path, _): path
    }
  }

  /// Gives every entry, with the stack's chains as they are right after it.
  ///
  /// - Throws: a ``CommandError`` that names the place; what was given before it is good.
  func forEach(
    tell: (String) -> Void = { _ in }, _ body: (ImportedStack, ImportedEntry) async throws -> Void
  ) async throws {
    switch self {
    case .export(let file):
      let reader = try file.reader()
      let imported = ImportedStack(file.stack, policy: file.policy, reader: reader)
      imported.names = file.names.all
      while let entry = try reader.next() {
        try await body(
          imported,
          ImportedEntry(
            dot: Dot(entry.chain, entry.sequence), bytes: entry.bytes, time: entry.event?.timestamp.milliseconds))
      }
    case .sessions(let input):
      var reader = WikispeediaReader(try input.lines())
      var stacks: [StackName: ImportedStack] = [:]
      var skipped = 0
      while let session = try reader.next() {
        skipped += session.skippedBacks
        let imported = stacks[session.stack] ?? ImportedStack(session.stack, policy: .merge)
        stacks[session.stack] = imported
        imported.names[session.device] = session.deviceName
        for event in session.events { try await body(imported, try imported.append(event, from: input.name)) }
      }
      if skipped > 0 { tell("\(skipped) back clicks at the root were left out") }
    case .store(let reader, _, let stacks):
      for stack in stacks { try await forEach(of: stack, in: reader, body) }
    }
  }

  private func forEach(
    of stack: StackName, in reader: any EventLogReader, _ body: (ImportedStack, ImportedEntry) async throws -> Void
  ) async throws {
    do {
      guard let info = try reader.info(of: stack) else { return }
      let imported = ImportedStack(stack, policy: info.policy)
      imported.names = try deviceNames(in: reader).all
      var offset = 0
      while offset < info.head {
        let batches = try reader.read(stack, after: offset, maximumBytes: 1 << 20)
        guard !batches.isEmpty else { return }
        for batch in batches {
          var records: [EventBatch.Record] = []
          batch.batch.forEach { records.append($0) }
          for (place, record) in records.enumerated() {
            let bytes = Array(batch.batch.bytes[record.range])
            let event: Event?
            do { event = try imported.chains.receive(record.dot, bytes) } catch {
              throw CommandError(.damage, "\(name): \(stack), event \(batch.firstOffset + place): \(error)")
            }
            try await body(
              imported, ImportedEntry(dot: record.dot, bytes: bytes, time: event?.timestamp.milliseconds))
          }
          offset = batch.firstOffset + batch.batch.count - 1
        }
      }
    } catch let error as LogError { throw commandError(error) }
  }
}
