import Foundation
import TerminalUI

/// A screen of the size, some text that is hard to place, and the last events.
@MainActor
final class Probe {
  private var terminal: Terminal?
  private var lines: [String] = []
  private var seed: UInt64 = 0

  func open(_ mode: OutputMode) throws {
    terminal = try Terminal(mode) { [unowned self] event in take(event) }
    draw()
  }

  private func take(_ event: InputEvent) {
    lines.append("\(lines.count + 1) \(describe(event))")
    switch event {
    case .key(let press) where press.modifiers == []: act(press.key)
    case .terminate(let signal):
      terminal?.close()
      Terminal.endProcess(bySignal: signal)
    case .hangUp: exit(4)
    default: break
    }
    draw()
  }

  private func act(_ key: KeyPress.Key) {
    switch key {
    case .character("q"):
      terminal?.close()
      exit(0)
    case .character("e"): exit(3)
    case .character("t"): fatalError("the probe was told to trap")
    case .character("a"): abort()
    case .character("s"): UnsafeMutablePointer<Int>(bitPattern: 8)!.pointee = 1
    case .character("o"): print(overflow(1))
    case .character("m"): FileHandle.standardError.write(Data("a message\n".utf8))
    case .character("h"): while true { pause() }
    case .character("w"):
      while true {
        lines.append("\(lines.count)")
        draw()
      }
    default: break
    }
  }

  /// Not a loop to the optimizer: each call's memory is seen by the next.
  private func overflow(_ depth: Int) -> Int {
    withUnsafeTemporaryAllocation(of: Int.self, capacity: 512) { memory in
      memory.initialize(repeating: depth)
      return overflow(depth + 1) + memory[depth % 512]
    }
  }

  private func draw() {
    guard let terminal else { return }
    var grid = CellGrid(size: terminal.size)
    grid.write(
      "probe \(grid.width)x\(grid.height)", at: .zero, style: CellStyle(foreground: .green, attributes: .bold))
    let hard = ["日本|", "👨‍👩‍👧‍👦|", "👍🏽|", "❤️|", "🇩🇪|", "e\u{301}|", "שלום 12|", "\u{1b}[31m|", "क्ष|", "#️⃣|"]
    var column = 0
    for text in hard { column += grid.write(text, at: CellPosition(column: column, row: 1)) }
    grid.write("end", at: CellPosition(column: grid.width - 3, row: 1), style: CellStyle(attributes: .reverse))
    let room = max(0, grid.height - 3)
    for (row, line) in lines.suffix(room).enumerated() {
      grid.write(line, at: CellPosition(column: 0, row: row + 2))
    }
    grid.write("last row", at: CellPosition(column: 0, row: grid.height - 1))
    terminal.draw(grid, cursor: CellPosition(column: 5, row: 0))
  }

  private func describe(_ event: InputEvent) -> String {
    switch event {
    case .key(let press): "key \(press.key) \(press.modifiers.rawValue)"
    case .paste(let text): "paste \(text)"
    case .mouse(let mouse): "mouse \(mouse.action) \(mouse.position.column),\(mouse.position.row)"
    case .focus(let isFocused): "focus \(isFocused)"
    case .resize(let size): "resize \(size.width)x\(size.height)"
    case .resumed: "resumed"
    case .terminate(let signal): "terminate \(signal)"
    case .hangUp: "hang-up"
    }
  }
}
