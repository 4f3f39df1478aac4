import NavigationModel
import Replication
import WireFormat

/// Runs the commands of a scenario file on a ``ServerWorld``. Devices are letters; stacks are named without a space,
/// which is `s/`. See the files for what there is.
struct ServerScript {
  struct Fault: Error, CustomStringConvertible {
    var description: String
  }

  var world = ServerWorld()
  private var output: [String] = []

  /// The output of some commands, one a line.
  mutating func run(_ commands: [String]) throws -> String {
    output = []
    for command in commands {
      do { try run(command) } catch { throw Fault(description: "\(command): \(error)") }
    }
    return output.isEmpty ? "ok" : output.joined(separator: "\n")
  }

  private mutating func run(_ command: String) throws {
    var words = command.split(separator: " ").map(String.init)
    let verb = words.removeFirst()
    let options = words.filter { $0.contains("=") }.reduce(into: [String: String]()) { result, word in
      let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      result[String(parts[0])] = String(parts[1])
    }
    let plain = words.filter { !$0.contains("=") }
    switch verb {
    case "act": try act(plain, options)
    case "learn": world.learn(try device(plain[0]), from: try device(plain[1]), on: try stack(plain[2]))
    case "forget":
      world.devices[try device(plain[0])] = nil
      world.events[try device(plain[0])] = nil
    case "log" where plain == ["store"]: world.storeUntold()
    case "log": output += ["load", "commit", "read", "recall", "list"].contains(plain[0]) ? try logDoes(plain) : []
    case "settle": settle()
    case "full": world.full.insert(try peer(plain[0]))
    case "room": world.full.remove(try peer(plain[0]))
    case "gone":
      world.gone.insert(try peer(plain[0]))
      if plain.count > 1 { world.core.peerGone(try peer(plain[0]), at: world.moment) }
    case "lost": world.core.connectionLost(at: world.moment)
    case "time":
      world.now += try number(plain[0])
      world.wall += try number(plain[0])
      if let deadline = world.core.deadline, deadline <= world.now { world.core.timerFired(at: world.moment) }
    case "wall": world.wall += try number(plain[0])
    case "limits": try limit(options)
    case "stopping": world.core.stopping()
    case "counters":
      output += world.core.counters.nonzero.map { "\($0.counter.name) \($0.value)" }
      output += world.core.gauges.map { "\($0.name) \($0.value)" }
    case _: world.receive(try message(verb, plain, options), from: try peer(plain[0]))
    }
    report(world.drain())
  }

  /// Begins anew, with other limits.
  private mutating func limit(_ options: [String: String]) throws {
    let numbers = try options.mapValues(number)
    world = ServerWorld { configuration in
      for (name, number) in numbers {
        switch name {
        case "sessions": configuration.maximumSessions = number
        case "requests": configuration.requestsASecond = number
        case "follows": configuration.limits.follows = number
        case "devices": configuration.limits.devicesAStack = number
        case "events": configuration.limits.eventsAnAppend = number
        case "event": configuration.limits.event = number
        case "backlog": configuration.maximumBacklog = number
        case "batch": configuration.batchBytes = number
        case "commit": configuration.commitBytes = number
        case "credit": configuration.limits.credit = number
        case "idle": configuration.idleStacks = number
        case _: preconditionFailure("no limit is called \(name)")
        }
      }
    }
  }

  private mutating func act(_ plain: [String], _ options: [String: String]) throws {
    let values = options["values"].map { $0.split(separator: ",").map(String.init) }
    let count = try options["count"].map(number) ?? 1
    world.act(
      try device(plain[0]), on: try stack(plain[1]), values: values ?? (0..<count).map { "v\($0)" },
      milliseconds: try options["ahead"].map { world.wall + (try number($0)) })
  }

  /// `log commit`: the first such wish that waits comes true; `log commit disk full`: it fails so.
  private mutating func logDoes(_ words: [String]) throws -> [String] {
    let place = world.pending.firstIndex { (Self.wish($0) ?? "").hasPrefix(words[0]) }
    guard let place else { throw Fault(description: "nothing of that kind is asked for") }
    if words.count == 1 { world.complete(place) } else { world.fail(place, words.dropFirst().joined(separator: " ")) }
    return []
  }

  private mutating func settle() {
    report(world.drain())
    while !world.pending.isEmpty {
      world.complete(0)
      report(world.drain())
    }
  }

  // MARK: Messages

  private func message(_ verb: String, _ plain: [String], _ options: [String: String]) throws -> Message {
    let text = plain.count > 1 ? Self.full(plain[1]) : ""
    switch verb {
    case "hello":
      return .hello(
        Hello(
          protocolVersion: try options["protocol"].map(number) ?? 1, device: try options["device"].map(device),
          name: options["name"] ?? (options["device"] ?? "").lowercased(), software: "test"))
    case "follow":
      var start = FollowStart.vector(try options["have"].map { try heads($0, on: try stack(plain[1])) } ?? [])
      if let offset = options["offset"] {
        start = .offset(try number(offset), epoch: UInt64(try options["epoch"].map(number) ?? 7))
      }
      return .follow(
        Follow(
          stack: text, policy: try options["policy"].map(policy), start: start,
          wantsAuthorStates: plain.contains("states")))
    case "unfollow": return .unfollow(Unfollow(stack: text))
    case "append":
      let bounds = plain[3].split(separator: "-")
      let sequences = (try number(String(bounds[0])))...(try number(String(bounds.last!)))
      var append = world.append(
        try device(plain[2]), on: try stack(plain[1]), sequences, policy: try options["policy"].map(policy))
      if let previous = options["previous"] { append.previous = Digest(high: 0, low: UInt64(try number(previous))) }
      if let first = options["as"] { append.firstSequence = try number(first) }
      if options["none"] != nil { append.events = [] }
      if let byte = options["byte"] { append.events[append.events.count - 1][0] = UInt8(try number(byte)) }
      return .append(append)
    case "credit": return .credit(Credit(bytes: try number(plain[1])))
    case "ping":
      return .ping(
        Ping(
          heads: try options.sorted { $0.key < $1.key }.map {
            StackHead(stack: Self.full($0.key), offset: try number($0.value))
          }))
    case "presence":
      var top: EntryID?
      if let dot = options["top"] {
        top = EntryID(Dot(try device(String(dot.prefix(1))), try number(String(dot.dropFirst()))), 0)
      }
      return .presence(Presence(stack: text, state: plain.contains("gone") ? .gone : .active, top: top))
    case "list": return .list(List(space: plain.count > 1 ? plain[1] : ""))
    case "status": return .statusRequest(StatusRequest())
    case "range":
      return .range(
        RangeRequest(
          stack: text, epoch: UInt64(try options["epoch"].map(number) ?? 7), from: try number(plain[2]),
          to: try number(plain[3])))
    case "welcome": return .welcome(Welcome(daemon: DeviceID(high: 0, low: 0), epoch: 0, serverTime: 0))
    case _: throw Fault(description: "no such command")
    }
  }

  private func heads(_ text: String, on stack: StackName) throws -> [DeviceHead] {
    try text.split(separator: ",").map { part in
      let device = try device(String(part.prefix(1)))
      let sequence = try number(String(part.dropFirst().prefix { $0.isNumber }))
      var digest = ChainDigest(stack: stack, device: device)
      for bytes in (world.events[device]?[stack] ?? []).prefix(sequence) { digest.append(bytes) }
      let isOther = part.hasSuffix("!")
      return DeviceHead(
        device: device, sequence: sequence, digest: isOther ? Digest(high: 1, low: 1) : digest.digest)
    }
  }

  // MARK: Words

  private func number(_ text: String) throws -> Int {
    guard let number = Int(text) else { throw Fault(description: "'\(text)' is no number") }
    return number
  }

  private func device(_ text: String) throws -> DeviceID {
    guard text.count == 1, let byte = text.utf8.first, (65...90).contains(byte) else {
      throw Fault(description: "'\(text)' is no device; they are A to Z")
    }
    return DeviceID(high: 0, low: UInt64(byte))
  }

  private func peer(_ text: String) throws -> ServerCore.Peer {
    guard text.hasPrefix("p") else { throw Fault(description: "'\(text)' is no peer") }
    return ServerCore.Peer(UInt64(try number(String(text.dropFirst()))))
  }

  private func stack(_ text: String) throws -> StackName { try StackName(Self.full(text)) }

  private func policy(_ text: String) throws -> Policy {
    guard let policy = Policy(text) else { throw Fault(description: "'\(text)' is no policy") }
    return policy
  }

  private static func full(_ text: String) -> String { text.hasPrefix("/") ? String(text.dropFirst()) : "s/" + text }

  // MARK: Output

  private mutating func report(_ actions: [ServerCore.Action]) {
    for action in actions {
      switch action {
      case .send(let peers, let bytes, _):
        guard let message = try? Message(decoding: bytes) else { continue }
        let names = peers.map { peer in
          "p\(peer.number)" + (world.gone.contains(peer) ? "(gone)" : world.full.contains(peer) ? "(full)" : "")
        }
        output.append("\(names.joined(separator: ",")) <- \(ServerText.message(message))")
      case .load, .commit, .read, .recall, .list: output.append(Self.wish(action)!)
      case .keepName(let device, let name): output.append("keep name of \(ServerText.device(device)): \(name)")
      case .publish(let message): output.append("publish \(ServerText.message(.events(message)))")
      case .forget(let peer): output.append("forget p\(peer.number)")
      case .log(let record):
        guard record.level.rawValue >= ServerCore.LogRecord.Level.warning.rawValue else { continue }
        output.append("log \(record.level): \(record.text)")
      }
    }
  }

  private static func start(_ start: ServerCore.ReadStart) -> String {
    switch start {
    case .offset(let offset): "\(offset)"
    case .vector(let vector): ServerText.vector(vector)
    }
  }

  private static func wish(_ action: ServerCore.Action) -> String? {
    switch action {
    case .load(let stack): "load \(stack)"
    case .commit(let commit):
      "commit \(commit.number): "
        + commit.parts.map { "\($0.stack) \(ServerText.batch($0.batch)) \($0.policy)" }.joined(separator: "; ")
    case .read(let read):
      "read \(read.stack) after \(start(read.start)) at most \(read.maximumBytes) bytes for p\(read.peer.number)"
    case .recall(let recall):
      "recall \(recall.stack) \(ServerText.device(recall.device))\(recall.sequences.lowerBound)-\(recall.sequences.upperBound)"
    case .list(let space, let peer): "list \(space?.description ?? "all") for p\(peer.number)"
    case .send, .keepName, .publish, .forget, .log: nil
    }
  }
}
