import CZlib
import Foundation
import NavigationModel
import WireFormat

/// The lines of a file, or of the input for `-`; a gzip-compressed one is unpacked on the way, whatever it is called, and a
/// binary export gives the lines that it stands for.
///
/// Reads as it goes, and holds no more than a line and a block. Not for use from two tasks at once.
package final class LineReader {
  /// The longest line, in bytes, unless told otherwise.
  package static let maximumLineLength = 16 << 20

  /// As the person named it; `the standard input` for `-`.
  package let name: String
  /// The number of the line that ``next()`` gave last, from 1 on.
  package private(set) var lineNumber = 0

  private let descriptor: Int32
  private let ownsDescriptor: Bool
  private let maximumLength: Int
  private var gunzip: Gunzip?
  private var isAtEnd = false
  private var bytes: [UInt8] = []
  private var start = 0
  private var binary: BinaryLines?

  /// Opens a file. Throws a ``CommandError``.
  package init(path: String, on console: Console, maximumLineLength: Int = maximumLineLength) throws {
    maximumLength = maximumLineLength
    if path == "-" {
      name = "the standard input"
      descriptor = console.input
      ownsDescriptor = false
    } else {
      name = path
      descriptor = open(path, O_RDONLY | O_CLOEXEC)
      ownsDescriptor = true
      guard descriptor >= 0 else {
        throw CommandError(.ofSystem(errno), "can't open '\(path)': \(systemMessage())")
      }
    }
    try begin()
  }

  /// Reads a descriptor from its beginning; it stays the caller's.
  init(descriptor: Int32, name: String) throws {
    self.name = name
    self.descriptor = descriptor
    ownsDescriptor = false
    maximumLength = Self.maximumLineLength
    guard lseek(descriptor, 0, SEEK_SET) == 0 else {
      throw CommandError(.failed, "\(name) can't be read again: \(systemMessage())")
    }
    try begin()
  }

  private func begin() throws {
    // The two bytes that begin every gzip member: RFC 1952, 2.3.1.
    while bytes.count < 2, !isAtEnd { try readBlock() }
    if bytes.starts(with: [0x1F, 0x8B]) {
      let gunzip = Gunzip()
      bytes = try unpack(bytes, gunzip)
      self.gunzip = gunzip
    }
    try readMagic()
  }

  deinit {
    if ownsDescriptor { close(descriptor) }
  }

  /// The next line without its line break (`\n` or `\r\n`), or nil at the end. Throws a ``CommandError``.
  package func next() throws -> [UInt8]? {
    if binary != nil { return try nextOfBinary() }
    var searched = start
    while true {
      if let end = bytes[searched...].firstIndex(of: UInt8(ascii: "\n")) {
        defer { start = end + 1 }
        return try take(start..<end)
      }
      searched = bytes.count
      guard searched - start <= maximumLength else { throw tooLong() }
      if isAtEnd {
        defer { start = searched }
        return start == searched ? nil : try take(start..<searched)
      }
      if start > 0 {
        bytes.removeSubrange(..<start)
        searched -= start
        start = 0
      }
      try readBlock()
    }
  }

  /// An error about the line that was given last: what is wrong with it, in words that follow a colon.
  package func error(_ message: String, code: ExitCode = .damage) -> CommandError {
    CommandError(code, "\(name), line \(lineNumber): \(message)")
  }

  // MARK: Binary exports

  private func readMagic() throws {
    let magic = BinaryExport.magic
    while bytes.first == magic[0], bytes.count < magic.count, !isAtEnd { try readBlock() }
    guard bytes.starts(with: magic.dropLast()) else { return }
    guard bytes.count >= magic.count, bytes[BinaryExport.versionPlace] <= magic[BinaryExport.versionPlace] else {
      throw CommandError(
        .refused, "\(name) is a binary export of version \(bytes.last ?? 0), which needs a newer navsync")
    }
    start = magic.count
    binary = BinaryLines()
  }

  /// Whether it is a binary export.
  var isBinary: Bool { binary != nil }

  /// The next block of a binary export, its checksum compared; nil at the end. Not to be mixed with ``next()``.
  func nextBlock() throws -> (kind: BinaryExport.Kind, content: [UInt8])? {
    binary?.begin()
    guard let prefix = try take(count: BinaryExport.prefixSize) else {
      guard bytes.count == start else { throw blockError("it is cut") }
      return nil
    }
    guard let (kind, length) = BinaryExport.prefix(prefix) else { throw blockError("this is no block") }
    guard let content = try take(count: length), let checksum = try take(count: BinaryExport.checksumSize) else {
      throw blockError("it is cut")
    }
    guard BinaryExport.isWhole(kind, content, checksum: checksum, number: binary?.block.number ?? 0) else {
      throw blockError("its checksum is another")
    }
    binary?.pass(content.count)
    return (kind, content)
  }

  /// An error about the block that was begun last, or about the line that was given last.
  func placeError(_ message: String) -> CommandError { isBinary ? blockError(message) : error(message) }

  private func blockError(_ problem: String) -> CommandError {
    CommandError(
      .damage,
      "\(name), block \(binary?.block.number ?? 0) from byte \(binary?.block.offset ?? 0) on: \(problem); "
        + "what stands before is good"
    )
  }

  private func nextOfBinary() throws -> [UInt8]? {
    while let waiting = binary?.waiting, waiting.isEmpty {
      guard let (kind, content) = try nextBlock() else { return nil }
      do { try binary?.take(kind, content) } catch { throw blockError("\(error)") }
    }
    lineNumber += 1
    return binary?.waiting.popFirst()
  }

  /// Just so many bytes, nil if the file ends before.
  private func take(count: Int) throws -> [UInt8]? {
    while bytes.count - start < count, !isAtEnd {
      bytes.removeSubrange(..<start)
      start = 0
      try readBlock()
    }
    guard bytes.count - start >= count else { return nil }
    defer { start += count }
    return Array(bytes[start..<start + count])
  }

  private func take(_ range: Range<Int>) throws -> [UInt8] {
    guard range.count <= maximumLength else { throw tooLong() }
    lineNumber += 1
    let line = bytes[range]
    return Array(line.last == UInt8(ascii: "\r") ? line.dropLast() : line)
  }

  private func tooLong() -> CommandError {
    CommandError(
      .damage, "\(name), line \(lineNumber + 1): longer than \(humanSize(maximumLength)); this isn't such a file")
  }

  private func readBlock() throws {
    var count = 0
    let size = 64 << 10
    var failure: Int32 = 0
    let block = [UInt8](unsafeUninitializedCapacity: size) { buffer, filled in
      repeat { count = read(descriptor, buffer.baseAddress, size) } while count < 0 && errno == EINTR
      failure = errno
      filled = max(0, count)
    }
    guard count >= 0 else {
      throw CommandError(.failed, "reading \(name) failed: \(systemMessage(failure))")
    }
    isAtEnd = count == 0
    if let gunzip {
      if isAtEnd, !gunzip.isBetweenMembers {
        throw CommandError(.damage, "\(name): the gzip data ends too early; the file is cut")
      }
      bytes += try unpack(block, gunzip)
    } else {
      bytes += block
    }
  }

  private func unpack(_ block: [UInt8], _ gunzip: Gunzip) throws -> [UInt8] {
    guard let result = gunzip.unpack(block) else {
      throw CommandError(.damage, "\(name): the gzip data is damaged after line \(lineNumber)")
    }
    return result
  }
}

/// A binary export on its way to lines.
private struct BinaryLines {
  var waiting: ArraySlice<[UInt8]> = []
  /// The one that was begun last.
  private(set) var block = Block()
  /// The one behind all that were read.
  private var next = Block()
  private var chains: StackChains?

  /// The place of a block.
  struct Block {
    /// From 0 on.
    var number = 0
    /// Of its first byte in the export.
    var offset = BinaryExport.magic.count
  }

  mutating func take(_ kind: BinaryExport.Kind, _ content: [UInt8]) throws {
    switch kind {
    case .header, .trailer:
      if kind == .header, case .header(let header) = try JSONLine(parsing: content) {
        chains = StackChains(stack: try StackName(header.stack))
      }
      waiting = [content]
    case .events:
      guard let chains else { throw CommandError(.damage, "events without a header before them") }
      var held = chains
      self.chains = nil
      let batch = try EventBatch(bytes: content)
      var lines: [[UInt8]] = []
      lines.reserveCapacity(batch.count)
      try batch.forEach { record in
        let previous = held.digest(of: record.dot.device)
        guard let event = try held.receive(record.dot.device, record.dot.sequence, content, in: record.range) else {
          throw CommandError(.damage, "the event \(record.dot) needs a newer navsync")
        }
        lines.append(JSONLines.line(event, stack: held.stack.description, previous: previous))
      }
      self.chains = held
      waiting = lines[...]
    }
  }

  /// The next block is read.
  mutating func begin() { block = next }

  /// The block that was begun was read, so much of content.
  mutating func pass(_ length: Int) {
    next.number += 1
    next.offset += BinaryExport.prefixSize + length + BinaryExport.checksumSize
  }
}

/// Owner of a zlib stream that unpacks gzip members, one after the other.
private final class Gunzip {
  /// On the heap because zlib keeps its address.
  private let stream: UnsafeMutablePointer<z_stream>
  /// Whether the data may end here.
  private(set) var isBetweenMembers = true

  init() {
    stream = .allocate(capacity: 1)
    stream.initialize(to: z_stream())
    let code = navsync_inflate_gzip_init(stream)
    precondition(code == Z_OK, "zlib gives no stream: code \(code)")
  }

  deinit {
    inflateEnd(stream)
    stream.deallocate()
  }

  /// What a block unpacks to, or nil for damaged data.
  func unpack(_ block: [UInt8]) -> [UInt8]? {
    var result: [UInt8] = []
    var input = block
    var isDamaged = false
    input.withUnsafeMutableBufferPointer { input in
      stream.pointee.next_in = input.baseAddress
      stream.pointee.avail_in = UInt32(input.count)
      var hasMore = input.count > 0
      while hasMore, !isDamaged {
        if isBetweenMembers { inflateReset(stream) }
        let size = 256 << 10
        var code = Z_OK
        result += [UInt8](unsafeUninitializedCapacity: size) { buffer, filled in
          stream.pointee.next_out = buffer.baseAddress
          stream.pointee.avail_out = UInt32(size)
          code = inflate(stream, Z_NO_FLUSH)
          filled = size - Int(stream.pointee.avail_out)
        }
        isDamaged = code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR
        isBetweenMembers = code == Z_STREAM_END
        // A full output may hide more that zlib still holds.
        hasMore = stream.pointee.avail_in > 0 || (code == Z_OK && stream.pointee.avail_out == 0)
      }
    }
    return isDamaged ? nil : result
  }
}
