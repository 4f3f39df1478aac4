public import NavigationModel

/// What an event carries beside its action so that its author can be known: in the fields at its end that older versions
/// keep and pass on unread.
///
/// The signature is over the stack's name, the device, the event's number, the digest of all before it, and the event's
/// own bytes. So the newest one of a chain vouches for all of the chain up to there, and only the last event of a commit
/// needs one. It stands in the event and not beside it: what is stored, sent, exported and copied are events, byte by
/// byte, so nothing on the way has to know of signatures, and no crash can part the two.
public struct EventSeal: Hashable, Sendable {
  /// The device's key, where there is no grant that has it.
  public var key: VerifyingKey?
  /// The owner's leave to write.
  public var grant: Grant?
  /// 64 bytes, the event's last.
  public var signature: [UInt8]?

  private static let keyTag: UInt8 = 1 << 3 | 2
  private static let grantTag: UInt8 = 2 << 3 | 2
  private static let signatureTag: UInt8 = 15 << 3 | 2

  public init(key: VerifyingKey? = nil, grant: Grant? = nil) {
    self.key = key
    self.grant = grant
  }

  /// What an event's unknown fields say; nothing if they are not what protobuf would write.
  public init(_ fields: [UInt8]) {
    guard !fields.isEmpty else { return }
    var reader = EventByteReader(fields, in: 0..<fields.count)
    var read = EventSeal()
    do {
      while reader.left > 0 {
        let tag = try reader.number()
        switch tag & 7 {
        case 0: _ = try reader.number()
        case 1: _ = try reader.word()
        case 2:
          let range = try reader.run(limit: fields.count)
          switch UInt8(exactly: tag) {
          case Self.keyTag: read.key = VerifyingKey(bytes: fields[range])
          case Self.grantTag: read.grant = Grant(bytes: fields[range])
          case Self.signatureTag where reader.left == 0 && range.count == SigningKey.signatureSize:
            read.signature = Array(fields[range])
          case _: break
          }
        case 5:
          guard reader.left >= 4 else { return }
          reader.at += 4
        case _: return
        }
      }
    } catch { return }
    self = read
  }

  /// The fields of it, but the signature.
  private var fields: [UInt8] {
    var fields: [UInt8] = []
    if let key {
      fields.append(Self.keyTag)
      fields.append(number: VerifyingKey.byteCount)
      fields += key.bytes
    }
    if let grant {
      let bytes = grant.bytes
      fields.append(Self.grantTag)
      fields.append(number: bytes.count)
      fields += bytes
    }
    return fields
  }

  /// Signs an event: it is the same, with the seal's fields and a signature at its end.
  ///
  /// - Parameters:
  ///   - state: the author's, before the event.
  ///   - previous: the author's digest before the event.
  public func seal(
    _ event: Event, of stack: StackName, after state: AuthorState, previous: Digest, by signer: SigningKey
  ) throws(EncodeError) -> Event {
    precondition(signer.verifyingKey.device == event.dot.device, "an event is signed by its author")
    var sealed = event
    var state = state
    let end = [Self.signatureTag, UInt8(SigningKey.signatureSize)]
    sealed.unknownFields += fields + end + [UInt8](repeating: 0, count: SigningKey.signatureSize)
    let bytes = try EventCodec.encode(sealed, after: &state).dropLast(SigningKey.signatureSize)
    let message = Self.message(stack, event.dot, previous, bytes)
    sealed.unknownFields.replaceSubrange(
      sealed.unknownFields.count - SigningKey.signatureSize..<sealed.unknownFields.count,
      with: signer.signature(of: message))
    return sealed
  }

  /// Whether the key's holder signed the event as it is, in that place of that stack.
  ///
  /// - Parameters:
  ///   - bytes: the canonical event.
  ///   - previous: the author's digest before it.
  public static func isValid(
    _ bytes: [UInt8], _ dot: Dot, of stack: StackName, previous: Digest, by key: VerifyingKey
  ) -> Bool {
    guard bytes.count > SigningKey.signatureSize, key.device == dot.device else { return false }
    let message = message(stack, dot, previous, bytes.dropLast(SigningKey.signatureSize))
    return key.verifies(bytes.suffix(SigningKey.signatureSize), of: message)
  }

  private static func message(
    _ stack: StackName, _ dot: Dot, _ previous: Digest, _ event: ArraySlice<UInt8>
  ) -> [UInt8] {
    var message = Array("navsync event 1\n".utf8)
    let name = stack.description.utf8
    message.append(number: name.count)
    message.append(contentsOf: name)
    for word in [dot.device.high, dot.device.low, UInt64(dot.sequence), previous.high, previous.low] {
      message.append(word: word)
    }
    return message + event
  }
}
