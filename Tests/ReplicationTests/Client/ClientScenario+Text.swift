import NavigationModel
import Replication
import WireFormat

func mustName(_ text: String) -> Name {
  do { return try Name(text) } catch { preconditionFailure("\(error)") }
}

extension ClientScenario {
  /// `a:1..3,b:2` as dots.
  func dots(_ text: String) -> [Dot] {
    text.split(separator: ",").flatMap { part -> [Dot] in
      let halves = part.split(separator: ":")
      let ends = halves[1].split(separator: ".").compactMap { Int($0) }
      return (ends[0]...(ends.last ?? ends[0])).map { Dot(device(halves[0]), $0) }
    }
  }

  func entry(_ text: String?) -> EntryID? {
    guard let text, text != "root" else { return nil }
    let parts = text.split(separator: ":")
    return EntryID(Dot(device(parts[0]), Int(parts[1]) ?? 0), Int(parts[2]) ?? 0)
  }

  func message(_ kind: String, _ fields: [String: String], _ stack: StackName) -> Message? {
    func number(_ name: String, _ otherwise: Int = 0) -> Int { fields[name].flatMap { Int($0) } ?? otherwise }
    let name = stack.description
    let dot = dots(fields["dot"] ?? "").first ?? Dot(device("a"), 1)
    let code = fields["code"].flatMap { Self.codes[$0] } ?? .malformed
    switch kind {
    case "welcome":
      var limits = Limits()
      limits.credit = number("credit", limits.credit)
      return .welcome(
        Welcome(daemon: device("d"), epoch: UInt64(number("epoch", 1)), serverTime: number("time"), limits: limits))
    case "following":
      return .following(
        Following(
          stack: name, exists: number("head") > 0, policy: number("head") > 0 ? .merge : nil, head: number("head"),
          heads: heads(fields["heads"] ?? "", of: stack)))
    case "events":
      let all = dots(fields["dots"] ?? "")
      let batch = EventBatch(all.map { (dot: $0, bytes: Array("\(letter($0.device))\($0.sequence)".utf8)) })
      return .events(
        EventsMessage(
          stack: name, epoch: UInt64(number("epoch", 1)), previousOffset: number("previous"),
          firstOffset: number("first"), batch: fields["damaged"] == nil ? batch.bytes : [255]))
    case "live": return .live(Live(stack: name, offset: number("offset")))
    case "accepted":
      return .accepted(
        Accepted(stack: name, device: dot.device, throughSequence: dot.sequence, offset: number("offset")))
    case "rejected":
      var missing = VersionVector()
      for lacking in dots(fields["missing"] ?? "") { missing[lacking.device] = lacking.sequence }
      return .rejected(
        Rejected(
          stack: name, dot: dot, code: code, detail: "why", expectedSequence: number("expected"), missing: missing))
    case "refused":
      return .refused(
        Refused(
          about: fields["about"].flatMap { Self.subjects[$0] } ?? .message,
          stack: fields["about"] == "hello" ? "" : name,
          code: code, reason: "why"))
    case "pong":
      return .pong(
        Pong(serverTime: 0, heads: fields["head"] == nil ? [] : [StackHead(stack: name, offset: number("head"))]))
    case "presence":
      return .presence(
        Presence(
          stack: name, device: device(fields["device"] ?? "b"), name: "tv",
          state: fields["state"] == "gone" ? .gone : .active, top: entry(fields["top"])))
    case "listing": return .listing(Listing(last: true))
    case _: return nil
    }
  }

  /// `a:3,b:2!`: with our digests, but for those marked by `!`.
  private func heads(_ text: String, of stack: StackName) -> [DeviceHead] {
    text.split(separator: ",").map { part in
      let dot = dots(part.hasSuffix("!") ? String(part.dropLast()) : String(part))[0]
      let log = replica.logs[stack] ?? .init()
      let known = dot.sequence <= log.vector[dot.device] && !part.hasSuffix("!")
      let digest = known ? log.digest(of: dot.device, at: dot.sequence) : Digest(high: 9, low: 9)
      return DeviceHead(device: dot.device, sequence: dot.sequence, digest: digest)
    }
  }

  static let codes: [String: RefusalCode] = [
    "sequenceGap": .sequenceGap, "missingContext": .missingContext, "clockAhead": .clockAhead, "storage": .storage,
    "busy": .busy, "fork": .fork, "policyMismatch": .policyMismatch, "notAuthorised": .notAuthorised,
    "helloNeeded": .helloNeeded, "unsupported": .unsupported, "epochChanged": .epochChanged, "tooLarge": .tooLarge,
  ]
  static let subjects: [String: Subject] = [
    "hello": .hello, "follow": .follow, "append": .append, "range": .range, "list": .list,
  ]

  private func name(_ code: RefusalCode) -> String {
    Self.codes.first { $0.value == code }?.key ?? "\(code.rawValue)"
  }

  func describe(_ output: ClientOutput) -> String? {
    switch output {
    case .connect: "connect"
    case .disconnect: "disconnect"
    case .send(let message): "send \(describe(message))"
    case .readHeads, .checkHeads: nil
    case .readEvents(let order):
      "read \(order.stack) after \(order.after.map(String.init) ?? "?") lacked by \(describe(order.lackedBy))"
    case .deliver(let stack, let batch, let first, _): "deliver \(stack) \(first): \(describe(batch))"
    case .policy(let stack, let policy): "policy \(stack) \(policy)"
    case .acknowledged(let stack, let device, let through): "acknowledged \(stack) \(letter(device)):\(through)"
    case .rejected(let stack, let dot, let code, _, let waits):
      "rejected \(stack) \(letter(dot.device)):\(dot.sequence) \(name(code))\(waits ? ", waits" : "")"
    case .refused(let stack, let code, _, let waits): "refused \(stack) \(name(code))\(waits ? ", waits" : "")"
    case .forked(let stack, let devices): "forked \(stack) \(devices.map(letter).joined(separator: ","))"
    case .live(let stack): "live \(stack)"
    case .presence(let stack, let peer):
      "presence \(stack) \(letter(peer.device)) \(peer.name) \(peer.state) \(describe(peer.top))"
    case .answer: "answer"
    case .state(.refused(let code, _)): "state refused \(name(code))"
    case .state(let state): "state \(state)"
    case .opened(let time, _): "opened \(time)"
    case .time(let time): "time \(time)"
    }
  }

  private func describe(_ message: Message) -> String {
    switch message {
    case .hello(let hello): "hello \(hello.device.map(letter) ?? "observer")"
    case .follow(let follow):
      switch follow.start {
      case .vector(let heads):
        "follow \(follow.stack) have {\(heads.map { "\(letter($0.device)):\($0.sequence)" }.joined(separator: " "))}"
          + (follow.policy.map { " policy \($0)" } ?? "")
      case .offset(let offset, _): "follow \(follow.stack) from \(offset)"
      }
    case .unfollow(let unfollow): "unfollow \(unfollow.stack)"
    case .append(let append):
      "append \(append.stack) \(letter(append.device)):\(append.firstSequence)..\(append.firstSequence + append.events.count - 1)"
    case .credit(let credit): "credit \(credit.bytes)"
    case .ping(let ping): "ping " + ping.heads.map { "\($0.stack)@\($0.offset)" }.joined(separator: " ")
    case .presence(let presence): "presence \(presence.stack) \(presence.state) \(describe(presence.top))"
    case .list(let list): "list \(list.space)"
    case .range(let range): "range \(range.stack) \(range.from)..\(range.to)"
    case _: "\(message)"
    }
  }

  private func describe(_ vector: VersionVector) -> String {
    "{" + vector.elements.map { "\(letter($0.device)):\($0.sequence)" }.joined(separator: " ") + "}"
  }

  private func describe(_ batch: EventBatch) -> String {
    batch.records.map { "\(letter($0.dot.device)):\($0.dot.sequence)" }.joined(separator: " ")
  }

  private func describe(_ entry: EntryID?) -> String {
    entry.map { "\(letter($0.dot.device)):\($0.dot.sequence):\($0.index)" } ?? "root"
  }
}
