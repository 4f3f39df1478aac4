import Foundation
import TerminalUI

/// Measures what a key press costs, from the press to the difference that is to be drawn, on lists of several lengths.
/// `swift run -c release terminal-bench`
@main
struct TerminalBench {
  struct Row: Identifiable {
    var id: Int
    var name: String
  }

  struct LongList: View {
    let rows: [Row]

    var body: some View {
      NavigationStack {
        List(rows) { row in
          NavigationLink(value: row.id) {
            HStack {
              Text(row.name)
              Spacer()
              Text("\(row.id)").foregroundStyle(.secondary)
            }
          }
        }
        .navigationTitle("Articles")
        .navigationDestination(for: Int.self) { Text("Article \($0)") }
      }
    }
  }

  @MainActor static func main() {
    for count in [1_000, 10_000, 100_000] {
      let rows = (0..<count).map { Row(id: $0, name: "Article number \($0), of a length as titles have") }
      let clock = ContinuousClock()
      var host: TestHost?
      let first = clock.measure {
        host = TestHost(width: 120, height: 40) { LongList(rows: rows) }
        _ = host!.grid
      }
      print("\(count) rows: first screen \(milliseconds(first))")
      report("down", host!, clock) { host, _ in host.press(.down) }
      report("page down", host!, clock) { host, _ in host.press(.pageDown) }
      report("end and home", host!, clock) { host, round in host.press(round % 2 == 0 ? .end : .home) }
      report("open and back", host!, clock) { host, round in host.press(round % 2 == 0 ? .enter : .escape) }
    }
  }

  @MainActor static func report(
    _ name: String, _ host: TestHost, _ clock: ContinuousClock, _ act: (TestHost, Int) -> Void
  ) {
    var before = host.grid
    var times: [Duration] = []
    for round in 0..<400 {
      let time = clock.measure {
        act(host, round)
        let grid = host.grid
        let difference = GridDifference(from: before, to: grid)
        precondition(!difference.isEmpty || name != "down" || round > 300)
        before = grid
      }
      times.append(time)
    }
    times.sort()
    print("  \(name): median \(milliseconds(times[200])), 99 % \(milliseconds(times[396]))")
  }

  static func milliseconds(_ time: Duration) -> String {
    String(format: "%.2f ms", Double(time.components.attoseconds) / 1e15 + Double(time.components.seconds) * 1e3)
  }
}
