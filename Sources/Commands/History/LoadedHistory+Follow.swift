import EventLog
import NavigationModel
import StackHistory
import WireFormat

extension LoadedHistory {
  /// What there is to tell of a history that is followed.
  enum News {
    /// Events that came, by their numbers.
    case events(Range<Int>)
    /// All was folded anew, and the numbers are others now.
    case refolded(Refolding)
  }

  /// What became other when a history was folded anew.
  struct Refolding {
    /// What happened, for a person.
    var reason: String
    /// The numbers of the events that were not folded before.
    var fresh: Set<Int>
    /// What wasn't there before and isn't folded.
    var unfolded: [HistoryItem]
    /// What was folded before and isn't any more.
    var dropped: [Event]
  }

  /// Tells what comes, until interrupted. A daemon that goes away is waited for; a store is looked at five times a second;
  /// a file ends at once.
  ///
  /// - Parameter daemon: the one that was named.
  func follow(daemon: String?, on console: Console, _ tell: (News) async throws -> Void) async throws {
    switch history.source {
    case .file, .export: return
    case .store(let reader, _):
      var offset = 0
      do { offset = try reader.offset(in: history.stack, lackedBy: vectorHeld) } catch { throw commandError(error) }
      while true {
        do {
          for batch in try reader.read(history.stack, after: offset, maximumBytes: 1 << 20) {
            offset = max(offset, batch.firstOffset + batch.batch.count - 1)
            if try await take(batch.batch, at: batch.firstOffset, tell) == .anew { try await readAnew(tell) }
          }
        } catch let error as LogError { throw commandError(error) }
        try await Task.sleep(for: .milliseconds(200))
      }
    case .daemon(let first):
      var session = first
      var epoch = first.welcome.epoch
      while true {
        do {
          try await follow(session, on: console, tell)
        } catch let error as CommandError where error.code == .unreachable {
          console.say("the daemon at \(session.endpoint) is gone; waiting for it, Ctrl-C ends")
        }
        session = try await DaemonSession.whenThere(daemon, on: console)
        history.goOn(with: session)
        console.say("the daemon is back")
        do {
          if session.welcome.epoch == epoch {
            session.send(
              .follow(Follow(stack: history.stack.description, start: .vector(history.heads(timeline)))))
          } else {
            epoch = session.welcome.epoch
            try await readAnew(because: "the daemon's log is another one now", tell)
          }
        } catch let error as CommandError where error.code == .unreachable { continue }
      }
    }
  }

  /// Takes what came into a store since it was read, if that is little: a megabyte at most, in some milliseconds.
  ///
  /// - Returns: false if all of it has to be read anew: there is more, or what came isn't simply appended, as where a
  ///   device acted twice under one id.
  func takeStored() throws -> Bool {
    guard case .store(let reader, _) = history.source, !history.isForked, history.unread == 0 else { return false }
    var offset = try reader.offset(in: history.stack, lackedBy: vectorHeld)
    for _ in 0..<4 {
      let batches = try reader.read(history.stack, after: offset, maximumBytes: 1 << 18)
      if batches.isEmpty { return true }
      for batch in batches {
        guard !batch.batch.authors.map(\.device).contains(where: Fork.mayBeCopy) else { return false }
        try history.receive(try history.vetting.pass(batch.batch), at: batch.firstOffset, into: &timeline)
        offset = batch.firstOffset + batch.batch.count - 1
      }
    }
    return false
  }

  private var vectorHeld: VersionVector {
    var vector = VersionVector()
    for head in history.heads(timeline) { vector[head.device] = head.sequence }
    return vector
  }

  /// Ends when the session does.
  private func follow(
    _ session: DaemonSession, on console: Console, _ tell: (News) async throws -> Void
  ) async throws {
    while true {
      switch try await session.next() {
      case .events(let events) where events.stack == history.stack.description:
        let batch: EventBatch
        do { batch = try EventBatch(bytes: events.batch) } catch {
          throw history.damage(at: events.firstOffset, "\(error)")
        }
        try await learnNames(of: batch, session)
        if try await take(batch, at: events.firstOffset, tell) == .anew { try await readAnew(tell) }
      case .following(let following) where !following.exists && following.stack == history.stack.description:
        console.say("the daemon has no \(history.stack) any more; waiting for its first event")
      case .presence(let presence): if let device = presence.device { history.note(presence.name, of: device) }
      case .refused(let refused): throw session.error(refused)
      case _: continue
      }
    }
  }

  private func learnNames(of batch: EventBatch, _ session: DaemonSession) async throws {
    guard batch.authors.contains(where: { names[$0.device] == nil && !Fork.mayBeCopy($0.device) }) else { return }
    for (device, name) in try await session.deviceNames().all { history.note(name, of: device) }
  }

  private enum Taking {
    case taken
    /// What is folded is another matter now, and all is needed for it.
    case anew
  }

  private func take(
    _ whole: EventBatch, at first: Int, _ tell: (News) async throws -> Void
  ) async throws -> Taking {
    let batch = try history.vetting.pass(whole)
    guard history.isForked else {
      let copies = batch.authors.map(\.device).filter(Fork.mayBeCopy)
      guard copies.isEmpty else {
        history.noteChains(copies)
        return .anew
      }
      let before = timeline.count
      try history.receive(batch, at: first, into: &timeline)
      if timeline.count > before { try await tell(.events(before + 1..<timeline.count + 1)) }
      return .taken
    }
    let standing = Standing(self)
    let (folded, forks) = (timeline.count, history.forks)
    try history.takeClaims(batch, at: first, stored: nil)
    try refold()
    // What goes on at the end of what was folded is no news about the rest.
    let isContinued = folded <= timeline.count && standing.isBeginning(of: self)
    if isContinued, history.forks == forks, Set(history.unfolded.map(\.event)) == standing.unfolded {
      if timeline.count > folded { try await tell(.events(folded + 1..<timeline.count + 1)) }
    } else {
      try await tell(.refolded(standing.refolding(to: self, because: reasonOfForks)))
    }
    return .taken
  }

  /// Reads all of it once more, and tells what is other.
  private func readAnew(because reason: String? = nil, _ tell: (News) async throws -> Void) async throws {
    let standing = Standing(self)
    if case .daemon(let session) = history.source {
      let following = try await session.followAnew(history.stack)
      history.noteChains(following.heads.map(\.device))
    }
    var timeline = Timeline(stack: history.stack, policy: history.policy)
    do { try await history.load(into: &timeline, goesOn: true) { _ in } } catch {
      self.timeline = timeline
      throw error
    }
    self.timeline = timeline
    try await tell(.refolded(standing.refolding(to: self, because: reason ?? reasonOfForks)))
  }

  private var reasonOfForks: String {
    let devices = Set(history.forks.map(\.device)).sorted().map { names.text($0) }
    guard !devices.isEmpty else { return "events came that stand before others" }
    return "\(devices.joined(separator: " and ")) acted twice under one id, as a copied device does: from "
      + history.forks.map { text($0) }.joined(separator: " and ") + " on there are several histories, and one is folded"
  }

  /// What was folded at some time.
  private struct Standing {
    var folded: [Event] = []
    var unfolded: Set<Event>

    init(_ loaded: LoadedHistory) {
      for number in 1..<loaded.timeline.count + 1 { folded.append(loaded.timeline.event(number)) }
      unfolded = Set(loaded.history.unfolded.map(\.event))
    }

    func isBeginning(of loaded: LoadedHistory) -> Bool {
      folded.enumerated().allSatisfy { loaded.timeline.event($0.offset + 1) == $0.element }
    }

    func refolding(to loaded: LoadedHistory, because reason: String) -> Refolding {
      var before = Set(folded)
      var fresh: Set<Int> = []
      for number in 1..<loaded.timeline.count + 1 where before.remove(loaded.timeline.event(number)) == nil {
        fresh.insert(number)
      }
      let dropped = folded.filter(before.contains)
      let unfolded = loaded.history.unfolded.filter { !self.unfolded.contains($0.event) && !before.contains($0.event) }
      return Refolding(reason: reason, fresh: fresh, unfolded: unfolded, dropped: dropped)
    }
  }
}
