import Glibc
import NavigationModel
import WireFormat

/// Something that a peer does to a daemon so that others suffer.
public struct Attack: Sendable {
  public let name: String
  /// What is done, for a table.
  public let about: String
  /// Does it until the target's time is over.
  ///
  /// - Returns: how often.
  public let run: @Sendable (Target) throws -> Int

  public static let all: [Attack] = connecting + asking + storing

  static func device(_ number: Int) -> DeviceID { DeviceID(high: 0x4057_11E0, low: UInt64(truncatingIfNeeded: number)) }
}

// MARK: Connections

extension Attack {
  static let connecting = [
    Attack(name: "connections", about: "3,000 connections that say nothing, opened again when they are closed") {
      target in
      var opened = 0
      var held: [RawConnection] = []
      while !target.isOver {
        for _ in 0..<50 where held.count < 3000 {
          guard let peer = try? RawConnection(toPort: target.port) else { break }
          held.append(peer)
          opened += 1
        }
        held.removeAll { $0.discard() == nil }
        poll(nil, 0, 2)
      }
      return opened
    },
    Attack(name: "idle", about: "3,000 connections that shake hands and then say nothing") { target in
      var opened = 0
      var held: [RawConnection] = []
      while !target.isOver {
        for _ in 0..<50 where held.count < 3000 {
          guard let peer = try? RawConnection(toPort: target.port, sending: RawPeer.greeting + RawPeer.ready()) else {
            break
          }
          held.append(peer)
          opened += 1
        }
        held.removeAll { $0.discard() == nil }
        poll(nil, 0, 2)
      }
      return opened
    },
    Attack(name: "handshakes", about: "handshakes, whole and cut anywhere, and gone again") { target in
      var random = SystemRandomNumberGenerator()
      var count = 0
      let whole = RawPeer.greeting + RawPeer.ready()
      while !target.isOver {
        let size = Bool.random(using: &random) ? whole.count : Int.random(in: 0..<whole.count, using: &random)
        _ = try? RawConnection(toPort: target.port, sending: Array(whole.prefix(size)))
        count += 1
      }
      return count
    },
    Attack(name: "sessions", about: "sessions of new devices, begun and left") { target in
      var count = 0
      while !target.isOver {
        count += 1
        _ = try? target.session(device(count), name: "hostile-\(count)", credit: 1000)
      }
      return count
    },
    Attack(name: "names", about: "Hello after Hello on one connection, each of a new device") { target in
      let peer = try target.session()
      var count = 0
      target.pump(peer) {
        let messages = (0..<100).map { Message.hello(Hello(device: device(count + $0), name: "n\(count + $0)")) }
        count += 100
        return Target.frames(messages)
      }
      return count
    },
    Attack(name: "oversize", about: "messages over the limit") { target in
      var count = 0
      let frame = RawPeer.message([UInt8](repeating: 7, count: 300_000))
      while !target.isOver {
        guard let peer = try? target.session() else { continue }
        var isSent = false
        target.pump(peer) {
          defer { isSent = true }
          return isSent ? nil : frame
        }
        count += 1
      }
      return count
    },
    Attack(name: "rubbish", about: "messages that are random, cut, or of the wrong side") { target in
      var random = SystemRandomNumberGenerator()
      let good: [[UInt8]] = [
        Message.hello(Hello(device: device(1), name: "x")).encoded(),
        Message.follow(Follow(stack: target.stack)).encoded(), Message.ping(Ping(heads: [])).encoded(),
        Message.live(Live(stack: target.stack, offset: 3)).encoded(),
      ]
      var frames: [UInt8] = []
      for _ in 0..<500 {
        var body = good.randomElement(using: &random) ?? []
        switch Int.random(in: 0..<3, using: &random) {
        case 0: body = (0..<Int.random(in: 0..<200, using: &random)).map { _ in .random(in: 0...255, using: &random) }
        case 1: body = Array(body.prefix(Int.random(in: 0..<body.count, using: &random)))
        case _: body[Int.random(in: 0..<body.count, using: &random)] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        }
        frames += RawPeer.message(body)
      }
      var count = 0
      while !target.isOver {
        guard let peer = try? target.session() else { continue }
        target.pump(peer) {
          count += 500
          return frames
        }
      }
      return count
    },
    Attack(name: "subscriptions", about: "subscriptions of the feed: many topics, and long ones") { target in
      var random = SystemRandomNumberGenerator()
      var count = 0
      while !target.isOver {
        guard let peer = try? target.subscriber() else { continue }
        target.pump(peer) {
          var frames: [UInt8] = []
          for _ in 0..<200 {
            let size = count % 1000 == 0 ? 100_000 : 25
            frames += RawPeer.message([1] + (0..<size).map { _ in .random(in: 0...255, using: &random) })
            count += 1
          }
          return frames
        }
      }
      return count
    },
  ]
}
