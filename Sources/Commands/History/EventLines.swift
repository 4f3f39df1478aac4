import NavigationModel
import WireFormat

/// The events of a file of JSON lines from any source, one after the other: an export of devices by any texts, or lines
/// without a header. Those of one stack.
struct EventLines {
  let reader: LineReader
  /// Nil if the file has none, or before its line came.
  private(set) var header: ExportHeader?
  private(set) var trailer: ExportTrailer?
  /// The line that was given last, as it stands there.
  private(set) var bytes: [UInt8] = []
  /// How many were given.
  private(set) var count = 0
  private let chosen: StackName?
  private let otherwise: String
  private var stacks: Set<String> = []

  /// - Parameters:
  ///   - chosen: which stack's lines to take; nil: there must be one only.
  ///   - hint: what a person is told to do if the file is something else.
  init(_ reader: LineReader, stack chosen: StackName?, hint: String = "") {
    otherwise = "; it is neither an export nor JSON lines of events\(hint)"
    self.reader = reader
    self.chosen = chosen
  }

  /// The next event; nil at the file's end. Throws a ``CommandError`` that names the line.
  mutating func next() throws -> EventLine? {
    while let bytes = try reader.next() {
      guard !bytes.isEmpty else { continue }
      switch try parsed(bytes) {
      case .header(let header):
        guard self.header == nil else { throw reader.error("a second header; the file has more than one export in it") }
        self.header = header
        stacks.insert(header.stack)
      case .trailer(let trailer):
        guard trailer.count == count else {
          throw reader.error("the trailer counts \(trailer.count) events, but \(count) are there")
        }
        self.trailer = trailer
      case .chain:
        throw reader.error("copies of histories and unread events stand only in exports, behind a header with ids")
      case .event(let line):
        guard line.chain == nil else {
          throw reader.error("an event of a copied history stands only in an export, behind a header with ids")
        }
        guard trailer == nil else { throw reader.error("an event after the trailer") }
        guard try isWanted(line.stack) else { continue }
        count += 1
        self.bytes = bytes
        return line
      }
    }
    return nil
  }

  private func parsed(_ bytes: [UInt8]) throws -> JSONLine {
    do { return try JSONLine(parsing: bytes) } catch {
      throw reader.error("\(error)\(isAtBeginning ? otherwise : "")", code: error.isNewerFormat ? .refused : .damage)
    }
  }

  /// Whether nothing good was read yet.
  var isAtBeginning: Bool { header == nil && count == 0 }

  private mutating func isWanted(_ stack: String?) throws -> Bool {
    guard let stack else { return true }
    if let chosen { return stack == chosen.description }
    stacks.insert(stack)
    guard stacks.count > 1 else { return true }
    throw CommandError(
      .usage, "\(reader.name) has events of \(stacks.sorted().joined(separator: " and of ")); choose one with --stack")
  }

  /// Whose events they are: the chosen one, or the one that the lines name, if they do. Known at the end.
  func stack() throws -> StackName? {
    if let chosen { return chosen }
    guard let only = stacks.first else { return nil }
    do { return try StackName(only) } catch { throw CommandError(.damage, "\(reader.name): \(error)") }
  }

  /// What the header says, nil if it says nothing.
  func headerPolicy() throws -> PolicyArgument? {
    guard let header else { return nil }
    do { return try PolicyArgument(argument: header.policy) } catch {
      throw CommandError(.damage, "\(reader.name): the header's policy '\(header.policy)' is not one: \(error)")
    }
  }
}
