public import NavigationModel

/// One line of an export.
public enum JSONLine: Hashable, Sendable {
  case header(ExportHeader)
  case event(EventLine)
  case chain(ChainLine)
  case trailer(ExportTrailer)
}

/// The first line of an export. `fold` and `import` take files without it.
public struct ExportHeader: Hashable, Sendable {
  /// The newest format that this program reads. An export of a stack in which a device id has several histories is
  /// written as 2, any other as 1.
  public static let currentFormat = 2

  public struct Device: Hashable, Sendable {
    public var id: String
    public var name: String

    public init(id: String, name: String) {
      self.id = id
      self.name = name
    }
  }

  public var stack: String
  /// A policy's text; the leader of `lead:` may be any device's text.
  public var policy: String
  /// By the bytes of their ids.
  public var devices: [Device]
  /// From 1 to ``currentFormat``: the least that a reader has to know for what follows.
  public var format: Int

  public init(stack: String, policy: String, devices: [Device] = [], format: Int = 1) {
    self.format = format
    self.stack = stack
    self.policy = policy
    self.devices = devices.sorted { $0.id.utf8.lexicographicallyPrecedes($1.id.utf8) }
  }

  /// The line's bytes, without a line break.
  public var bytes: [UInt8] {
    var json = JSONWriter()
    json.raw(#"{"navsync":{"devices":{"#)
    json.list(devices) { json, device in
      json.string(device.id)
      json.raw(":")
      json.string(device.name)
    }
    json.raw(#"},"format":\#(format),"policy":"#)
    json.string(policy)
    json.raw(#","stack":"#)
    json.string(stack)
    json.raw("}}")
    return json.bytes
  }
}

/// The last line of an export: without it the file was cut.
public struct ExportTrailer: Hashable, Sendable {
  public struct Head: Hashable, Sendable {
    public var device: String
    public var sequence: Int
    public var digest: Digest

    public init(device: String, sequence: Int, digest: Digest) {
      self.device = device
      self.sequence = sequence
      self.digest = digest
    }
  }

  /// The number of events before it.
  public var count: Int
  /// By the bytes of the devices' texts.
  public var heads: [Head]

  public init(count: Int, heads: [Head]) {
    self.count = count
    self.heads = heads.sorted { $0.device.utf8.lexicographicallyPrecedes($1.device.utf8) }
  }

  /// The line's bytes, without a line break.
  public var bytes: [UInt8] {
    var json = JSONWriter()
    json.raw(#"{"end":{"count":\#(count),"heads":{"#)
    json.list(heads) { json, head in
      json.string(head.device)
      json.raw(#":{"digest":"\#(head.digest)","seq":\#(head.sequence)}"#)
    }
    json.raw("}}}")
    return json.bytes
  }
}
