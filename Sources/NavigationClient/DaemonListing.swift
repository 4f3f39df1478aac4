public import NavigationModel
import WireFormat

/// What a daemon has: its stacks, and the devices that it knows.
public struct DaemonListing: Hashable, Sendable {
  /// One stack.
  public struct Stack: Hashable, Sendable {
    /// `space/stack`.
    public var name: String
    /// How it decides between concurrent actions.
    public var policy: Policy
    /// How many events the daemon has of it.
    public var eventCount: Int
    /// How many devices acted on it.
    public var deviceCount: Int
    /// When the daemon last stored an event of it, in milliseconds since 1970.
    public var lastStored: Int
  }

  /// One device: one id of one.
  public struct Device: Hashable, Sendable {
    /// One incarnation's id; the same name may have several.
    public var id: DeviceID
    /// Empty if it never said one.
    public var name: String
    /// Whether it has a session now.
    public var isConnected: Bool
    /// When the daemon last heard of it, in milliseconds since 1970; 0 if not since it started.
    public var lastSeen: Int
  }

  /// By name.
  public var stacks: [Stack]
  /// In the daemon's order.
  public var devices: [Device]

  init(_ listing: Listing) {
    stacks = listing.stacks.map {
      Stack(
        name: $0.stack, policy: $0.policy, eventCount: $0.head, deviceCount: $0.devices, lastStored: $0.lastStored)
    }
    devices = listing.devices.map {
      Device(id: $0.device, name: $0.name, isConnected: $0.connected, lastSeen: $0.lastSeen)
    }
  }
}

/// How a daemon is doing.
public struct DaemonStatus: Hashable, Sendable {
  /// Program and version.
  public var software: String
  /// The daemon's own id, one a store.
  public var daemon: DeviceID
  /// The life of its log.
  public var epoch: UInt64
  /// In milliseconds since 1970.
  public var startedAt: Int
  /// The store's path, or `memory`.
  public var store: String
  /// Where it listens.
  public var endpoints: [String]
  /// Everything accepted, dropped, refused and held back since it started, by names such as `events_accepted`, in the
  /// daemon's order.
  public var counters: [(name: String, value: Int)] { pairs.map { ($0.name, $0.value) } }

  private struct Counter: Hashable, Sendable {
    var name: String
    var value: Int
  }

  private var pairs: [Counter]

  init(_ report: StatusReport) {
    software = report.software
    daemon = report.daemon
    epoch = report.epoch
    startedAt = report.startedAt
    store = report.store
    endpoints = report.endpoints
    pairs = report.counters.map { Counter(name: $0.name, value: $0.value) }
  }
}
