import ArgumentParsing
import Commands
import Exhaustive
import Foundation

/// `navsync-exhaustive`: what `deploy/exhaustive` runs.
struct ExhaustiveCommand: RunnableCommand {
  static let configuration = CommandConfiguration(
    name: "navsync-exhaustive",
    abstract: "Fold every small history in every order of arrival, and compare with the specification.",
    discussion: """
      Two devices by five steps and three by four under every policy, with clocks that agree and clocks that don't. A \
      step is one of six actions, or a pull from another device.
      """,
    examples: [CommandExample("navsync-exhaustive --small", "The bound of the tests; a moment.")],
    exitCodes: [
      ExitCodeDescription(0, "the fold agrees with the specification on all of them"),
      ExitCodeDescription(1, "it doesn't; the history is shown"),
    ])

  @Flag(help: "Only the bound of the tests.") var small = false
  @Option(placeholder: "NUMBER", help: "How many parts run at a time; 0: one a processor.") var jobs = 0

  func run(on console: Console) async throws {
    let jobs = jobs > 0 ? jobs : ProcessInfo.processInfo.activeProcessorCount
    let started = ContinuousClock.now
    var all = ExhaustiveSearch.Counts()
    for search in small ? ExhaustiveSearch.small : ExhaustiveSearch.full {
      let before = ContinuousClock.now
      let counts = try await Self.run(search, jobs: jobs)
      all += counts
      try console.print("\(search): \(Self.text(counts)); \(Self.seconds(since: before)) s")
    }
    try console.print("all agree with the specification: \(Self.text(all)); \(Self.seconds(since: started)) s")
  }

  private static func run(_ search: ExhaustiveSearch, jobs: Int) async throws -> ExhaustiveSearch.Counts {
    try await withThrowingTaskGroup(of: ExhaustiveSearch.Counts.self) { group in
      var counts = ExhaustiveSearch.Counts()
      var next = 0
      while next < search.parts {
        if next >= jobs, let done = try await group.next() { counts += done }
        let part = next
        group.addTask { try search.run(part: part) }
        next += 1
      }
      for try await done in group { counts += done }
      return counts
    }
  }

  private static func text(_ counts: ExhaustiveSearch.Counts) -> String {
    "\(counts.sequences) sequences of steps, \(counts.histories) different histories, \(counts.orders) orders of arrival"
      + (counts.cutShort > 0 ? ", \(counts.cutShort) histories not in all orders" : "")
  }

  private static func seconds(since start: ContinuousClock.Instant) -> Int64 {
    (ContinuousClock.now - start).components.seconds
  }
}
