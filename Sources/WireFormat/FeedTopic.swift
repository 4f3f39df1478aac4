import CSodium
public import NavigationModel

/// What a subscriber of the feed asks for: a version byte, the 8-byte BLAKE2b of the space, the 16-byte BLAKE2b of the
/// stack's full name. Of fixed lengths, so that one name's topic is never the beginning of another's.
public enum FeedTopic {
  /// The form of topics and bodies.
  public static let version: UInt8 = 1

  /// Bytes of a stack's topic.
  public static let length = 25

  /// The topic of one stack: ``length`` bytes.
  public static func topic(of stack: StackName) -> [UInt8] {
    prefix(of: stack.space) + digest(of: stack.description, count: 16)
  }

  /// What the topics of all stacks of a space begin with: 9 bytes.
  public static func prefix(of space: Name) -> [UInt8] {
    [version] + digest(of: space.description, count: 8)
  }

  /// BLAKE2b with so many bytes of output, as `hashlib.blake2b(text, digest_size: count)` gives it elsewhere.
  private static func digest(of text: String, count: Int) -> [UInt8] {
    let bytes = Array(text.utf8)
    var digest = [UInt8](repeating: 0, count: count)
    let code = crypto_generichash(&digest, count, bytes, UInt64(bytes.count), nil, 0)
    precondition(code == 0, "libsodium refuses a BLAKE2b of \(count) bytes")
    return digest
  }
}
