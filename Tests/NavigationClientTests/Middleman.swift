import Locking
import WireFormat
import ZeroMQ

/// A daemon that lies: it stands between a device and an honest one, and changes what the device is sent. Or a line
/// that can be cut.
final class Middleman: Sendable {
  /// What becomes of a batch of events on its way; nil is nothing.
  typealias Lie = @Sendable (EventsMessage) throws -> EventsMessage?

  let endpoint: String
  private let loop: SocketLoop<Int>
  private let lie = Locked(Told())

  /// In a box: a function that is read out of a lock by a generic method comes back wrapped, once more each time, and is
  /// put back so.
  private struct Told: Sendable {
    var lie: Lie?
    var isCut = false
  }

  init(_ endpoint: String, before daemon: String) throws {
    self.endpoint = endpoint
    let (front, back) = (try Endpoint(endpoint), try Endpoint(daemon))
    let lie = lie
    loop = try SocketLoop(name: "middleman") { loop in
      Handler(loop: loop, router: try loop.router(bind: front), daemon: back, lie: lie)
    }
  }

  /// What it does from now on; nil: it is honest.
  func tell(_ lie: Lie?) { self.lie.withLock { $0.lie = lie } }

  /// Whether nothing passes in either direction; neither side is told.
  var isCut: Bool {
    get { lie.withLock { $0.isCut } }
    set { lie.withLock { $0.isCut = newValue } }
  }

  func stop() { loop.stop() }

  private struct Handler: LoopHandler {
    let loop: Loop
    let router: SocketID
    let daemon: Endpoint
    let lie: Locked<Told>
    var peers: [SocketID: Peer] = [:]
    var dealers: [Peer: SocketID] = [:]
    var waiting: [SocketID: [[UInt8]]] = [:]

    mutating func commands(_ commands: [Int], at now: Moment) {}

    mutating func received(_ messages: [PeerMessage], on socket: SocketID, at now: Moment) {
      for message in messages where !lie.withLock({ $0.isCut }) {
        if dealers[message.peer] == nil, let dealer = try? loop.dealer(connect: daemon) {
          dealers[message.peer] = dealer
          peers[dealer] = message.peer
        }
        guard let dealer = dealers[message.peer] else { continue }
        waiting[dealer, default: []].append(message.body)
        writable(dealer, at: now)
      }
    }

    mutating func writable(_ socket: SocketID, at now: Moment) {
      while let body = waiting[socket]?.first {
        guard loop.send(body, on: socket) == .sent else { return loop.notifyWhenWritable(socket) }
        waiting[socket]?.removeFirst()
      }
    }

    mutating func connectionsChanged(_ events: [ConnectionEvent], on socket: SocketID, at now: Moment) {
      writable(socket, at: now)
    }

    mutating func received(_ messages: [[UInt8]], on socket: SocketID, at now: Moment) {
      guard let peer = peers[socket], !lie.withLock({ $0.isCut }) else { return }
      for bytes in messages {
        var told: [UInt8]? = bytes
        if let lie = lie.withLock({ $0 }).lie, case .events(let events)? = try? Message(decoding: bytes) {
          told = (try? lie(events)).map { Message.events($0).encoded() }
        }
        if let told { _ = loop.send(told, to: peer, on: router) }
      }
    }
  }
}
