package import ArgumentParsing
import EventLog
import NavigationClient
import NavigationModel
import WireFormat

/// `navsync verify`.
package struct Verify: RunnableCommand {
  package static let configuration = CommandConfiguration(
    name: "verify", abstract: "Compute checksums, orders and digests anew, and say the first place that is wrong.",
    discussion: """
      With --store the whole store is checked, also beside a running daemon. Otherwise a file of JSON lines, a stack of \
      the daemon, or all of its stacks. Exit code 5 means damage.

      Of a stack in a space whose owner is trusted ('navsync keys trust') it also says, of each device, how many events \
      somebody vouches for.
      """,
    examples: [
      CommandExample("navsync verify --store ~/.local/state/navsync/daemon", "A daemon's store."),
      CommandExample("navsync verify alice-main.jsonl", "An export."),
      CommandExample("navsync verify alice/main", "What the daemon sends of a stack."),
    ])

  @Argument(help: "A stack as space/stack, or a file of JSON lines, - for the standard input; without it everything.")
  var what: String?
  @Option(placeholder: "SPACE/STACK", help: "Which stack, if the file has events of several.") var stack: StackName?
  @OptionGroup var source: SourceOptions
  @OptionGroup var output: OutputOptions

  package init() {}

  private struct Report: Encodable {
    var stacks: Int
    var events: Int
    var problems: [String]
    /// What is no damage and still to be known: device ids with several histories.
    var notes: [String] = []
    /// Who vouches for what, where that is checked.
    var devices: [DeviceRow] = []
  }

  /// Of the device ids that have several histories.
  private func notes(of chains: StackChains, _ names: DeviceNames) -> [String] {
    chains.forkedDevices.map { device in
      let forks = chains.forks.filter { $0.device == device }.map { "\(names.text(device)):\($0.sequence)" }
      let since = forks.isEmpty ? "" : ", from \(forks.joined(separator: " and ")) on"
      return "\(chains.stack): \(names.text(device)) acted twice under one id, as a copied device does\(since); "
        + "\(counted(chains.copies(of: device).count, "history", "histories")), all whole"
    }
  }

  private struct DeviceRow: Encodable {
    var stack: String
    var device: String
    /// What the owner calls it; nil without a grant.
    var name: String?
    var vouched: Int
    var unvouched: Int
    var refused: Int
    var reason: String?

    init(_ stack: StackName, _ standing: Vetting.Standing) {
      self.stack = stack.description
      device = standing.device.description
      name = standing.name
      vouched = standing.passed
      unvouched = standing.held
      refused = standing.refused
      reason = standing.reason?.text
    }

    var cells: [String] {
      [
        stack, name ?? "-", device, "\(counted(vouched, "event")) vouched for", unvouched > 0 ? "\(unvouched) not" : "",
        refused > 0 ? "\(refused) refused" : "", reason ?? "",
      ]
    }
  }

  package func run(on console: Console) async throws {
    let report: Report
    if source.store != nil {
      report = try await store(on: console)
    } else if let what, what == "-" || isThere(what) || (try? StackName(what)) == nil {
      report = try file(what, on: console)
    } else {
      report = try await daemon(on: console)
    }
    if output.json {
      try printJSON([report], on: console)
    } else {
      if !report.devices.isEmpty { try printTable(report.devices.map(\.cells), on: console) }
      for note in report.notes { try console.print(console.styled(note, .yellow)) }
      for problem in report.problems { try console.print(console.styled(problem, .red)) }
      try console.print(
        "\(counted(report.events, "event")) in \(counted(report.stacks, "stack")): "
          + (report.problems.isEmpty ? "whole" : counted(report.problems.count, "problem")))
    }
    if !report.problems.isEmpty { throw CommandError(.damage, "damage was found; see above") }
  }

  private func named() throws -> StackName? {
    do { return try what.map { try StackName($0) } } catch { throw CommandError(.usage, "\(error)") }
  }

  private func store(on console: Console) async throws -> Report {
    guard case .store(let reader, _) = try await source.open(on: console) else { preconditionFailure("no store") }
    var progress = ProgressLine(on: console)
    do {
      let found = try verify(reader, only: try named()) { progress.update("\($0.events) events checked") }
      progress.clear()
      var report = Report(stacks: found.stacks, events: found.events, problems: found.problems.map(\.description))
      if found.isWhole { report.notes = try notes(of: reader, only: try named()) }
      return report
    } catch let error as LogError {
      progress.clear()
      throw commandError(error)
    }
  }

  /// Of a store's stacks: those with copies of histories are read once more.
  private func notes(of reader: any EventLogReader, only: StackName?) throws -> [String] {
    do {
      let names = try deviceNames(in: reader)
      var result: [String] = []
      for stack in try only.map({ [$0] }) ?? reader.stacks(in: nil).map(\.stack) {
        guard try reader.heads(of: stack).contains(where: { Fork.mayBeCopy($0.device) }) else { continue }
        var chains = StackChains(stack: stack)
        var offset = 0
        while true {
          let batches = try reader.read(stack, after: offset, maximumBytes: 1 << 20)
          if batches.isEmpty { break }
          for batch in batches {
            try batch.batch.forEach { (record) throws(ChainFault) in
              _ = try chains.receive(record.dot.device, record.dot.sequence, batch.batch.bytes, in: record.range)
            }
            offset = batch.firstOffset + batch.batch.count - 1
          }
        }
        result += notes(of: chains, names)
      }
      return result
    } catch let error as LogError { throw commandError(error) } catch let fault as ChainFault {
      throw CommandError(.damage, "\(fault)")
    }
  }

  private func daemon(on console: Console) async throws -> Report {
    let session = try await DaemonSession.open(source.daemon.daemon, on: console)
    var stacks = try named().map { [$0] } ?? []
    if stacks.isEmpty {
      for info in try await session.list().stacks {
        do { stacks.append(try StackName(info.stack)) } catch { throw CommandError(.damage, "\(error)") }
      }
    }
    var report = Report(stacks: 0, events: 0, problems: [])
    var progress = ProgressLine(on: console)
    let names = try await session.deviceNames()
    for stack in stacks {
      do {
        let history = try await History(stack, in: .daemon(session), names: names)
        var count = 0
        try await history.walkEntries { _, _, _, _ in
          count += 1
          progress.update("\(report.events + count) events checked")
        }
        report.events += count
        report.notes += notes(of: history.chains, names)
        report.devices += (history.vetting.standings ?? []).map { DeviceRow(stack, $0) }
        for standing in history.vetting.standings ?? [] where standing.refused > 0 {
          report.problems.append(
            "\(stack): \(counted(standing.refused, "event")) that \(standing.device) didn't sign so: the history was altered"
          )
        }
        if count + history.vetting.withheld < history.head {
          report.problems.append("\(stack): \(count) of \(history.head) events came")
        }
      } catch let error as CommandError where error.code == .damage {
        report.problems.append(error.message)
      }
      report.stacks += 1
    }
    progress.clear()
    return report
  }

  private func export(_ file: ExportFile, on console: Console) throws -> Report {
    var report = Report(stacks: 1, events: 0, problems: [])
    var progress = ProgressLine(on: console)
    let reader = try file.reader()
    do {
      while try reader.next() != nil { progress.update("\(reader.count) events checked") }
    } catch let error as CommandError where error.code == .damage { report.problems = [error.message] }
    progress.clear()
    report.events = reader.count
    report.notes = notes(of: reader.chains, file.names)
    return report
  }

  private func file(_ path: String, on console: Console) throws -> Report {
    let input = try RereadableInput(path: path, on: console)
    if let export = try ExportFile(input, stack: stack) {
      return try self.export(export, on: console)
    }
    let file = try FileHistory(try input.lines(), stack: stack, policy: nil)
    var report = Report(stacks: 1, events: file.lines.count, problems: [])
    if let problem = file.problem { report.problems.append(problem.message) }
    if file.lines.isEmpty, file.header == nil { report.problems.append("\(file.name): it has no events") }
    if file.isCut { report.problems.append("\(file.name): the trailer is missing; the file was cut") }
    for dot in file.forks {
      report.problems.append("\(file.name): two events are called \(file.text(dot.device)):\(dot.sequence)")
    }
    for dot in file.held {
      report.problems.append("\(file.name): \(file.text(dot.device)):\(dot.sequence) needs events that are not there")
    }
    guard let stack = file.stack, file.hasRealIDs else {
      console.say("\(file.name): without a stack's name and device ids there are no digests to check")
      return report
    }
    var chains = StackChains(stack: stack)
    let lines = Dictionary(file.lines.map { ($0.event.dot, $0) }) { first, _ in first }
    for item in file.items {
      let line = lines[item.event.dot]
      if let claimed = line?.previous, claimed != chains.digest(of: item.event.dot.device) {
        report.problems.append(
          "\(file.name), line \(line?.number ?? 0): the digest before \(item.event.dot) is another one; an event before it was changed"
        )
        return report
      }
      do { _ = try chains.append(item.event) } catch {
        report.problems.append("\(file.name), line \(line?.number ?? 0): \(error)")
        return report
      }
    }
    if let wrong = file.trailer.flatMap(chains.wrongHead) {
      report.problems.append("\(file.name): the trailer's head of \(wrong.device) is not what the events come to")
    }
    return report
  }
}
