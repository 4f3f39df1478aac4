import CSodium
import Glibc
import Locking
import NavigationModel

/// The file of heads: outside the database, a witness of the newest batch that was acknowledged. An opened database that
/// lacks that batch went backwards, whatever SQLite says of it.
///
/// Two places of 512 bytes, written in turn, so that one is whole if writing the other was cut. Text, for people.
final class HeadsFile: Sendable {
  struct Content: Hashable, Sendable {
    var epoch: UInt64
    /// Counts the writings of the file.
    var number = 0
    /// Nil before the first batch.
    var newest: Writer.Newest?
  }

  private struct State: Sendable {
    var descriptor: Int32
    var content: Content
    /// Whether the content is in the file.
    var isWritten = true
  }

  private static let size = 512
  private let path: String
  private let state: Locked<State>

  /// What the file says, nil if it isn't there or nothing in it is whole.
  static func read(_ path: String) throws(LogError) -> Content? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
      if errno == ENOENT { return nil }
      throw .system(errno, "opening the file of heads", path)
    }
    defer { Glibc.close(descriptor) }
    var newest: Content?
    for place in 0..<2 {
      var bytes = [UInt8](repeating: 0, count: size)
      let count = pread(descriptor, &bytes, size, place * size)
      guard count >= 0 else { throw .system(errno, "reading the file of heads", path) }
      if count == size, let content = decode(bytes), content.number >= newest?.number ?? 0 { newest = content }
    }
    return newest
  }

  /// Writes a content anew and syncs it.
  init(_ path: String, _ content: Content) throws(LogError) {
    let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw .system(errno, "opening the file of heads", path) }
    self.path = path
    state = Locked(State(descriptor: descriptor, content: content))
    // Both places, so that nothing of what stood there before is left.
    for _ in 0..<2 {
      note(content.newest)
      try sync()
    }
  }

  deinit { state.withLock { if $0.descriptor >= 0 { Glibc.close($0.descriptor) } } }

  /// Bears witness of a batch that is on the disk, from the next ``sync()`` on. No call of the system: every commit would
  /// wait for it, and before it is synced the file proves nothing that the database doesn't.
  func note(_ newest: Writer.Newest?) {
    state.withLock { state in
      state.content.newest = newest
      state.isWritten = false
    }
  }

  /// Puts the newest that was noted on the disk.
  func sync() throws(LogError) {
    try state.withLock { (state: inout State) throws(LogError) in
      guard state.descriptor >= 0, !state.isWritten else { return }
      state.content.number += 1
      let bytes = HeadsFile.encode(state.content)
      let at = state.content.number % 2 * HeadsFile.size
      guard pwrite(state.descriptor, bytes, bytes.count, at) == bytes.count else {
        throw .system(errno, "writing the file of heads", path)
      }
      guard fdatasync(state.descriptor) == 0 else { throw .system(errno, "syncing the file of heads", path) }
      state.isWritten = true
    }
  }

  func close() throws(LogError) {
    try sync()
    state.withLock { state in
      if state.descriptor >= 0 { Glibc.close(state.descriptor) }
      state.descriptor = -1
    }
  }

  private static func encode(_ content: Content) -> [UInt8] {
    var text = "navsync heads 1\nnumber \(content.number)\nepoch \(content.epoch)\n"
    if let newest = content.newest {
      text += "stack \(newest.stack)\noffset \(newest.firstOffset)\nchecksum \(newest.checksum)\n"
    }
    var bytes = Array(text.utf8)
    bytes.append(contentsOf: repeatElement(0, count: size - 16 - bytes.count))
    bytes.append(contentsOf: Array(String(sum(bytes), radix: 16).utf8.prefix(16)))
    bytes.append(contentsOf: repeatElement(0, count: size - bytes.count))
    return bytes
  }

  private static func decode(_ bytes: [UInt8]) -> Content? {
    guard let end = bytes.firstIndex(of: 0), end <= size - 16 else { return nil }
    let stated = String(decoding: bytes[(size - 16)...].prefix { $0 != 0 }, as: UTF8.self)
    guard stated == String(sum(Array(bytes[..<(size - 16)])), radix: 16) else { return nil }
    var lines: [Substring: Substring] = [:]
    for line in String(decoding: bytes[..<end], as: UTF8.self).split(separator: "\n") {
      guard let space = line.lastIndex(of: " ") else { return nil }
      lines[line[..<space]] = line[line.index(after: space)...]
    }
    guard lines["navsync heads"] == "1", let number = lines["number"].flatMap({ Int($0) }),
      let epoch = lines["epoch"].flatMap({ UInt64($0) })
    else { return nil }
    var content = Content(epoch: epoch, number: number)
    if let stack = lines["stack"] {
      guard let stack = try? StackName(stack), let offset = lines["offset"].flatMap({ Int($0) }),
        let checksum = lines["checksum"].flatMap({ Int($0) })
      else { return nil }
      content.newest = Writer.Newest(stack: stack, firstOffset: offset, checksum: checksum)
    }
    return content
  }

  private static func sum(_ bytes: [UInt8]) -> UInt64 {
    UInt64(bitPattern: Int64(checksum(of: bytes, at: Place(rawValue: 0), storedAt: 0)))
  }
}
