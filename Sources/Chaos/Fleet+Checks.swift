import EventLog
import Foundation
import Locking
import NavigationClient
import NavigationModel

extension Fleet {
  /// Waits until all replicas show the same, by what they say themselves, and the daemon serves a newcomer.
  func settle(within limit: Duration) async throws {
    pause()
    let observer = try await Observer.open(daemon: place.socket, keys: place.userKeys)
    do {
      try await settle(observer, within: limit)
      await observer.close()
    } catch {
      await observer.close()
      throw error
    }
  }

  private func settle(_ observer: Observer, within limit: Duration) async throws {
    let end = ContinuousClock.now + limit
    var seen: [ObservedStack] = []
    for name in stacks { seen.append(try await observer.stack(name)) }
    do { for stack in seen { try await stack.live(within: limit) } } catch {
      throw Failure("the daemon doesn't serve a newcomer: \(error)")
    }
    var problem = ""
    var tellAt = ContinuousClock.now + .seconds(1)
    repeat {
      try checkRunning()
      guard let found = try await difference(from: seen) else { return }
      problem = found
      if ContinuousClock.now >= tellAt {
        note("not level yet: \(problem.prefix(200))")
        tellAt += .seconds(1)
      }
      try await Task.sleep(for: .milliseconds(30))
    } while ContinuousClock.now < end
    throw Failure("not level after \(limit.components.seconds) s: \(problem)")
  }

  /// What isn't level yet, nil if all is.
  private func difference(from seen: [ObservedStack]) async throws -> String? {
    for device in devices where device.isRunning {
      guard let reports = try await device.report(within: .seconds(10)) else {
        return "\(device.name) doesn't answer its driver"
      }
      for report in reports {
        guard let state = seen.first(where: { "\($0.name)" == report.stack })?.state else { continue }
        let about = "\(device.name), \(report.stack): "
        if let problem = report.problem { return about + problem }
        if !report.isConnected { return about + "not connected" }
        if !report.isLive { return about + "not live" }
        if report.waiting > 0 { return about + "\(report.waiting) actions wait to be accepted" }
        let expected = words(state.vector)
        if report.vector != expected { return about + "holds \(report.vector), the daemon \(expected)" }
        let entries = words(state.entries)
        if report.entries != entries { return about + "shows \(report.entries), the daemon \(entries)" }
      }
      if Set(reports.map(\.stack)) != device.stacks {
        return "\(device.name) doesn't follow \(device.stacks.subtracting(reports.map(\.stack)).sorted())"
      }
    }
    return nil
  }

  /// Whether what was acknowledged is on every replica's disk, and the same there. What others did is shown before it is on
  /// a device's own disk, and the last of a stack that nobody follows any more may be on its way; so it is looked again.
  func checkStores(within limit: Duration) async throws {
    let end = ContinuousClock.now + limit
    while true {
      do { return try checkStores() } catch { if ContinuousClock.now >= end { throw error } }
      try await Task.sleep(for: .milliseconds(100))
    }
  }

  private func checkStores() throws {
    let daemon = try view(place.daemonStore, of: "the daemon")
    try check(daemon, of: "the daemon", nil)
    for device in devices {
      let own = try view(device.folder, of: device.name)
      try check(own, of: device.name, device.stacks)
      for stack in device.stacks.sorted() {
        let (left, right) = (own.stacks[stack]?.heads ?? [], daemon.stacks[stack]?.heads ?? [])
        guard left != right else { continue }
        let (only, lacks) = (left.subtracting(right), right.subtracting(left))
        throw Failure(
          "\(stack) differs: only \(device.name) has the heads \(text(only)), only the daemon \(text(lacks))")
      }
    }
  }

  /// What was acknowledged until now.
  var promised: Ledger { ledger.withLock { $0 } }

  /// Whether a daemon that was killed has on its disk all that it acknowledged: before anybody brings it back.
  func checkDaemonKept(_ promised: Ledger) throws {
    try checkKept(promised, place.daemonStore, of: "the daemon, killed,", .daemon)
  }

  /// The same of a device, whose actions are acknowledged when they are on its own disk.
  func checkKept(_ device: DrivenDevice, _ promised: Ledger) throws {
    guard let id = device.device else { return }
    try checkKept(promised, device.folder, of: "\(device.name), killed,", .device(id))
  }

  private func checkKept(_ promised: Ledger, _ folder: String, of name: String, _ who: Ledger.Promise) throws {
    let view = try StoreView(of: try SQLiteLog.openReader(at: folder))
    guard let first = promised.missing(in: view, promised: who).first else { return }
    throw Failure("\(name) lost what it had acknowledged itself, first \(first)")
  }

  private func text(_ heads: Set<StoredHead>) -> String {
    heads.map { "\($0.device):\($0.sequence) \($0.digest)" }.sorted().joined(separator: ", ")
  }

  private func check(_ view: StoreView, of name: String, _ stacks: Set<String>?) throws {
    let missing = ledger.withLock { $0.missing(in: view, stacks: stacks) }
    guard let first = missing.first else { return }
    throw Failure("\(name) lacks \(missing.count) of what was acknowledged, first \(first)")
  }

  private func view(_ folder: String, of name: String) throws -> StoreView {
    if let problem = try problem(of: folder) { throw Failure("the store of \(name) isn't whole: \(problem)") }
    return try StoreView(of: try SQLiteLog.openReader(at: folder))
  }

  /// What is wrong with a store, nil if it is whole.
  func problem(of folder: String) throws(LogError) -> String? {
    do throws(LogError) {
      return try verify(try SQLiteLog.openReader(at: folder)).problems.first.map { "\($0)" }
    } catch  where error.code == .damaged || error.code == .notAStore || error.code == .notFound {
      return "\(error)"
    }
  }

  /// Whether the daemon said what happened: one line has all of these texts.
  func expectDaemonSaid(_ texts: String...) throws {
    let line = daemonLines().last { line in texts.allSatisfy(line.contains) }
    guard let line else { throw Failure("no line of the daemon's log says '\(texts.joined(separator: "' and '"))'") }
    note("it said: " + line)
  }
}
