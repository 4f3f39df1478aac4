extension Message {
  /// The largest message that is sent and read, in bytes: 256 KiB of content and what frames it.
  public static let maximumSize = 256 << 10 + 1 << 10

  /// The message as one frame: an `Envelope` of `proto/navsync/v1/sync.proto`. Whoever puts lists into a message keeps
  /// it within ``maximumSize``; this doesn't check it.
  public func encoded() -> [UInt8] {
    var fields = FieldWriter(capacity: roughSize + 64)
    switch self {
    case .hello(let part): fields.message(1, part)
    case .welcome(let part): fields.message(2, part)
    case .refused(let part): fields.message(3, part)
    case .follow(let part): fields.message(4, part)
    case .following(let part): fields.message(5, part)
    case .events(let part): fields.message(6, part)
    case .live(let part): fields.message(7, part)
    case .unfollow(let part): fields.message(8, part)
    case .append(let part): fields.message(9, part)
    case .accepted(let part): fields.message(10, part)
    case .rejected(let part): fields.message(11, part)
    case .credit(let part): fields.message(12, part)
    case .ping(let part): fields.message(13, part)
    case .pong(let part): fields.message(14, part)
    case .presence(let part): fields.message(15, part)
    case .list(let part): fields.message(16, part)
    case .listing(let part): fields.message(17, part)
    case .statusRequest(let part): fields.message(18, part)
    case .statusReport(let part): fields.message(19, part)
    case .range(let part): fields.message(20, part)
    case .pair(let part): fields.message(21, part)
    case .paired(let part): fields.message(22, part)
    }
    return fields.bytes
  }

  /// Reads one frame. Total over any bytes; allocates no more than a small multiple of them.
  ///
  /// A frame without a message that is known is `unsupported`. Unknown fields inside a message survive in its
  /// `unknown`; unknown fields beside it are passed over.
  public init(decoding bytes: [UInt8]) throws(DecodeError) {
    guard bytes.count <= Self.maximumSize else { throw DecodeError(.tooLarge, at: 0, in: "message") }
    var fields = FieldReader(bytes, in: 0..<bytes.count, what: "message")
    var message: Message?
    while let field = try fields.next() {
      guard let found = try Self.read(field, from: &fields) else {
        try fields.skip()
        continue
      }
      guard message == nil else { throw fields.fault(.notCanonical) }
      message = found
    }
    guard let message else { throw fields.fault(.unsupported) }
    self = message
  }

  private static func read(_ field: Int, from fields: inout FieldReader) throws(DecodeError) -> Message? {
    switch field {
    case 1: .hello(try fields.message())
    case 2: .welcome(try fields.message())
    case 3: .refused(try fields.message())
    case 4: .follow(try fields.message())
    case 5: .following(try fields.message())
    case 6: .events(try fields.message())
    case 7: .live(try fields.message())
    case 8: .unfollow(try fields.message())
    case 9: .append(try fields.message())
    case 10: .accepted(try fields.message())
    case 11: .rejected(try fields.message())
    case 12: .credit(try fields.message())
    case 13: .ping(try fields.message())
    case 14: .pong(try fields.message())
    case 15: .presence(try fields.message())
    case 16: .list(try fields.message())
    case 17: .listing(try fields.message())
    case 18: .statusRequest(try fields.message())
    case 19: .statusReport(try fields.message())
    case 20: .range(try fields.message())
    case 21: .pair(try fields.message())
    case 22: .paired(try fields.message())
    case _: nil
    }
  }

  /// About how many bytes it takes, of those that can be large.
  private var roughSize: Int {
    switch self {
    case .events(let part): part.batch.count + part.authorStates.count * 128
    case .append(let part): part.events.reduce(0) { $0 + $1.count + 4 }
    case .follow(let part):
      if case .vector(let heads) = part.start { heads.count * 48 } else { 0 }
    case .following(let part): part.heads.count * 48
    case _: 64
    }
  }
}
