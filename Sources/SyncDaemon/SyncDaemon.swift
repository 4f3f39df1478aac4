import Access
import EventLog
import KeyFiles
import Locking
import NavigationModel
import Replication
import WireFormat
public import ZeroMQ

/// A running sync daemon: its sockets, its log, its sessions. It runs from its creation until ``stop()``.
///
/// Three threads of its own: the loop that owns the sockets, one that commits, one that reads. Any thread may use it.
public final class SyncDaemon: Sendable {
  /// Where it listens, with the ports that were chosen.
  public let endpoints: [Endpoint]
  /// Where the feed can be subscribed to.
  public let feedEndpoints: [Endpoint]
  /// The store's path, or `memory`.
  public let store: String
  /// Whether it has keys: then all that goes over tcp is encrypted, and there are rules to read again.
  public let hasKeys: Bool

  private let loop: SocketLoop<DaemonHandler.Command>
  private let threads: StoreThreads
  private let ended: JobQueue<Bool>
  private let log: DaemonLog
  private let life = Locked(false)

  /// Opens the log, binds the sockets and serves. Blocks as long as opening the log takes.
  public init(_ options: SyncDaemonOptions) throws(SyncDaemonError) {
    let access: AccessControl?
    do {
      access = try options.keys.flatMap { (folder) throws(KeyFileError) in try AccessControl.open(folder, options.log) }
    } catch { throw SyncDaemonError(error.code == .damaged ? .damaged : .notAllowed, "the daemon's keys: \(error)") }
    try Self.check(options, access)
    do {
      threads = try StoreThreads(options.store, log: options.log)
    } catch {
      throw SyncDaemonError(error)
    }
    let threads = threads
    let ended = JobQueue<Bool>()
    let bound = Locked(Bound())
    do {
      loop = try SocketLoop(name: "sync-loop") { loop in
        let sockets = try Self.bind(options, access, on: loop)
        bound.withLock { $0 = Bound(endpoints: sockets.endpoints, feed: sockets.feedEndpoints) }
        let core = Self.core(options, access, threads, sockets.endpoints, sockets.feedEndpoints)
        loop.connectionLimit = core.configuration.maximumSessions - Loop.connectionsSpared
        let links = Self.links(options, access?.folder, core.configuration)
        return DaemonHandler(
          loop, sockets, core, links: links, threads, options.log, access: access, ended: ended)
      }
    } catch {
      threads.finish()
      throw SyncDaemonError(error)
    }
    // What the log answered before this waits for it.
    threads.writes.post(.attach(loop.mailbox))
    threads.reads.post(.attach(loop.mailbox))
    self.ended = ended
    log = options.log
    endpoints = bound.withLock { $0.endpoints }
    feedEndpoints = bound.withLock { $0.feed }
    store = options.store.description
    hasKeys = access != nil
    tellOfOpening()
  }

  /// Ends the daemon: no more appends, what was admitted is stored and answered, sockets and log are closed. Takes
  /// milliseconds, and two seconds at most. May be called again; any thread.
  public func stop() {
    let isFirst = life.withLock { isStopped in
      defer { isStopped = true }
      return !isStopped
    }
    guard isFirst else { return }
    loop.mailbox.post(.stop)
    _ = ended.answer()
    loop.stop()
    threads.finish()
    log.flush()
  }

  /// Reads the folder of keys again: rules that are taken back hold no more when this was carried out, in milliseconds.
  /// Any thread.
  public func reloadAccess() { loop.mailbox.post(.reloadAccess) }

  // MARK: Beginning

  private struct Bound: Sendable {
    var endpoints: [Endpoint] = []
    var feed: [Endpoint] = []
  }

  private static func check(_ options: SyncDaemonOptions, _ access: AccessControl?) throws(SyncDaemonError) {
    let place = options.keys.map { "\($0)" } ?? "a folder (--keys)"
    for endpoint in options.listen + options.feed where !endpoint.isLoopback && access == nil {
      throw SyncDaemonError(
        .notAllowed,
        "\(endpoint): listening beyond this machine needs keys, and there are none in \(place); 'navsync keys new "
          + "--for-daemon' makes them, and 'navsyncd pair' then lets others in")
    }
    for endpoint in options.peers {
      var trial = KeyTrial(access?.folder, endpoint)
      do { _ = try trial.curve() } catch {
        throw SyncDaemonError(error.code == .damaged ? .damaged : .notAllowed, "can't follow that daemon: \(error)")
      }
      guard !options.listen.contains(endpoint) else {
        throw SyncDaemonError(
          .notAllowed, "\(endpoint) is where this daemon listens: a daemon can't follow itself; name another one")
      }
    }
    for endpoint in options.listen where endpoint.path == nil && access == nil {
      options.log.write(
        .warning, "every local user may act on all stacks through a tcp endpoint", [("endpoint", "\(endpoint)")])
    }
  }

  private static func bind(
    _ options: SyncDaemonOptions, _ access: AccessControl?, on loop: Loop
  ) throws -> DaemonHandler.Sockets {
    var sockets = DaemonHandler.Sockets()
    sockets.routerOptions.sendLimit = options.sendLimit
    for endpoint in options.listen {
      var socketOptions = sockets.routerOptions
      if endpoint.path == nil { socketOptions.curve = try access?.curve(forFeed: false) }
      // A name such as localhost is a client's way to write it; libzmq binds to addresses only.
      let socket = try loop.router(bind: try endpoint.resolved(), socketOptions)
      sockets.routers.append(socket)
      sockets.endpoints.append(loop.endpoint(of: socket) ?? endpoint)
    }
    for endpoint in options.feed {
      var socketOptions = SocketOptions()
      if endpoint.path == nil { socketOptions.curve = try access?.curve(forFeed: true) }
      let socket = try loop.xpub(bind: try endpoint.resolved(), socketOptions)
      sockets.feeds.append(DaemonHandler.Feed(socket: socket, carriesEvents: endpoint.path != nil))
      sockets.feedEndpoints.append(loop.endpoint(of: socket) ?? endpoint)
    }
    if let access {
      let serving = try Serving(access.folder, endpoints: sockets.endpoints.map(\.description))
      // Before the files are read: what is written in between isn't in use yet.
      let stamp = try access.folder.stamp()
      // Only now, when it is proved that strangers are refused, does a code that is open count.
      _ = try access.reload()
      serving.tell(stamp)
      sockets.serving = serving
    }
    return sockets
  }

  private static func core(
    _ options: SyncDaemonOptions, _ access: AccessControl?, _ threads: StoreThreads, _ endpoints: [Endpoint],
    _ feed: [Endpoint]
  ) -> ServerCore {
    let opened = threads.opened
    let facts = Dictionary(opened.facts.map { ($0.key, $0.value) }) { $1 }
    let known = facts[FactKey.daemon].flatMap { DeviceID(String(decoding: $0, as: UTF8.self)) }
    let daemon = known ?? DeviceID(high: .random(in: 0 ... .max), low: .random(in: 0 ... .max))
    if known == nil { threads.writes.post(.keep(key: FactKey.daemon, value: Array(daemon.description.utf8))) }
    let time = facts[FactKey.newestTime].flatMap { Int(String(decoding: $0, as: UTF8.self)) } ?? 0
    var configuration = ServerCore.Configuration(daemon: daemon, epoch: opened.epoch)
    configuration.software = options.software
    configuration.feedEndpoint = feed.first?.description ?? ""
    configuration.store = options.store.description
    configuration.endpoints = endpoints.map(\.description)
    configuration.startedAt = Moment.now().wall
    configuration.newestTime = max(time, opened.newestTime)
    // A connection takes one file; some are left for the log and the rest, and for those that are accepted before they
    // are ended.
    let files = ProcessSetup.prepare()
    configuration.maximumSessions =
      min(options.maximumSessions, max(files - 64 - files / 8, 16)) + Loop.connectionsSpared
    var core = ServerCore(
      configuration, names: DeviceNameFact.names(in: opened.facts), access: access?.rules ?? AccessRules(),
      owners: OwnerFact.owners(in: opened.facts))
    core.nextKey = access?.change?.key
    return core
  }

  private static func links(
    _ options: SyncDaemonOptions, _ keys: KeyFolder?, _ configuration: ServerCore.Configuration
  ) -> [PeerLink] {
    let daemon = configuration.daemon
    return options.peers.map { endpoint in
      // A device's name can't be longer than 64 characters, and the other daemon lists it among the devices.
      var settings = PeerCore.Settings(
        daemon: daemon, epoch: configuration.epoch, endpoint: endpoint.description,
        name: "navsyncd-\(daemon.description.prefix(8))")
      settings.software = options.software
      settings.seed = .random(in: 0 ... .max)
      settings.eventsAnAppend = configuration.limits.eventsAnAppend
      return PeerLink(endpoint, keys, PeerCore(settings, at: ServerCore.Moment(Moment.now())))
    }
  }

  private func tellOfOpening() {
    for notice in threads.opened.report?.notices ?? [] {
      log.write(notice.isAlarm ? .error : .info, "\(notice)", [("store", store)])
    }
    log.write(
      .info, "serving",
      [
        ("listen", endpoints.map(\.description).joined(separator: " ")),
        ("feed", feedEndpoints.map(\.description).joined(separator: " ")), ("store", store),
      ])
  }
}

extension SyncDaemonError {
  init(_ error: any Error) {
    switch error {
    case let error as LogError:
      let code: Code =
        switch error.code {
        case .busy, .notAStore, .newerFormat: .held
        case .damaged: .damaged
        case .full, .readOnly: .refused
        case .inputOutput, .notFound, .notNext: .failed
        }
      self.init(code, "the store can't be opened: \(error)")
    case let error as KeyFileError:
      self.init(error.code == .refused ? .held : .failed, "\(error)")
    case let error as ZeroMQError:
      self.init(error.isInUse ? .held : error.isForbidden ? .refused : .failed, "can't listen: \(error)")
    case _:
      self.init(.failed, "\(error)")
    }
  }
}
