public import KeyFiles
public import ZeroMQ

/// How a daemon is to run.
public struct SyncDaemonOptions: Sendable {
  /// Where the log is.
  public enum Store: Hashable, Sendable, CustomStringConvertible {
    /// Nothing outlives the process.
    case memory
    /// A folder, made if it isn't there.
    case folder(String)

    public var description: String {
      switch self {
      case .memory: "memory"
      case .folder(let path): path
      }
    }
  }

  /// Where clients connect to; at least one. Beyond this machine only with keys.
  public var listen: [Endpoint]
  /// Where the feed can be subscribed to.
  public var feed: [Endpoint]
  /// Other daemons to follow and to be levelled with. Beyond this machine only with keys of both.
  public var peers: [Endpoint] = []
  public var store: Store
  /// Where the daemon's keys are, and the rules of who may do what. If there are keys, everything over tcp is encrypted and
  /// every client must have a key that a rule knows; if not, or if this is nil, tcp is for this machine alone.
  public var keys: KeyFolder?
  /// Program and version, for clients and the log.
  public var software: String
  public var log: DaemonLog
  /// The most sessions at once; fewer if the system allows fewer open files.
  public var maximumSessions = 2000
  /// The high-water marks of the sync sockets, nil for the protocol's. For tests of slow followers.
  public var sendLimit: Int?

  /// - Parameters:
  ///   - listen: empty: the ipc path where clients look for a daemon.
  ///   - feed: nil: beside the first ipc endpoint.
  public init(
    listen: [Endpoint] = [], feed: [Endpoint]? = nil, store: Store, software: String = "navsyncd",
    log: DaemonLog = DaemonLog()
  ) throws(ZeroMQError) {
    let listening = listen.isEmpty ? [try IPCPath.forDaemon()] : listen
    self.listen = listening
    if let feed {
      self.feed = feed
    } else if let sync = listening.first(where: { $0.path != nil }), let beside = try IPCPath.feed(beside: sync) {
      self.feed = [beside]
    } else {
      self.feed = []
    }
    self.store = store
    self.software = software
    self.log = log
  }
}

/// Why a daemon doesn't run.
public struct SyncDaemonError: Error, Hashable, Sendable, CustomStringConvertible {
  public enum Code: Hashable, Sendable {
    /// What was asked for isn't allowed, such as listening to the network without keys.
    case notAllowed
    /// The store or the address is another's: another process has it, another program or a newer version made it. The
    /// description says which.
    case held
    /// What is stored is damaged.
    case damaged
    /// The system doesn't let it: no rights, or no room on the disk.
    case refused
    /// Anything else, such as no descriptors.
    case failed
  }

  public var code: Code
  /// What happened, to what, and what to do.
  public var description: String

  public init(_ code: Code, _ description: String) {
    self.code = code
    self.description = description
  }
}
