public import NavigationModel

/// One message of the sync protocol, version 1: one frame on the wire, an `Envelope` of `proto/navsync/v1/sync.proto`.
///
/// Names and numbers come from a peer: they are within the codec's bounds, but stack names are plain text here and are
/// checked by the session, which answers with the error that fits.
public enum Message: Hashable, Sendable {
  case hello(Hello)
  case welcome(Welcome)
  case refused(Refused)
  case follow(Follow)
  case following(Following)
  case events(EventsMessage)
  case live(Live)
  case unfollow(Unfollow)
  case append(Append)
  case accepted(Accepted)
  case rejected(Rejected)
  case credit(Credit)
  case ping(Ping)
  case pong(Pong)
  case presence(Presence)
  case list(List)
  case listing(Listing)
  case statusRequest(StatusRequest)
  case statusReport(StatusReport)
  case range(RangeRequest)
  case pair(Pair)
  case paired(Paired)
}

/// Fields of a newer protocol, byte by byte as received, written again after the known ones.
public typealias UnknownFields = [UInt8]

/// What a client says first in a session. Observers have no device.
public struct Hello: Hashable, Sendable {
  /// The protocol that this package speaks, in `proto`.
  public static let version = 1

  public var protocolVersion: Int
  public var device: DeviceID?
  /// The device's display name, empty for an observer.
  public var name: String
  /// Program and version, for the daemon's log.
  public var software: String
  public var unknown: UnknownFields = []

  public init(protocolVersion: Int = version, device: DeviceID? = nil, name: String = "", software: String = "") {
    self.protocolVersion = protocolVersion
    self.device = device
    self.name = name
    self.software = software
  }
}

/// The daemon's answer to ``Hello``.
public struct Welcome: Hashable, Sendable {
  /// The daemon's own id, one a store.
  public var daemon: DeviceID
  /// The life of the daemon's log.
  public var epoch: UInt64
  /// The daemon's time: the later of its wall clock and the highest timestamp in its log, in milliseconds since 1970.
  public var serverTime: Int
  public var limits: Limits
  /// Where the feed can be subscribed to, empty if nowhere.
  public var feedEndpoint: String
  public var software: String
  /// The public key that the daemon's connections will have in place of the present one; empty if none is to come.
  public var nextKey: [UInt8] = []
  public var unknown: UnknownFields = []

  public init(
    daemon: DeviceID, epoch: UInt64, serverTime: Int, limits: Limits = Limits(), feedEndpoint: String = "",
    software: String = ""
  ) {
    self.daemon = daemon
    self.epoch = epoch
    self.serverTime = serverTime
    self.limits = limits
    self.feedEndpoint = feedEndpoint
    self.software = software
  }
}

/// What a daemon lets a peer do. The initial values are those of the protocol's first version.
public struct Limits: Hashable, Sendable {
  /// The largest message, in bytes.
  public var message = 256 << 10
  /// The largest canonical event, in bytes.
  public var event = 128 << 10
  /// The largest value (type name and payload), in bytes.
  public var value = 64 << 10
  /// Events in one ``Append``.
  public var eventsAnAppend = 512
  /// Devices that acted on one stack.
  public var devicesAStack = 4096
  /// Stacks that one session follows.
  public var follows = 16384
  /// The most credit that a session can have, in bytes.
  public var credit = 1 << 20
  public var unknown: UnknownFields = []

  public init() {}
}

/// Why a request is refused. A number on the wire; unknown ones survive.
public struct RefusalCode: RawRepresentable, Hashable, Sendable {
  public let rawValue: Int
  public init(rawValue: Int) { self.rawValue = rawValue }

  /// Anything but ``Hello`` from a peer that has no session.
  public static let helloNeeded = RefusalCode(rawValue: 1)
  /// A protocol version, event format or action that this daemon doesn't know.
  public static let unsupported = RefusalCode(rawValue: 2)
  public static let malformed = RefusalCode(rawValue: 3)
  public static let badName = RefusalCode(rawValue: 4)
  /// A message, event or value over its limit.
  public static let tooLarge = RefusalCode(rawValue: 5)
  /// More connections, follows, devices or requests than the limit.
  public static let tooMany = RefusalCode(rawValue: 6)
  public static let notAuthorised = RefusalCode(rawValue: 7)
  /// The stack has another policy than the one named.
  public static let policyMismatch = RefusalCode(rawValue: 8)
  public static let notFound = RefusalCode(rawValue: 9)
  /// Another event with this dot is stored.
  public static let fork = RefusalCode(rawValue: 10)
  /// The sequence is not the device's next.
  public static let sequenceGap = RefusalCode(rawValue: 11)
  /// Events of the context are not held.
  public static let missingContext = RefusalCode(rawValue: 12)
  /// The timestamp is too far ahead of the daemon's time.
  public static let clockAhead = RefusalCode(rawValue: 13)
  /// The log can't take it now: disk full, read-only, I/O error.
  public static let storage = RefusalCode(rawValue: 14)
  /// The author is not the session's device.
  public static let notYours = RefusalCode(rawValue: 15)
  /// The epoch named is not the log's.
  public static let epochChanged = RefusalCode(rawValue: 16)
  /// The daemon is stopping or at its limit; come back later.
  public static let busy = RefusalCode(rawValue: 17)
}

/// What a refusal is about.
public struct Subject: RawRepresentable, Hashable, Sendable {
  public let rawValue: Int
  public init(rawValue: Int) { self.rawValue = rawValue }

  public static let hello = Subject(rawValue: 1)
  public static let follow = Subject(rawValue: 2)
  public static let append = Subject(rawValue: 3)
  public static let range = Subject(rawValue: 4)
  public static let list = Subject(rawValue: 5)
  public static let status = Subject(rawValue: 6)
  public static let presence = Subject(rawValue: 7)
  public static let message = Subject(rawValue: 8)
  public static let pair = Subject(rawValue: 9)
}

/// A request that is not carried out.
public struct Refused: Hashable, Sendable {
  public var about: Subject
  /// The stack that it was about, empty if none.
  public var stack: String
  public var code: RefusalCode
  /// For a person: what happened, to what, what to do.
  public var reason: String
  public var unknown: UnknownFields = []

  public init(about: Subject, stack: String = "", code: RefusalCode, reason: String) {
    self.about = about
    self.stack = stack
    self.code = code
    self.reason = reason
  }
}
