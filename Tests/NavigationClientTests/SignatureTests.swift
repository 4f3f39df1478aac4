import EventLog
import Foundation
import KeyFiles
import Locking
import NavigationClient
import NavigationModel
import Replication
import TestSupport
import Testing
import WireFormat

/// Devices that sign what they do, and daemons that can't be trusted.
@Suite(.timeLimit(.minutes(2)))
struct SignatureTests {
  /// A daemon, a liar before it, an owner, and devices with keys of their own.
  private final class Family: Sendable {
    let world: World
    let liar: Middleman
    let owner = SigningKey.random()
    let space: Name
    let folder: String

    init(_ folder: URL) throws {
      self.folder = folder.path
      world = try World(folder)
      liar = try Middleman("ipc://\(folder.path)/lie/sync", before: world.endpoint)
      space = try Name("alice")
    }

    func stop() {
      liar.stop()
      world.stop()
    }

    func keys(of name: String) -> KeyFolder { KeyFolder("\(folder)/keys-\(name)") }

    func options(_ name: String, _ daemon: String?, connects: Bool = true) -> Device.Options {
      Device.Options(
        daemon: daemon ?? world.endpoint, keys: keys(of: name).path, folder: "\(folder)/devices/\(name)",
        connects: connects)
    }

    /// - Parameter mode: nil: it trusts nobody.
    func device(
      _ name: String, _ mode: SpaceTrust.Mode? = .required, isGranted: Bool = true, daemon: String? = nil
    ) async throws -> Device {
      if let mode { try keys(of: name).keep(SpaceTrust(space: space, mode: mode, owner: owner.verifyingKey)) }
      let made = try await Device.open(name: name, options: options(name, nil, connects: false))
      await made.close()
      if isGranted { try grant(name) }
      return try await Device.open(name: name, options: options(name, daemon))
    }

    func grant(_ name: String) throws {
      let key = try #require(try Device.signingKey(in: "\(folder)/devices/\(name)"))
      try keys(of: name).keep(
        Grant(space: space, key: key.verifyingKey, name: try Name(name), expires: nil, by: owner))
    }
  }

  private func withFamily(_ body: (Family) async throws -> Void) async throws {
    try await withTemporaryFolder { folder in
      let family = try Family(folder)
      defer { family.stop() }
      try await body(family)
    }
  }

  private static func texts(_ state: StackState) -> [String] {
    state.values.map { String(decoding: $0.payload, as: UTF8.self) }
  }

  @Test func whoHasAGrantIsSeenAndWhoHasNoneIsNot() async throws {
    try await withFamily { family in
      let phone = try await family.device("phone")
      let laptop = try await family.device("laptop")
      let stranger = try await family.device("stranger", nil, isGranted: false)
      let mine = try await phone.stack("alice/main")
      let seen = try await laptop.stack("alice/main")
      let theirs = try await stranger.stack("alice/main")
      try await mine.push("a")
      try await theirs.state { $0.entries.count == 1 }
      try await theirs.push("x")
      try await theirs.accepted(within: .seconds(20))
      try await seen.state { $0.entries.count == 1 && $0.withheld.first?.held == 1 }
      #expect(seen.state.withheld.first?.device == stranger.id)
      // What rests on nothing of it goes on.
      try await mine.push("b")
      try await seen.state { Self.texts($0) == [#""a""#, #""b""#] }
      // It comes to trust the owner, and says by its next event who it is.
      await stranger.close()
      let known = try await family.device("stranger", .optional)
      let again = try await known.stack("alice/main")
      try await again.push("y")
      try await seen.state { $0.withheld.isEmpty && $0.entries.count == 4 }
      for device in [phone, laptop, known] { await device.close() }
    }
  }

  @Test func whoMayNotWriteIsToldSo() async throws {
    try await withFamily { family in
      let guest = try await family.device("guest", isGranted: false)
      let stack = try await guest.stack("alice/main")
      let error = await #expect(throws: ClientError.self) { try await stack.push("a") }
      #expect(error?.code == .notAuthorised)
      #expect(error?.message.contains("navsync keys grant alice") == true)
      #expect(try await guest.stack("bob/main").push("a").isChange)
      await guest.close()
      try family.grant("guest")
      let granted = try await family.device("guest", isGranted: false)
      #expect(try await granted.stack("alice/main").push("a").isChange)
      await granted.close()
    }
  }

  private struct Case: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var lie: Middleman.Lie
  }

  private static func change(
    _ message: EventsMessage, _ change: (inout [(dot: Dot, bytes: [UInt8])]) -> Void
  ) throws -> EventsMessage {
    let batch = try EventBatch(bytes: message.batch)
    var events = batch.records.map { (dot: $0.dot, bytes: Array(batch.bytes[$0.range])) }
    change(&events)
    var message = message
    message.batch = EventBatch(events).bytes
    return message
  }

  private static let first = Locked<[DeviceID: [UInt8]]>([:])

  private static let cases = [
    Case(testDescription: "alters a value") {
      try change($0) { events in
        // The value's only letter.
        for place in events.indices {
          if let at = events[place].bytes.firstIndex(of: UInt8(ascii: "\"")) { events[place].bytes[at + 1] ^= 1 }
        }
      }
    },
    Case(testDescription: "forges an event of a device") {
      try change($0) { events in
        guard let last = events.last else { return }
        // A pop to the root, a millisecond later.
        events.append((Dot(last.dot.device, last.dot.sequence + 1), [3, 2]))
      }
    },
    Case(testDescription: "strips the signature") {
      try change($0) { events in
        for place in events.indices {
          guard let end = events[place].bytes.lastIndex(of: UInt8(ascii: "\"")) else { continue }
          events[place].bytes.removeLast(events[place].bytes.count - end - 1)
          events[place].bytes[0] &= ~(1 << 6)
        }
      }
    },
    Case(testDescription: "says another did it") {
      try change($0) { events in
        let other = DeviceID(high: 4, low: 4)
        events = events.enumerated().map { (Dot(other, $0.offset + 1), $0.element.bytes) }
      }
    },
    Case(testDescription: "says that the first was done again") {
      try change($0) { events in
        for place in events.indices {
          let (dot, bytes) = events[place]
          events[place].bytes = first.withLock { known in
            if dot.sequence == 1 { known[dot.device] = bytes }
            return known[dot.device] ?? bytes
          }
        }
      }
    },
  ]

  @Test(arguments: cases.indices) func aLieIsNoticedAndNeverShown(_ number: Int) async throws {
    let lie = Self.cases[number]
    try await withFamily { family in
      let phone = try await family.device("phone")
      let mine = try await phone.stack("alice/main")
      for text in ["a", "b", "c"] { try await mine.push(text) }
      try await mine.accepted(within: .seconds(20))
      family.liar.tell(lie.lie)
      let laptop = try await family.device("laptop", daemon: family.liar.endpoint)
      let seen = try await laptop.stack("alice/main")
      try await seen.state { !$0.withheld.isEmpty }
      try await seen.live(within: .seconds(20))
      let honest = [[], [#""a""#], [#""a""#, #""b""#], [#""a""#, #""b""#, #""c""#]]
      #expect(honest.contains(Self.texts(seen.state)), "\(lie.testDescription): \(Self.texts(seen.state))")
      #expect(laptop.id != phone.id)
      await laptop.close()
      // The truth is taken afterwards, and nothing of the lie is left.
      family.liar.tell(nil)
      let again = try await family.device("laptop", daemon: family.liar.endpoint)
      let truth = try await again.stack("alice/main")
      try await truth.state { $0.withheld.isEmpty && Self.texts($0) == honest[3] }
      await again.close()
      await phone.close()
    }
  }

  @Test func aStackIsNotTakenForAnother() async throws {
    try await withFamily { family in
      let phone = try await family.device("phone")
      for name in ["alice/main", "alice/other"] {
        let stack = try await phone.stack(name)
        try await stack.push(name)
        try await stack.accepted(within: .seconds(20))
      }
      let kept = Locked<[UInt8]?>(nil)
      family.liar.tell { message in
        var message = message
        if message.stack == "alice/main" {
          kept.withLock { $0 = message.batch }
        } else if let batch = kept.withLock({ $0 }) {
          message.batch = batch
        }
        return message
      }
      let laptop = try await family.device("laptop", daemon: family.liar.endpoint)
      let main = try await laptop.stack("alice/main")
      try await main.state { $0.entries.count == 1 }
      let other = try await laptop.stack("alice/other")
      try await other.state { $0.withheld.first?.refused == 1 }
      #expect(other.state.entries.isEmpty)
      await laptop.close()
      await phone.close()
    }
  }

  /// Nobody can know of events that nobody shows; but who rests on them tells.
  @Test func aTailThatIsLeftOutShowsByWhatRestsOnIt() async throws {
    try await withFamily { family in
      let phone = try await family.device("phone")
      let tablet = try await family.device("tablet")
      let mine = try await phone.stack("alice/main")
      let theirs = try await tablet.stack("alice/main")
      try await mine.push("a")
      try await mine.push("b")
      try await theirs.state { $0.entries.count == 2 }
      try await theirs.push("c")
      try await theirs.accepted(within: .seconds(20))
      // It numbers what comes after as if nothing had been there, in however many messages the daemon sends it.
      let hidden = Dot(phone.id, 2)
      let place = Locked<Int?>(nil)
      family.liar.tell { message in
        var told = try Self.change(message) { events in
          guard let index = events.firstIndex(where: { $0.dot == hidden }) else { return }
          place.withLock { $0 = message.firstOffset + index }
          events.remove(at: index)
        }
        guard let place = place.withLock({ $0 }) else { return told }
        if message.previousOffset >= place { told.previousOffset -= 1 }
        if message.firstOffset > place { told.firstOffset -= 1 }
        return told.batch.isEmpty ? nil : told
      }
      let laptop = try await family.device("laptop", daemon: family.liar.endpoint)
      let seen = try await laptop.stack("alice/main")
      try await seen.state { $0.withheld.contains { $0.device == tablet.id && $0.held == 1 } }
      #expect(Self.texts(seen.state) == [#""a""#])
      for device in [laptop, phone, tablet] { await device.close() }
    }
  }

  /// A daemon's made-up event under this device's own id is no sign that another has its folder.
  @Test func aForgedEventOfOnesOwnDoesNotMakeANewIncarnation() async throws {
    try await withFamily { family in
      family.liar.tell { message in
        try Self.change(message) { events in
          guard let last = events.last else { return }
          events.append((Dot(last.dot.device, last.dot.sequence + 1), [3, 2]))
        }
      }
      let phone = try await family.device("phone", daemon: family.liar.endpoint)
      let id = phone.id
      let stack = try await phone.stack("alice/main")
      try await stack.live(within: .seconds(20))
      for text in ["a", "b", "c"] {
        try await stack.push(text)
        try await stack.accepted(within: .seconds(20))
      }
      #expect(phone.id == id)
      #expect(Self.texts(stack.state).count == 3)
      await phone.close()
    }
  }

  @Test func aNewIncarnationHasANewKey() async throws {
    try await withTemporaryFolder { folder in
      let path = folder.path + "/phone"
      let options = Device.Options(daemon: "ipc://\(folder.path)/none/sync", folder: path, connects: false)
      let phone = try await Device.open(name: "phone", options: options)
      let key = try #require(try Device.signingKey(in: path))
      #expect(key.verifyingKey.device == phone.id)
      await phone.close()
      let log = try SQLiteLog.open(at: path, program: "test")
      let id = try Device.renew(log, in: path)
      try log.close()
      let renewed = try #require(try Device.signingKey(in: path))
      #expect(renewed != key && renewed.verifyingKey.device == id)
      let mode = try FileManager.default.attributesOfItem(atPath: path + "/signing.key_secret")[.posixPermissions]
      #expect(mode as? Int == 0o600)
    }
  }

  // MARK: A replica

  private func rules(_ number: UInt8, owner: SigningKey, stack: StackName) throws -> StackRules {
    let key = try #require(SigningKey(seed: [UInt8](repeating: number, count: 32)))
    return StackRules(
      trust: SpaceTrust(space: stack.space, mode: .required, owner: owner.verifyingKey), signer: key,
      grant: Grant(space: stack.space, key: key.verifyingKey, name: try Name("phone"), expires: nil, by: owner))
  }

  @Test func oneSignatureACommit() throws {
    let name = try StackName("alice/main")
    let owner = SigningKey.random()
    let rules = try rules(1, owner: owner, stack: name)
    let device = try #require(rules.signer).verifyingKey.device
    let author = StackReplica(name, policy: nil, rules: rules)
    let reader = StackReplica(name, policy: nil, rules: try self.rules(2, owner: owner, stack: name))
    for commit in 0..<3 {
      for number in 0..<10 {
        let value = Value(type: "String", json: "\"\(commit) \(number)\"")
        _ = try author.act(.push([value]), by: device, at: 1000 + commit)
      }
      let append = try #require(author.append())
      #expect(append.heads.map(\.digest) == [author.chains.digest(of: device)])
      author.committed(firstOffset: nil)
      var chains = reader.chains
      var seals: [EventSeal] = []
      for record in append.batch.records {
        let event = try chains.receive(record.dot, Array(append.batch.bytes[record.range]))
        seals.append(EventSeal(try #require(event).unknownFields))
      }
      #expect(seals.map { $0.signature != nil } == [Bool](repeating: false, count: 9) + [true])
      // What readers have already isn't said again.
      #expect((seals.last?.grant != nil) == (commit == 0))
      try reader.receive(append.batch)
      #expect(reader.entries() == author.entries())
    }
    #expect(reader.chains.heads == author.chains.heads)
  }

  /// Everything that is stored stays good: what was received unsigned before is held by what is shown now.
  @Test func aLogFromBeforeIsShownAsFarAsItIsVouchedFor() throws {
    let name = try StackName("alice/main")
    let owner = SigningKey.random()
    let author = try rules(1, owner: owner, stack: name)
    let device = try #require(author.signer).verifyingKey.device
    let free = Replica(device: device, log: MemoryLog(epoch: 1))
    let old = try free.open(name, policy: nil)
    func push(_ text: String) throws {
      _ = try free.act(.push([Value(type: "String", json: "\"\(text)\"")]), on: name, id: nil, at: 1000)
      _ = try free.commit()
    }
    try push("a")
    try push("b")
    let log = try #require(free.log)
    let reader = try StackReplica(name, policy: nil, from: log, rules: try rules(2, owner: owner, stack: name))
    #expect(reader.entries().isEmpty)
    #expect(reader.chains.vector == old.chains.vector)
    let own = try StackReplica(name, policy: nil, from: log, rules: author)
    #expect(own.entries().count == 2)
    _ = try own.act(.push([Value(type: "String", json: "\"c\"")]), by: device, at: 1001)
    let append = try #require(own.append())
    try reader.receive(append.batch)
    try reader.refold(from: log)
    #expect(reader.entries() == own.entries())
  }

  /// What a replaced store had of others unsigned is kept in the new one, and nobody vouches for it by that.
  @Test func whatIsTakenOverFromAReplacedStoreIsNotVouchedForByThat() throws {
    let name = try StackName("alice/main")
    let owner = SigningKey.random()
    let free = Replica(device: DeviceID(high: 0, low: 10), log: MemoryLog(epoch: 1))
    _ = try free.open(name, policy: nil)
    for text in ["a", "b"] {
      _ = try free.act(.push([Value(type: "String", json: "\"\(text)\"")]), on: name, id: nil, at: 1000)
    }
    _ = try free.commit()
    let old = try #require(free.log)
    let log = MemoryLog(epoch: 2)
    let rules = try rules(2, owner: owner, stack: name)
    let replica = StackReplica(name, policy: .merge, rules: rules)
    for stored in try old.read(name, after: 0, maximumBytes: 1 << 20) {
      for record in stored.batch.records {
        try replica.takeOver(record.dot, Array(stored.batch.bytes[record.range]))
      }
    }
    try replica.refold(from: log)
    #expect(replica.entries().isEmpty)
    replica.committed(firstOffset: try log.append([try #require(replica.append())]).first)
    #expect(replica.withheld.map(\.held) == [2])
    let again = try StackReplica(name, policy: .merge, from: log, rules: rules)
    #expect(again.entries().isEmpty)
    #expect(again.chains.vector == replica.chains.vector)
    #expect(again.withheld == replica.withheld)
  }
}
