public import NavigationModel

/// An entry of a log that is no event, as a line of an export: what begins the copy of a history (see ``Fork``), or an
/// event of a newer format, byte by byte.
public struct ChainLine: Hashable, Sendable {
  public enum Entry: Hashable, Sendable {
    /// The first entry of the chain: which device's history it is a copy of, and where that differs from another.
    case fork(device: String, sequence: Int, digest: Digest)
    /// What this version can't read.
    case unread(sequence: Int, bytes: [UInt8])
  }

  /// The chain that the entry is of.
  public var chain: String
  public var entry: Entry
  /// The stack's name, if the line has it; not checked.
  public var stack: String?

  public init(chain: String, entry: Entry, stack: String?) {
    self.chain = chain
    self.entry = entry
    self.stack = stack
  }

  /// The line's bytes, without a line break.
  public var bytes: [UInt8] {
    var json = JSONWriter()
    func writeStack(_ json: inout JSONWriter) {
      guard let stack else { return }
      json.raw(#""stack":"#)
      json.string(stack)
    }
    switch entry {
    case .fork(let device, let sequence, let digest):
      json.raw(#"{"fork":{"chain":"#)
      json.string(chain)
      json.raw(#","device":"#)
      json.string(device)
      json.raw(#","digest":"\#(digest)","seq":\#(sequence)}"#)
      if stack != nil { json.raw(",") }
      writeStack(&json)
      json.raw("}")
    case .unread(let sequence, let bytes):
      json.raw("{")
      writeStack(&json)
      if stack != nil { json.raw(",") }
      json.raw(#""unread":{"bytes":"\#(Base64.encode(bytes))","chain":"#)
      json.string(chain)
      json.raw(#","seq":\#(sequence)}}"#)
    }
    return json.bytes
  }
}
