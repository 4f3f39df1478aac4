public import NavigationModel

/// Lets the daemon send so many more bytes of ``EventsMessage``.
public struct Credit: Hashable, Sendable {
  public var bytes: Int
  public var unknown: UnknownFields = []

  public init(bytes: Int) { self.bytes = bytes }
}

/// How far a stack is known.
public struct StackHead: Hashable, Sendable {
  public var stack: String
  public var offset: Int
  public var unknown: UnknownFields = []

  public init(stack: String, offset: Int) {
    self.stack = stack
    self.offset = offset
  }
}

/// Sent by a client that has received nothing for a second.
public struct Ping: Hashable, Sendable {
  /// At most 128 of the stacks followed, in rotation.
  public var heads: [StackHead]
  public var unknown: UnknownFields = []

  public init(heads: [StackHead]) { self.heads = heads }
}

/// Answers ``Ping`` with the heads that differ.
public struct Pong: Hashable, Sendable {
  public var serverTime: Int
  public var heads: [StackHead]
  public var unknown: UnknownFields = []

  public init(serverTime: Int, heads: [StackHead]) {
    self.serverTime = serverTime
    self.heads = heads
  }
}

/// Where a device is. Relayed to the stack's other followers, never logged.
public struct Presence: Hashable, Sendable {
  public enum State: Int, Hashable, Sendable {
    case active = 1
    /// Nothing heard for 30 seconds.
    case away = 2
    case gone = 3
  }

  public var stack: String
  /// Filled in by the daemon with what it knows; ignored from a client.
  public var device: DeviceID?
  public var name: String
  public var state: State
  /// The top entry that the device shows, nil at the root.
  public var top: EntryID?
  public var unknown: UnknownFields = []

  public init(
    stack: String, device: DeviceID? = nil, name: String = "", state: State = .active, top: EntryID? = nil
  ) {
    self.stack = stack
    self.device = device
    self.name = name
    self.state = state
    self.top = top
  }
}

/// Asks for the stacks of a space and the devices that the daemon knows.
public struct List: Hashable, Sendable {
  /// Empty for all spaces.
  public var space: String
  /// No stacks in the answer: who only wants to know what devices are called needn't wait for a long list.
  public var devicesOnly: Bool
  /// Whether a ``Listing`` is to come of every stack that comes to be, as long as the session lasts.
  public var follows: Bool
  public var unknown: UnknownFields = []

  public init(space: String = "", devicesOnly: Bool = false, follows: Bool = false) {
    self.space = space
    self.devicesOnly = devicesOnly
    self.follows = follows
  }
}

/// Answers ``List``, in as many messages as it takes.
public struct Listing: Hashable, Sendable {
  public struct Stack: Hashable, Sendable {
    public var stack: String
    public var policy: Policy
    /// The number of events.
    public var head: Int
    /// How many devices acted on it.
    public var devices: Int
    /// When the daemon last stored an event of it, in milliseconds since 1970.
    public var lastStored: Int
    public var unknown: UnknownFields = []

    public init(stack: String, policy: Policy, head: Int, devices: Int, lastStored: Int) {
      self.stack = stack
      self.policy = policy
      self.head = head
      self.devices = devices
      self.lastStored = lastStored
    }
  }

  public struct Device: Hashable, Sendable {
    public var device: DeviceID
    /// Empty if it never said one.
    public var name: String
    /// Whether it has a session now.
    public var connected: Bool
    /// When the daemon last heard of it, in milliseconds since 1970; 0 if not since it started.
    public var lastSeen: Int
    public var unknown: UnknownFields = []

    public init(device: DeviceID, name: String, connected: Bool, lastSeen: Int) {
      self.device = device
      self.name = name
      self.connected = connected
      self.lastSeen = lastSeen
    }
  }

  public var stacks: [Stack]
  public var devices: [Device]
  /// Whether this is the last message of the answer.
  public var last: Bool
  public var unknown: UnknownFields = []

  public init(stacks: [Stack] = [], devices: [Device] = [], last: Bool) {
    self.stacks = stacks
    self.devices = devices
    self.last = last
  }
}

public struct StatusRequest: Hashable, Sendable {
  public var unknown: UnknownFields = []

  public init() {}
}

/// The daemon's counters: everything accepted, dropped, refused and held back since it started.
public struct StatusReport: Hashable, Sendable {
  public struct Counter: Hashable, Sendable {
    /// Words in lower case joined by underscores, as in a metrics exposition: `events_accepted`.
    public var name: String
    public var value: Int
    public var unknown: UnknownFields = []

    public init(name: String, value: Int) {
      self.name = name
      self.value = value
    }
  }

  /// Another daemon that this one follows.
  public struct Peer: Hashable, Sendable {
    public var endpoint: String
    /// Nil if it never answered.
    public var daemon: DeviceID?
    public var connected: Bool
    /// Since when it is, or isn't, in milliseconds since 1970.
    public var since: Int
    /// How many stacks are followed there.
    public var stacks = 0
    /// Events that the other is known to have and this daemon lacks.
    public var behind = 0
    /// Events that this daemon has and the other lacks, as far as is known.
    public var ahead = 0
    /// Stacks in which one device id has several histories, as far as the link knows.
    public var forked = 0
    /// Events that could not be taken in yet and will come again, since the start.
    public var heldBack = 0
    /// What keeps it from being connected, or stacks from going on; empty if nothing.
    public var problem = ""
    public var unknown: UnknownFields = []

    public init(endpoint: String, daemon: DeviceID? = nil, connected: Bool, since: Int) {
      self.endpoint = endpoint
      self.daemon = daemon
      self.connected = connected
      self.since = since
    }
  }

  public var software: String
  public var daemon: DeviceID
  public var epoch: UInt64
  /// In milliseconds since 1970.
  public var startedAt: Int
  /// The store's path, or `memory`.
  public var store: String
  public var endpoints: [String]
  public var counters: [Counter]
  /// In the order in which they were named to the daemon.
  public var peers: [Peer]
  public var unknown: UnknownFields = []

  public init(
    software: String, daemon: DeviceID, epoch: UInt64, startedAt: Int, store: String, endpoints: [String],
    counters: [Counter], peers: [Peer] = []
  ) {
    self.software = software
    self.daemon = daemon
    self.epoch = epoch
    self.startedAt = startedAt
    self.store = store
    self.endpoints = endpoints
    self.counters = counters
    self.peers = peers
  }
}
