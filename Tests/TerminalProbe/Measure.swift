import TerminalUI

/// What drawing costs, in microseconds: the median of many, on this machine.
@MainActor
func measure() {
  guard let description = TerminalDescription(name: "xterm-256color") else { return }
  let encoder = ScreenEncoder(description: description, colors: .palette256)
  let size = CellSize(width: 200, height: 60)
  let texts = [
    ("ASCII", String(repeating: "navigation stack ", count: 12)), ("wide", String(repeating: "日本語の画面 ", count: 16)),
    ("clusters", String(repeating: "👨‍👩‍👧‍👦 e\u{301} 👍🏽 ❤️ ", count: 20)),
    ("right to left", String(repeating: "שלום עולם ", count: 20)),
  ]
  let styles = [CellStyle.plain, CellStyle(foreground: .red, attributes: .bold), CellStyle(attributes: .reverse)]
  func screen(_ text: String, _ shift: Int) -> CellGrid {
    var grid = CellGrid(size: size)
    for row in 0..<size.height {
      grid.write(text.dropFirst(shift), at: CellPosition(column: 0, row: row), style: styles[row % styles.count])
    }
    return grid
  }
  for (name, text) in texts {
    let old = screen(text, 0)
    let new = screen(text, 1)
    var row = old
    row.fill(CellRect(column: 0, row: 30, width: 200, height: 1))
    row.write(text.dropFirst(1), at: CellPosition(column: 0, row: 30))
    var count = 0
    let written = median { count += screen(text, 1).width }
    let same = median { count += GridDifference(from: new, to: new).runs.count }
    let all = median { count += encoder.frame(GridDifference(from: old, to: new), cursor: nil).count }
    let whole = median { count += encoder.frame(GridDifference(from: nil, to: new), cursor: nil).count }
    let one = median { count += encoder.frame(GridDifference(from: old, to: row), cursor: nil).count }
    let bytes = encoder.frame(GridDifference(from: old, to: row), cursor: nil).count
    let allBytes = encoder.frame(GridDifference(from: nil, to: new), cursor: nil).count
    print(
      "\(name): grid of 200x60 written \(written), compared with its equal \(same); all of it changed and encoded \(all),",
      "from nothing \(whole) (\(allBytes) bytes), one row of it \(one) (\(bytes) bytes)\(count < 0 ? "!" : "")")
  }
}

private func median(_ body: () -> Void) -> Int {
  let clock = ContinuousClock()
  let times = (0..<101).map { _ in clock.measure(body) }.sorted()
  let median = times[times.count / 2].components
  return Int(median.seconds * 1_000_000 + median.attoseconds / 1_000_000_000_000)
}
