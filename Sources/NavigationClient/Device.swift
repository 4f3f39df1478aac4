package import EventLog
import Foundation
import Glibc
import KeyFiles
import Locking
public import NavigationModel
package import WireFormat
import ZeroMQ

/// A device: a replica of its own that acts on stacks, with a log on the disk and, when there is one, a connection to a
/// sync daemon.
///
/// A program that stays open has a device of its own; the name stands for it, and only one process at a time can have
/// it open. Everything works without a daemon: actions are put on stable storage here, and sent when a daemon is there.
///
/// All methods can be called from any task. Nothing blocks the caller's thread.
public final class Device: Sendable {
  /// Where and how a device is opened.
  public struct Options: Sendable {
    /// The daemon's endpoint, `ipc:///path` or `tcp://host:port`. Nil: the environment's `NAVSYNC_DAEMON`, or else the
    /// socket of a daemon on this machine, which may also come later.
    public var daemon: String?
    /// The folder of the user's keys. Nil: the environment's `NAVSYNC_KEYS`, or `$XDG_CONFIG_HOME/navsync/keys`, with
    /// `~/.config` for want of the variable.
    public var keys: String?
    /// The device's folder. Nil: `$XDG_STATE_HOME/navsync/devices/<name>`, with `~/.local/state` for want of the
    /// variable.
    public var folder: String?
    /// Whether a connection is wanted. Without one the device works on its own log alone.
    public var connects = true
    /// How long to wait for another process that has the device open.
    public var lockWait = Duration.seconds(5)
    /// Whether others see what this device shows.
    public var announcesPresence = true
    /// Program and version, for the daemon's log.
    public var software = "NavigationClient"

    /// What isn't named keeps its default.
    public init(
      daemon: String? = nil, keys: String? = nil, folder: String? = nil, connects: Bool = true,
      lockWait: Duration = .seconds(5),
      announcesPresence: Bool = true, software: String = "NavigationClient"
    ) {
      self.daemon = daemon
      self.keys = keys
      self.folder = folder
      self.connects = connects
      self.lockWait = lockWait
      self.announcesPresence = announcesPresence
      self.software = software
    }
  }

  /// The display name.
  public let name: String
  /// The device's id. One incarnation: it is another after a daemon was found to hold another history under it, as when
  /// a backup of the folder was restored; nothing is lost then.
  public var id: DeviceID { engine.identity.withLock { $0 } ?? DeviceID(high: 0, low: 0) }
  /// Where the device's log is.
  public let folder: String
  /// What opening the store found that a person may want to know, such as a tail that was cut.
  public let notices: [String]
  let engine: EngineThread

  private init(name: String, folder: String, notices: [String], engine: EngineThread) {
    self.name = name
    self.folder = folder
    self.notices = notices
    self.engine = engine
  }

  /// Opens a device; makes it if there is none of that name yet.
  ///
  /// - Parameters:
  ///   - name: 1 to 64 of `a-z 0-9 . _ -`; nil is ``defaultName``.
  ///   - options: where and how.
  /// - Throws: ``ClientError``: `.badName`; `.deviceInUse`, naming the process, after `options.lockWait`; `.storage`.
  public static func open(name: String? = nil, options: Options = Options()) async throws(ClientError) -> Device {
    let name = name ?? defaultName
    do throws(NameError) { _ = try Name(name) } catch { throw ClientError(error) }
    let daemon = try endpoint(options.daemon)
    let folder = options.folder ?? defaultFolder(of: name)
    let found = Locked<[String]>([])
    let engine = try await EngineThread.start(connects: options.connects) { () throws(ClientError) in
      let log: SQLiteLog
      let id: DeviceID
      let store = FolderStore(folder: folder)
      store.recover()
      do throws(LogError) {
        log = try SQLiteLog.open(
          at: folder, program: programName, waitMilliseconds: options.lockWait.milliseconds)
        id = try deviceID(of: log, in: folder)
      } catch { throw ClientError(error) }
      let notices = log.report.notices.filter { $0 != .created }.map(\.description)
      found.withLock { $0 = notices }
      let configuration = Engine.Configuration(
        name: name, software: options.software, daemon: daemon,
        announcesPresence: options.announcesPresence, keys: options.keys.map { KeyFolder($0) } ?? .ofUser)
      return (configuration, id, store, InTransit(log))
    }
    return Device(name: name, folder: folder, notices: found.withLock { $0 }, engine: engine)
  }

  /// Opens a stack, from this device's log at first, and follows it at the daemon. May be opened more than once.
  ///
  /// - Parameters:
  ///   - name: `space/stack`.
  ///   - policy: what the stack is to be if it is new; nil leaves it to the stack, and is `merge` for a new one.
  /// - Throws: ``ClientError``: `.badName`; `.policyMismatch` if this device's log has the stack under another policy;
  ///   `.storage`.
  public func stack(_ name: String, policy: Policy? = nil) async throws(ClientError) -> Stack {
    let stack: StackName
    do throws(NameError) { stack = try StackName(name) } catch { throw ClientError(error) }
    let hub: StackHub = try await engine.call { .open(stack, policy, $0) }
    return Stack(hub: hub, engine: engine)
  }

  /// Does without the rest of the wait before the next attempt to connect.
  public func connectNow() { engine.post(.connect) }

  /// Ends the connection and closes the log. What was done is done; what no daemon has yet is sent the next time.
  public func close() async { await engine.stop() }

  // MARK: Names and places

  /// The host's short name, made a valid name: what is opened for want of another.
  public static var defaultName: String {
    var bytes = [CChar](repeating: 0, count: 256)
    gethostname(&bytes, bytes.count - 1)
    let host = String(decoding: bytes.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    let short = host.split(separator: ".").first.map(String.init) ?? host
    let allowed = short.lowercased().map { character -> Character in
      character.isASCII && (character.isLetter || character.isNumber || "_-".contains(character)) ? character : "-"
    }
    let name = String(allowed.drop { !($0.isLetter || $0.isNumber) }.prefix(Name.maximumLength))
    return name.isEmpty ? "device" : name
  }

  /// Where a device's log is, if nobody says otherwise.
  public static func defaultFolder(of name: String) -> String { stateFolder + "/devices/" + name }

  /// `$XDG_STATE_HOME/navsync`, or `~/.local/state/navsync`.
  public static var stateFolder: String {
    if let folder = IPCPath.environment("XDG_STATE_HOME"), folder.hasPrefix("/") { return folder + "/navsync" }
    let home = IPCPath.environment("HOME") ?? FileManager.default.homeDirectoryForCurrentUser.path
    return home + "/.local/state/navsync"
  }

  static func endpoint(_ text: String?) throws(ClientError) -> Endpoint? {
    guard let text = text ?? IPCPath.environment("NAVSYNC_DAEMON") else { return nil }
    do { return try Endpoint(text) } catch {
      throw ClientError(.badName, about: error.about, error.detail, error)
    }
  }

  private static var programName: String {
    let name = (CommandLine.arguments.first ?? "").split(separator: "/").last ?? "program"
    return String(name.map { $0 == " " ? "-" : $0 })
  }

  /// Makes a restored copy of a device's log a new incarnation, so that no two devices ever act under one id. What it
  /// holds of its former id stays, and goes to a daemon that lacks it as any event that the device holds.
  ///
  /// - Parameter folder: where the log is; the new incarnation's signing key is put there.
  /// - Returns: the new id.
  package static func renew(_ log: any EventLog, in folder: String) throws(LogError) -> DeviceID {
    let former = try deviceID(of: log)
    let id = try FolderStore.makeSigningKey(in: folder, isNew: true).verifyingKey.device
    // In this order, so that whatever happens between the former id is known as such.
    try log.setFact("former/\(former)", [])
    try log.setFact("device", Array(id.description.utf8))
    return id
  }

  /// What a device signs with; nil if there is no device in the folder, or one from before there were signatures.
  package static func signingKey(in folder: String) throws(LogError) -> SigningKey? {
    let log = try SQLiteLog.openReader(at: folder)
    guard let bytes = try log.fact("device"), let id = DeviceID(String(decoding: bytes, as: UTF8.self)) else {
      return nil
    }
    return try FolderStore(folder: folder).signingKey(of: id)
  }

  /// The id kept in the log, or a new one, kept there.
  ///
  /// - Parameter folder: where the log is and the key goes from which the id is made; nil: an id of which nobody has a key.
  static func deviceID(of log: any EventLog, in folder: String? = nil) throws(LogError) -> DeviceID {
    if let bytes = try log.fact("device") {
      guard let id = DeviceID(String(decoding: bytes, as: UTF8.self)) else {
        throw LogError(.damaged, about: "device", "the stored device id is not 32 hexadecimal digits")
      }
      return id
    }
    var random = SystemRandomNumberGenerator()
    let id =
      try folder.map { (folder) throws(LogError) in try FolderStore.makeSigningKey(in: folder).verifyingKey.device }
      ?? DeviceID(high: random.next(), low: random.next())
    try log.setFact("device", Array(id.description.utf8))
    return id
  }
}
