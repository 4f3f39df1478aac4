import NavigationModel
import Replication
import TestSupport
import Testing
import WireFormat

/// Many clients of one daemon.
@Suite struct ClientCrowdTests {
  /// They lose their daemon in the same moment, and come back one after the other; if they find it still gone, over a time
  /// that grows.
  @Test(.case(38)) func theyDoNotComeBackTogether() throws {
    let count = 500
    var clients = (0..<count).map { number in
      var core = ClientCore(
        ClientCore.Settings(device: DeviceID(high: 0, low: UInt64(number)), name: "d", seed: UInt64(number)))
      core.start(now: 0)
      core.connected(now: 0)
      core.received(
        .welcome(Welcome(daemon: DeviceID(high: 9, low: 9), epoch: 1, serverTime: 0, limits: Limits())), bytes: 0,
        now: 0)
      _ = core.drain()
      core.disconnected(now: 0)
      return core
    }
    var widths: [Int] = []
    for attempt in 0..<6 {
      var waits: [Int] = []
      for place in clients.indices {
        let lostAt = attempt == 0 ? 0 : try #require(clients[place].deadline)
        // It is still gone: the attempt to connect ends.
        if attempt > 0 { clients[place].timerFired(now: lostAt) }
        let due = try #require(clients[place].deadline)
        waits.append(due - lostAt)
        clients[place].timerFired(now: due)
        #expect(clients[place].drain().contains { if case .connect = $0 { true } else { false } })
      }
      let (least, most) = (try #require(waits.min()), try #require(waits.max()))
      widths.append(most - least)
      // No tenth of the time has more than twice its share of them.
      let tenths = Dictionary(grouping: waits) { ($0 - least) * 10 / (most - least + 1) }
      #expect(tenths.count == 10)
      #expect(tenths.allSatisfy { $0.value.count <= count / 5 })
    }
    #expect(zip(widths, widths.dropFirst()).allSatisfy { $0 < $1 }, "\(widths)")
  }
}
