/// What is to be seen, in order: the list that the grid of cells is drawn from, and the linear text is read from.
struct DisplayItem {
  enum Content {
    /// One line of text.
    case text(String, CellStyle)
    /// Blanks of a style.
    case fill(CellRect, CellStyle)
    /// Read and not seen.
    case speech(String)
    /// What is there already is shown as having the focus.
    case highlight(CellRect)
  }

  /// What an item means to somebody who hears the screen instead of seeing it.
  enum Role {
    case text
    /// A line, a frame, a marker: not read.
    case decoration
    /// What has the focus stands in this line.
    case focus
  }

  var content: Content
  var position: CellPosition
  var clip: CellRect
  var role: Role
}

/// Where elements put what is to be seen.
@MainActor
final class Canvas {
  private(set) var items: [DisplayItem] = []
  /// What the mouse can hit, the topmost last.
  private(set) var hits: [(rect: CellRect, target: HitTarget)] = []
  /// Nothing is seen outside of it.
  private(set) var clip: CellRect
  /// Where the terminal's cursor is to be.
  var cursor: CellPosition?
  /// How far a list that is longer than the screen has been scrolled, to be shown beside the title.
  var scrollPosition: (row: Int, count: Int)?

  /// What a click or the wheel does at a place.
  struct HitTarget {
    var click: ((CellPosition) -> Void)?
    var scroll: ((Int) -> Void)?
  }

  init(clip: CellRect) { self.clip = clip }

  /// Writes one line of text.
  func write(_ text: String, at position: CellPosition, style: CellStyle, role: DisplayItem.Role = .text) {
    guard clip.rows.contains(position.row) else { return }
    items.append(DisplayItem(content: .text(text, style), position: position, clip: clip, role: role))
  }

  /// Makes a part blank.
  func fill(_ rect: CellRect, style: CellStyle) {
    let rect = rect.intersection(clip)
    guard !rect.isEmpty else { return }
    items.append(DisplayItem(content: .fill(rect, style), position: rect.origin, clip: clip, role: .decoration))
  }

  /// Shows a part as having the focus.
  func highlight(_ rect: CellRect) {
    let rect = rect.intersection(clip)
    guard !rect.isEmpty else { return }
    items.append(DisplayItem(content: .highlight(rect), position: rect.origin, clip: clip, role: .focus))
  }

  /// Lets the mouse act on a part.
  func hit(_ rect: CellRect, _ target: HitTarget) {
    let rect = rect.intersection(clip)
    if !rect.isEmpty { hits.append((rect, target)) }
  }

  /// Places something that is seen within a part only.
  func clipped(to rect: CellRect, _ place: () -> Void) {
    let outer = clip
    clip = clip.intersection(rect)
    place()
    clip = outer
  }

  /// Takes over what was placed on another canvas, moved by some rows and columns.
  func append(_ other: Canvas, columns: Int, rows: Int) {
    func moved(_ rect: CellRect) -> CellRect {
      CellRect(
        column: rect.origin.column + columns, row: rect.origin.row + rows, width: rect.size.width,
        height: rect.size.height)
    }
    for var item in other.items {
      item.position.column += columns
      item.position.row += rows
      item.clip = moved(item.clip).intersection(clip)
      switch item.content {
      case .text, .speech: if !item.clip.rows.contains(item.position.row) { continue }
      case .fill(let rect, let style): item.content = .fill(moved(rect).intersection(item.clip), style)
      case .highlight(let rect): item.content = .highlight(moved(rect).intersection(item.clip))
      }
      if !item.clip.isEmpty { items.append(item) }
    }
    for area in other.hits { hit(moved(area.rect), area.target) }
    if let position = other.cursor {
      cursor = CellPosition(column: position.column + columns, row: position.row + rows)
    }
    if let position = other.scrollPosition { scrollPosition = position }
  }

  /// Says something that isn't to be seen.
  func speak(_ text: String, at position: CellPosition) {
    guard clip.rows.contains(position.row) else { return }
    items.append(DisplayItem(content: .speech(text), position: position, clip: clip, role: .text))
  }

  /// Makes what is here to be seen and not read.
  func silence() {
    items = items.compactMap { item in
      if case .speech = item.content { return nil }
      var item = item
      if item.role == .text { item.role = .decoration }
      return item
    }
  }

  /// The same picture, to be seen only.
  var asDecoration: Canvas {
    let other = Canvas(clip: clip)
    other.items = items.compactMap { item in
      var item = item
      item.role = .decoration
      switch item.content {
      case .highlight, .speech: return nil
      case .text, .fill: break
      }
      return item
    }
    return other
  }

  /// The topmost thing that the mouse hits at a position.
  func target(at position: CellPosition, _ isWanted: (HitTarget) -> Bool) -> HitTarget? {
    hits.last { $0.rect.contains(position) && isWanted($0.target) }?.target
  }
}

extension Canvas {
  /// The picture as cells.
  func grid(size: CellSize) -> CellGrid {
    var grid = CellGrid(size: size)
    for item in items {
      switch item.content {
      case .text(let text, let style): grid.write(text, at: item.position, style: style, clip: item.clip)
      case .speech: break
      case .fill(let rect, let style): grid.fill(rect, style: style)
      case .highlight(let rect): grid.restyle(rect) { $0.attributes.insert(.reverse) }
      }
    }
    return grid
  }

  /// The picture as lines to be read one after the other: without frames and markers, and with `> ` before the line
  /// that has the focus.
  func lines() -> [String] {
    var rows: [Int: [(column: Int, text: String)]] = [:]
    var focused: Set<Int> = []
    for item in items {
      if item.role == .focus { focused.insert(item.position.row) }
      switch item.content {
      case .text(let text, _) where item.role == .text, .speech(let text):
        rows[item.position.row, default: []].append((item.position.column, text))
      default: continue
      }
    }
    return rows.keys.sorted().compactMap { row in
      let words = rows[row]!.sorted { $0.column < $1.column }.map { trimmed($0.text) }.filter { !$0.isEmpty }
      guard !words.isEmpty else { return nil }
      return (focused.contains(row) ? "> " : "") + words.joined(separator: " ")
    }
  }

  private func trimmed(_ text: String) -> String {
    String(text.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
  }
}
