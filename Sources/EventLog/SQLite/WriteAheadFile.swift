import Glibc

/// What stands in a write-ahead log that a process left behind, read before SQLite does: SQLite takes the commits before
/// the first frame that isn't whole, and drops the rest without a word.
///
/// The form: sqlite.org/fileformat2.html#walformat. A header of 32 bytes, then frames of 24 bytes and a page; each has
/// the header's two salts, which change when the file is begun anew, and a checksum over all before it.
struct WriteAheadFile: Hashable {
  /// Bytes up to the end of the last whole commit.
  var wholeBytes = 0
  /// Bytes of this life of the file after it, which SQLite drops.
  var droppedBytes = 0
  /// Ends of commits among the dropped bytes. One may be a commit that was under way, whose pages came to the disk out
  /// of order. More are damage: a commit is on the disk before the next one begins.
  var droppedCommits = 0

  /// Reads the file; one that isn't there is empty.
  static func examine(_ path: String) throws(LogError) -> WriteAheadFile {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
      if errno == ENOENT { return WriteAheadFile() }
      throw .system(errno, "opening the write-ahead log", path)
    }
    defer { close(descriptor) }
    var examined = WriteAheadFile()
    var header = [UInt8](repeating: 0, count: headerSize)
    guard try read(descriptor, &header, at: 0, path) == headerSize else { return examined }
    var reading = Reading(header)
    var at = headerSize
    var isWhole = reading.isWhole
    var frame = [UInt8](repeating: 0, count: frameHeaderSize + reading.pageSize)
    while true {
      let count = try read(descriptor, &frame, at: at, path)
      guard count >= frameHeaderSize else { break }
      if !reading.isWhole, at == headerSize { reading.takeSalts(of: frame) }
      let isOfThisLife = reading.hasSalts(frame)
      isWhole = isWhole && count == frame.count && isOfThisLife && reading.checks(frame)
      let end = at + count
      let isCommit = word(frame, 4) != 0
      if isWhole, isCommit {
        examined.wholeBytes = end
      } else if !isWhole, isOfThisLife {
        examined.droppedBytes = end - max(examined.wholeBytes, headerSize)
        if isCommit, count == frame.count { examined.droppedCommits += 1 }
      }
      if count < frame.count { break }
      at = end
    }
    if isWhole, at > max(examined.wholeBytes, headerSize) {
      // Whole frames of a commit whose end is missing.
      examined.droppedBytes = at - max(examined.wholeBytes, headerSize)
    }
    return examined
  }

  /// What a page of 4 KiB takes.
  static let bytesAPage = frameHeaderSize + 4096

  private static let headerSize = 32
  private static let frameHeaderSize = 24

  private static func read(
    _ descriptor: Int32, _ bytes: inout [UInt8], at: Int, _ path: String
  ) throws(LogError) -> Int {
    let count = pread(descriptor, &bytes, bytes.count, at)
    guard count >= 0 else { throw .system(errno, "reading the write-ahead log", path) }
    return count
  }

  fileprivate static func word(_ bytes: [UInt8], _ at: Int) -> UInt32 {
    bytes.withUnsafeBytes { UInt32(bigEndian: $0.loadUnaligned(fromByteOffset: at, as: UInt32.self)) }
  }

  /// The running checksum and the salts.
  private struct Reading {
    let isWhole: Bool
    let pageSize: Int
    private let isBigEndian: Bool
    private var salts: (UInt32, UInt32)
    private var sums: (UInt32, UInt32) = (0, 0)

    init(_ header: [UInt8]) {
      let magic = word(header, 0)
      isBigEndian = magic & 1 == 1
      let size = Int(word(header, 8))
      salts = (word(header, 16), word(header, 20))
      let isPossible = (512...65536).contains(size) && size & (size - 1) == 0
      pageSize = isPossible ? size : 4096
      sums = WriteAheadFile.add(header, 0..<24, to: (0, 0), isBigEndian)
      isWhole =
        magic & ~1 == 0x377f_0682 && isPossible && sums == (word(header, 24), word(header, 28))
    }

    /// Where the header is broken, the first frame's salts are taken as those of this life.
    mutating func takeSalts(of frame: [UInt8]) { salts = (word(frame, 8), word(frame, 12)) }

    func hasSalts(_ frame: [UInt8]) -> Bool {
      salts == (word(frame, 8), word(frame, 12)) && word(frame, 0) != 0
    }

    mutating func checks(_ frame: [UInt8]) -> Bool {
      sums = WriteAheadFile.add(frame, 0..<8, to: sums, isBigEndian)
      sums = WriteAheadFile.add(frame, 24..<frame.count, to: sums, isBigEndian)
      return sums == (word(frame, 16), word(frame, 20))
    }
  }

  fileprivate static func add(
    _ bytes: [UInt8], _ range: Range<Int>, to sums: (UInt32, UInt32), _ isBigEndian: Bool
  ) -> (UInt32, UInt32) {
    var sums = sums
    bytes.withUnsafeBytes { bytes in
      var at = range.lowerBound
      while at < range.upperBound {
        let first = bytes.loadUnaligned(fromByteOffset: at, as: UInt32.self)
        let second = bytes.loadUnaligned(fromByteOffset: at + 4, as: UInt32.self)
        sums.0 = sums.0 &+ (isBigEndian ? UInt32(bigEndian: first) : UInt32(littleEndian: first)) &+ sums.1
        sums.1 = sums.1 &+ (isBigEndian ? UInt32(bigEndian: second) : UInt32(littleEndian: second)) &+ sums.0
        at += 8
      }
    }
    return sums
  }
}

private func word(_ bytes: [UInt8], _ at: Int) -> UInt32 { WriteAheadFile.word(bytes, at) }
