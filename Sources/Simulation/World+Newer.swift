import EventLog
import NavigationModel
import WireFormat

extension World {
  /// What goes over the network for a frame: somebody of a newer version says more than is known here.
  func asSent(_ bytes: [UInt8], by place: Place) -> [[UInt8]] {
    if otherVersionUntil[place].map({ now < $0 }) == true, case .hello(var hello) = try? Message(decoding: bytes) {
      count("greetings of another version")
      hello.protocolVersion += 1
      return [Message.hello(hello).encoded()]
    }
    guard newerUntil[place].map({ now < $0 }) == true, bytes.count < 100_000,
      let message = try? Message(decoding: bytes)
    else { return [bytes] }
    count("messages of a newer version")
    // A field that isn't known, in the message and beside it, and a message of an unknown kind before it.
    return [Self.unknownKind, message.newer(Self.unknownField).encoded() + Self.unknownField]
  }

  /// A device of a newer version did something at this daemon: two events, of which the first is of a kind that isn't
  /// known, and the second rests on it.
  ///
  /// - Returns: false if the disk doesn't take them.
  func storeUnreadable(_ daemon: SimulatedDaemon) -> Bool {
    guard let disk = daemon.disk else { return false }
    let stack = daemon.random.pick(setting.stacks)
    let device = DeviceID(high: daemon.random.next(), low: daemon.random.next())
    var chains = StackChains(stack: stack)
    let events: [(dot: Dot, bytes: [UInt8])] = [(Dot(device, 1), [0x06, 1, 2, 3]), (Dot(device, 2), [0x07])]
    for event in events {
      guard (try? chains.receive(event.dot, event.bytes)) == .some(nil) else {
        preconditionFailure("an event that can be read")
      }
    }
    let append = LogAppend(
      stack: stack, policy: disk.contents.info(of: stack)?.policy ?? policy, batch: EventBatch(events),
      heads: [StoredHead(device: device, sequence: 2, digest: chains.digest(of: device))], newestTime: 0)
    guard case .done = disk.write(.appends([append])).ending else { return false }
    count("events of an unknown kind", events.count)
    return true
  }

  /// Field 99 with the bytes "new".
  private static let unknownField: [UInt8] = [0x9A, 0x06, 3] + Array("new".utf8)
  private static let unknownKind: [UInt8] = [0xA2, 0x06, 3] + Array("new".utf8)
}

extension Message {
  /// The same message with a field more.
  fileprivate func newer(_ field: [UInt8]) -> Message {
    func with<Part>(_ part: Part, _ path: WritableKeyPath<Part, UnknownFields>) -> Part {
      var part = part
      part[keyPath: path] += field
      return part
    }
    return switch self {
    case .hello(let part): .hello(with(part, \.unknown))
    case .welcome(let part): .welcome(with(part, \.unknown))
    case .refused(let part): .refused(with(part, \.unknown))
    case .follow(let part): .follow(with(part, \.unknown))
    case .following(let part): .following(with(part, \.unknown))
    case .events(let part): .events(with(part, \.unknown))
    case .live(let part): .live(with(part, \.unknown))
    case .unfollow(let part): .unfollow(with(part, \.unknown))
    case .append(let part): .append(with(part, \.unknown))
    case .accepted(let part): .accepted(with(part, \.unknown))
    case .rejected(let part): .rejected(with(part, \.unknown))
    case .credit(let part): .credit(with(part, \.unknown))
    case .ping(let part): .ping(with(part, \.unknown))
    case .pong(let part): .pong(with(part, \.unknown))
    case .presence(let part): .presence(with(part, \.unknown))
    case .list(let part): .list(with(part, \.unknown))
    case .listing(let part): .listing(with(part, \.unknown))
    case .statusRequest(let part): .statusRequest(with(part, \.unknown))
    case .statusReport(let part): .statusReport(with(part, \.unknown))
    case .range(let part): .range(with(part, \.unknown))
    case .pair(let part): .pair(with(part, \.unknown))
    case .paired(let part): .paired(with(part, \.unknown))
    }
  }
}
