import CSodium
public import NavigationModel

/// The rolling BLAKE2b-128 digest of one device's chain in one stack: over the stack's name, the device's id and the
/// canonical events, each of them and the name with its length before it.
///
/// Every ``interval`` events the hash is closed and the next events start from its result, so hashing can be taken up
/// again from the last closed digest and the events since. A value of about 400 bytes; a copy is independent.
public struct ChainDigest: Sendable {
  /// Events from one closed digest to the next.
  public static let interval = 64

  /// How many events are in.
  public private(set) var sequence: Int
  /// The digest at the last multiple of ``interval``; empty before the first.
  public private(set) var closed: Digest
  private var state: HashState

  /// Before the device's first event.
  public init(stack: StackName, device: DeviceID) {
    sequence = 0
    closed = .empty
    state = HashState()
    let name = stack.description
    var start: [UInt8] = []
    start.append(number: name.utf8.count)
    start.append(contentsOf: name.utf8)
    start.append(word: device.high)
    start.append(word: device.low)
    state.update(start, in: 0..<start.count)
  }

  /// Takes hashing up again.
  ///
  /// - Parameters:
  ///   - sequence: a multiple of ``interval``, at least one of it. The events from the one after it on are appended next.
  ///   - closed: the chain's digest there.
  public init(from closed: Digest, at sequence: Int) {
    precondition(sequence > 0 && sequence % Self.interval == 0, "no digest is closed at \(sequence)")
    self.sequence = sequence
    self.closed = closed
    state = HashState(from: closed)
  }

  /// The chain's digest as it is now. Costs a copy and a block of hashing unless it was just closed.
  public var digest: Digest {
    sequence % Self.interval == 0 ? closed : state.result
  }

  /// Takes the next event in.
  public mutating func append(_ event: [UInt8]) { append(event, in: 0..<event.count) }

  /// Takes the next event in: the one in this range of the bytes.
  public mutating func append(_ bytes: [UInt8], in range: Range<Int>) {
    state.update(bytes, in: range, withLength: true)
    sequence += 1
    if sequence % Self.interval == 0 {
      closed = state.result
      state = HashState(from: closed)
    }
  }
}

extension ChainDigest: Hashable {
  public static func == (left: ChainDigest, right: ChainDigest) -> Bool {
    left.sequence == right.sequence && left.digest == right.digest
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(sequence)
    hasher.combine(digest)
  }
}

/// libsodium's `crypto_generichash_state`, which Swift doesn't import because it is aligned to 64 bytes. A value, so it
/// can lie anywhere; each use copies it to aligned memory and back, which costs less than a block of hashing.
private struct HashState: Sendable {
  /// `crypto_generichash_statebytes()` is 384 in every version of libsodium since 1.0.
  private var words = InlineArray<48, UInt64>(repeating: 0)
  /// Bytes not yet hashed: small events go into the hash several at a time.
  private var waiting: [UInt8] = []

  private static let size = 384
  /// So many bytes are hashed at once; two blocks of BLAKE2b.
  private static let waitingLimit = 256
  private static let resultSize = 16

  /// Lets libsodium choose the fastest code for this processor; hashing works before it, too.
  private static let isReady: Bool = {
    precondition(crypto_generichash_statebytes() == size, "libsodium's hash state has another size than 384 bytes")
    return sodium_init() >= 0
  }()

  init() {
    _ = Self.isReady
    withAligned { state in
      let result = unsafe crypto_generichash_init(state, nil, 0, Self.resultSize)
      precondition(result == 0, "libsodium can't start a hash")
    }
  }

  /// Starts from a closed digest.
  init(from digest: Digest) {
    self.init()
    var start: [UInt8] = []
    start.reserveCapacity(Self.resultSize)
    start.append(word: digest.high)
    start.append(word: digest.low)
    update(start, in: 0..<start.count)
  }

  /// Hashes a range of bytes, after its length as a varint if wanted.
  mutating func update(_ bytes: [UInt8], in range: Range<Int>, withLength: Bool = false) {
    if withLength { waiting.append(number: range.count) }
    waiting.append(contentsOf: bytes[range])
    if waiting.count >= Self.waitingLimit { hashWaiting() }
  }

  private mutating func hashWaiting() {
    var bytes: [UInt8] = []
    swap(&bytes, &waiting)
    withAligned { state in
      unsafe bytes.withUnsafeBufferPointer {
        _ = unsafe crypto_generichash_update(state, $0.baseAddress, UInt64($0.count))
      }
    }
    // The room is used again, but that of a large event isn't kept.
    bytes.removeAll(keepingCapacity: bytes.capacity <= 16 * Self.waitingLimit)
    swap(&bytes, &waiting)
  }

  /// The hash of all that was taken in; the state stays as it is.
  var result: Digest {
    var copy = self
    copy.hashWaiting()
    var bytes = InlineArray<16, UInt8>(repeating: 0)
    copy.withAligned { state in
      unsafe withUnsafeMutableBytes(of: &bytes) {
        _ = unsafe crypto_generichash_final(
          state, $0.baseAddress!.assumingMemoryBound(to: UInt8.self), Self.resultSize)
      }
    }
    var halves: (UInt64, UInt64) = (0, 0)
    for place in 0..<8 {
      halves.0 = halves.0 << 8 | UInt64(bytes[place])
      halves.1 = halves.1 << 8 | UInt64(bytes[place + 8])
    }
    return Digest(high: halves.0, low: halves.1)
  }

  private mutating func withAligned(_ body: (OpaquePointer) -> Void) {
    unsafe withUnsafeMutableBytes(of: &words) { words in
      // More than 16 would be taken from the heap, so the place is found here.
      unsafe withUnsafeTemporaryAllocation(byteCount: Self.size + 63, alignment: 16) { room in
        let start = unsafe room.baseAddress!.alignedUp(toMultipleOf: 64)
        unsafe start.copyMemory(from: words.baseAddress!, byteCount: Self.size)
        unsafe body(OpaquePointer(start))
        unsafe words.baseAddress!.copyMemory(from: start, byteCount: Self.size)
      }
    }
  }
}
