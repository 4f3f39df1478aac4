package import ArgumentParsing
import NavigationModel
import WireFormat

/// `navsync watch`.
package struct Watch: RunnableCommand {
  package static let configuration = CommandConfiguration(
    name: "watch", abstract: "Follow a stack, a line a change, until interrupted.",
    discussion: """
      Begins with the stack as it is. When the daemon goes away it waits for it and goes on where it was. A stack that \
      nobody has acted on yet is watched from its first action on.
      """,
    examples: [
      CommandExample("navsync watch alice/main", "Every action on any device, as it comes."),
      CommandExample("navsync watch alice/main --json | jq -c .stack", "The stack after each change, for a program."),
    ])

  @Argument(help: "The stack, as space/stack.") var stack: StackName
  @Option(placeholder: "N", help: "End after so many changes.") var count: Int?
  @OptionGroup var daemon: DaemonOptions
  @OptionGroup var output: OutputOptions

  package init() {}

  package func validate() throws {
    if let count, count < 1 { throw ValueError("--count must be at least 1") }
  }

  package func run(on console: Console) async throws {
    var watcher = try Watcher(stack: stack, console: console, json: output.json, remaining: count)
    var session: DaemonSession? = try await DaemonSession.open(daemon.daemon, on: console)
    while true {
      do {
        if let session { return try await watcher.follow(session) }
      } catch let error as CommandError where error.code == .unreachable {
        console.say(session.map { "the daemon at \($0.endpoint) is gone; waiting for it" } ?? "\(error)")
      }
      session = nil
      session = try await DaemonSession.whenThere(daemon.daemon, on: console)
      console.say("the daemon is back")
    }
  }
}

/// What a watch has seen so far; it outlives the session.
private struct Watcher: ~Copyable {
  let stack: StackName
  let console: Console
  let json: Bool
  var remaining: Int?
  var names = DeviceNames()
  var vetting: StackVetting
  var chains: StackChains
  var fold: StackFold?
  /// All that came, where it can't be folded as it comes: a device id has several histories, or an event can't be read.
  var claims: StackClaims?
  var forks: [Dot] = []
  /// What comes is of the follow before.
  var isAsking = false
  var isLive = false
  var told: Set<Conflict> = []

  init(stack: StackName, console: Console, json: Bool, remaining: Int?) throws {
    self.stack = stack
    vetting = try StackVetting(stack)
    self.console = console
    self.json = json
    self.remaining = remaining
    chains = StackChains(stack: stack)
  }

  /// Returns when as many changes as were asked for have come.
  mutating func follow(_ session: DaemonSession) async throws {
    try await learnNames(session)
    session.send(.follow(Follow(stack: stack.description, start: .vector(chains.liveHeads))))
    while true {
      switch try await session.next() {
      case .following(let following):
        isAsking = false
        if fold == nil, let policy = following.policy { fold = StackFold(policy: policy) }
        if !following.exists { console.say("nobody has acted on \(stack) yet; waiting for the first") }
      case .events where isAsking: continue
      case .events(let events):
        if fold == nil { fold = StackFold(policy: try await policy(session)) }
        try await take(events, session)
        if remaining == 0 { return }
      case .live where isAsking: continue
      case .live:
        if !isLive {
          isLive = true
          try printBeginning()
        }
      case .presence(let presence): try tell(presence)
      case .refused(let refused): throw session.error(refused)
      case _: continue
      }
    }
  }

  private mutating func learnNames(_ session: DaemonSession) async throws {
    for (device, name) in try await session.deviceNames().all { names.note(name, of: device) }
  }

  /// Of a stack that has come to be while it was watched.
  private mutating func policy(_ session: DaemonSession) async throws -> Policy {
    let listing = try await session.list(space: stack.space.description)
    return listing.stacks.first { $0.stack == stack.description }?.policy ?? .merge
  }

  private mutating func take(_ events: EventsMessage, _ session: DaemonSession) async throws {
    var fresh: [Event] = []
    var needsClaims = false
    do {
      let batch = try vetting.pass(try EventBatch(bytes: events.batch))
      vetting.tell(names, on: console)
      var chains = self.chains
      try batch.forEach { (record) throws(ChainFault) in
        guard !chains.vector.contains(record.dot), !chains.retired.contains(record.dot.device) else { return }
        let (device, sequence) = (record.dot.device, record.dot.sequence)
        let event: Event?
        if claims != nil {
          event = try claims!.receive(device, sequence, batch.bytes, in: record.range)
          chains = claims!.chains
        } else {
          event = try chains.receive(device, sequence, batch.bytes, in: record.range)
        }
        if let event { fresh.append(event) } else { needsClaims = true }
      }
      self.chains = chains
    } catch let error as CommandError { throw error } catch {
      throw CommandError(.damage, "the daemon sent an event of \(stack) that can't be taken: \(error)")
    }
    if claims != nil { return try foldAnew(fresh) }
    if needsClaims { return beginAgain(session) }
    for event in fresh {
      let isVoid = fold?.apply(event) ?? true
      guard isLive, remaining != 0 else { continue }
      if names[event.dot.device] == nil { try await learnNames(session) }
      try printChange(event, isVoid)
      if let left = remaining { remaining = left - 1 }
    }
  }

  /// What is to be folded may be another history now, so all of it is needed.
  private mutating func beginAgain(_ session: DaemonSession) {
    console.say("\(stack): a device id has several histories, or an event needs a newer version; it is read anew")
    claims = StackClaims(stack: stack)
    vetting.begin()
    chains = StackChains(stack: stack)
    fold = nil
    isLive = false
    isAsking = true
    session.send(.unfollow(Unfollow(stack: stack.description)))
    session.send(.follow(Follow(stack: stack.description)))
  }

  private mutating func foldAnew(_ fresh: [Event]) throws {
    guard let admission = claims?.admission, let policy = fold?.policy else { return }
    var folded = StackFold(policy: policy)
    var voids: Set<Dot> = []
    for event in admission.events where folded.apply(event) { voids.insert(event.dot) }
    fold = consume folded
    forks = admission.forks
    for event in fresh where isLive && remaining != 0 {
      try printChange(event, voids.contains(event.dot))
      if let left = remaining { remaining = left - 1 }
    }
  }

  private mutating func conflicts() -> [Conflict] { ((fold?.conflicts() ?? []) + forks.map(Conflict.fork)).sorted() }

  private mutating func printBeginning() throws {
    guard fold != nil else { return }
    let entries = fold?.entries() ?? []
    let conflicts = conflicts()
    told = Set(conflicts)
    if json { return try printJSON(event: nil, entries, conflicts) }
    try console.print("\(stack)  \(breadcrumbs(entries))")
  }

  private mutating func printChange(_ event: Event, _ isVoid: Bool) throws {
    let entries = fold?.entries() ?? []
    let conflicts = conflicts()
    if json { return try printJSON(event: event, entries, conflicts) }
    let time = console.styled(localTimeOfDay(milliseconds: event.timestamp.milliseconds), .dim)
    let who = console.styled(names.text(event.dot.device), .cyan)
    try console.print(
      "\(time)  \(who)  \(text(of: event.action))\(isVoid ? " (void)" : "")  →  \(breadcrumbs(entries))")
    var values: [EntryID: Value] = [:]
    for entry in entries { values[entry.id] = entry.value }
    for conflict in conflicts where !told.contains(conflict) {
      try console.print("  " + console.styled("! \(text(of: conflict, names, values))", .yellow))
    }
    told = Set(conflicts)
  }

  private func printJSON(event: Event?, _ entries: [Entry], _ conflicts: [Conflict]) throws {
    var json = JSONWriter()
    json.raw("{")
    if let event {
      json.raw(#""event":"#)
      json.raw(JSONLines.line(event, stack: stack.description, previous: nil))
      json.raw(#","author":"#)
      json.string(names.text(event.dot.device))
      json.raw(",")
    }
    json.raw(#""stack":"#)
    json.raw(JSONLines.stack(entries))
    json.raw(#","conflicts":["#)
    json.list(JSONLines.conflicts(conflicts)) { $0.raw($1) }
    json.raw("]}\n")
    try console.write(json.bytes)
  }

  private mutating func tell(_ presence: Presence) throws {
    guard let device = presence.device, !json else { return }
    names.note(presence.name, of: device)
    let state =
      switch presence.state {
      case .active: "is here"
      case .away: "is away"
      case .gone: "is gone"
      }
    console.say("\(names.text(device)) \(state)")
  }
}
