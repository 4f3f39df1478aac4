public import Foundation

/// A text, in as many lines as it needs.
public struct Text: View, Hashable {
  /// A piece of the text with a look of its own.
  struct Run: Hashable {
    var text: String
    var style = TextStyle()
  }

  private(set) var runs: [Run]

  /// - Parameter content: the text, as it is.
  @_disfavoredOverload
  public init<Content: StringProtocol>(_ content: Content) { runs = [Run(text: String(content))] }

  /// - Parameter content: the text, in the program's own language.
  public init(_ content: String) { runs = [Run(text: content)] }

  /// - Parameter content: the text, as it is.
  public init(verbatim content: String) { runs = [Run(text: content)] }

  /// - Parameters:
  ///   - value: a value of any type.
  ///   - format: how it becomes text.
  public init<F: FormatStyle>(_ value: F.FormatInput, format: F)
  where F.FormatOutput == String, F.FormatInput: Equatable {
    self.init(format.format(value))
  }

  private init(runs: [Run]) { self.runs = runs }

  /// The text without its looks.
  var string: String { runs.map(\.text).joined() }

  private func styled(_ change: (inout TextStyle) -> Void) -> Text {
    Text(
      runs: runs.map { run in
        var run = run
        change(&run.style)
        return run
      })
  }

  /// Bold, or not.
  public func bold(_ isActive: Bool = true) -> Text { styled { $0.bold = isActive } }

  /// Slanted, or not.
  public func italic(_ isActive: Bool = true) -> Text { styled { $0.italic = isActive } }

  /// With a line beneath, or not.
  public func underline(_ isActive: Bool = true) -> Text { styled { $0.underline = isActive } }

  /// With a line through it, or not.
  public func strikethrough(_ isActive: Bool = true) -> Text { styled { $0.strikethrough = isActive } }

  /// In a colour.
  public func foregroundStyle<S: ShapeStyle>(_ style: S) -> Text { styled { $0.color = style.resolved() } }

  /// In a colour; nil takes that of the views above.
  public func foregroundColor(_ color: Color?) -> Text { styled { $0.color = color } }

  /// In a size and weight: a terminal shows the weight only.
  public func font(_ font: Font?) -> Text { styled { $0.bold = font.map(\.isBold) } }

  /// In a weight.
  public func fontWeight(_ weight: Font.Weight?) -> Text { styled { $0.bold = weight.map(\.isBold) } }

  /// One text after the other.
  public static func + (one: Text, other: Text) -> Text { Text(runs: one.runs + other.runs) }
}

extension Text: PrimitiveView {
  func elements(in context: Context) -> [Element] { [TextElement(self, context.environment)] }
}

/// A size and weight of text. A terminal has one size, so that only the weight is seen.
public struct Font: Hashable, Sendable {
  /// How heavy text is. A terminal has two.
  public struct Weight: Hashable, Sendable {
    let isBold: Bool

    public static let light = Weight(isBold: false)
    public static let regular = Weight(isBold: false)
    public static let medium = Weight(isBold: false)
    public static let semibold = Weight(isBold: true)
    public static let bold = Weight(isBold: true)
    public static let heavy = Weight(isBold: true)
  }

  let isBold: Bool

  public static let largeTitle = Font(isBold: true)
  public static let title = Font(isBold: true)
  public static let title2 = Font(isBold: true)
  public static let title3 = Font(isBold: true)
  public static let headline = Font(isBold: true)
  public static let subheadline = Font(isBold: false)
  public static let body = Font(isBold: false)
  public static let callout = Font(isBold: false)
  public static let footnote = Font(isBold: false)
  public static let caption = Font(isBold: false)
  public static let caption2 = Font(isBold: false)

  /// The same, bold.
  public func bold() -> Font { Font(isBold: true) }

  /// The same in a weight.
  public func weight(_ weight: Weight) -> Font { Font(isBold: weight.isBold) }
}

/// Lines of text.
@MainActor
final class TextElement: Element {
  private let runs: [(text: String, style: CellStyle)]
  private let string: String
  private let lineLimit: Int?
  private let alignment: TextAlignment
  private lazy var width =
    string.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
    .map { $0.displayWidth }.max() ?? 0
  private lazy var isOneLine = !string.contains(where: \.isNewline)
  private var wrapped: (width: Int, lines: [String])?

  init(_ text: Text, _ environment: EnvironmentValues) {
    runs = text.runs.map {
      ($0.text, $0.style.over(environment.textStyle).cellStyle(isEnabled: environment.isEnabled))
    }
    string = text.string
    lineLimit = environment.lineLimit
    alignment = environment.multilineTextAlignment
  }

  override func measure(_ proposal: Proposal) -> CellSize {
    let lines = lines(Proposal(width: proposal.width, height: proposal.height))
    guard lines.count > 1 || !isOneLine else {
      return CellSize(width: min(width, proposal.width ?? width), height: 1)
    }
    return CellSize(width: lines.map { $0.displayWidth }.max() ?? 0, height: lines.count)
  }

  override func place(in rect: CellRect, on canvas: Canvas) {
    for (row, line) in lines(Proposal(rect.size)).enumerated() {
      let aside = max(0, alignment.offset(of: line.displayWidth, in: rect.size.width))
      write(line, row, at: CellPosition(column: rect.origin.column + aside, row: rect.origin.row + row), on: canvas)
    }
  }

  /// The lines for a room, the last one cut if there are more.
  private func lines(_ proposal: Proposal) -> [String] {
    let room = proposal.width ?? Int.max
    if isOneLine, width <= room { return [string] }
    let limit = max(1, min(lineLimit ?? Int.max, proposal.height ?? Int.max))
    if limit == 1, isOneLine { return [string.truncated(toWidth: room)] }
    if wrapped?.width != room { wrapped = (room, string.wrapped(toWidth: max(1, room))) }
    return cut(wrapped!.lines, to: limit, room)
  }

  private func write(_ line: String, _ row: Int, at start: CellPosition, on canvas: Canvas) {
    if runs.count == 1 { return canvas.write(line, at: start, style: runs[0].style) }
    // The looks of a wrapped text follow its characters, of which a line may have left out blanks.
    var styles: [CellStyle] = []
    for run in runs { styles += Array(repeating: run.style, count: run.text.count) }
    let all = Array(string)
    let lines = wrapped?.lines ?? [line]
    var place = 0
    for earlier in lines.prefix(row) { place = skip(earlier, all, from: place) }
    var position = start
    var piece = ""
    var style = styles.first ?? .plain
    for character in line {
      while place < all.count - 1, all[place] != character { place += 1 }
      let next = place < styles.count ? styles[place] : style
      if next != style, !piece.isEmpty {
        canvas.write(piece, at: position, style: style)
        position.column += piece.displayWidth
        piece = ""
      }
      style = next
      piece.append(character)
      place = min(place + 1, all.count)
    }
    canvas.write(piece, at: position, style: style)
  }

  private func skip(_ line: String, _ all: [Character], from start: Int) -> Int {
    var place = start
    for character in line {
      while place < all.count - 1, all[place] != character { place += 1 }
      place = min(place + 1, all.count)
    }
    return place
  }
}
