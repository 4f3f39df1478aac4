/// What text can be drawn in.
public protocol ShapeStyle: Sendable {
  /// The style as a colour.
  func resolved() -> Color
}

/// A colour of the terminal: one of its sixteen, which its user may have set, or a mixed one.
public struct Color: ShapeStyle, Hashable, Sendable {
  let cell: CellColor
  let isDim: Bool

  init(_ cell: CellColor, isDim: Bool = false) {
    self.cell = cell
    self.isDim = isDim
  }

  /// - Parameters:
  ///   - red: from 0 to 1.
  ///   - green: from 0 to 1.
  ///   - blue: from 0 to 1.
  public init(red: Double, green: Double, blue: Double) {
    func byte(_ part: Double) -> UInt8 { UInt8((min(1, max(0, part)) * 255).rounded()) }
    self.init(.rgb(red: byte(red), green: byte(green), blue: byte(blue)))
  }

  /// A grey: 0 is black, 1 is white.
  public init(white: Double) { self.init(red: white, green: white, blue: white) }

  /// The terminal's own colour for text.
  public static let primary = Color(.standard)
  /// Less prominent than the terminal's own colour.
  public static let secondary = Color(.standard, isDim: true)
  /// The colour of what can be used.
  // swift-format-ignore: DontRepeatTypeInStaticProperties
  public static let accentColor = Color(.cyan)
  /// Nothing is drawn.
  public static let clear = Color(.standard)
  public static let black = Color(.black)
  public static let white = Color(.white)
  public static let gray = Color(.grey)
  public static let red = Color(.red)
  public static let green = Color(.green)
  public static let blue = Color(.blue)
  public static let yellow = Color(.yellow)
  public static let orange = Color(.palette(208))
  public static let pink = Color(.palette(211))
  public static let purple = Color(.magenta)
  public static let cyan = Color(.cyan)
  public static let teal = Color(.palette(37))
  public static let mint = Color(.palette(121))
  public static let indigo = Color(.palette(62))
  public static let brown = Color(.palette(130))

  public func resolved() -> Color { self }

  /// The colour's name, to be read where it can't be seen.
  var name: String { cell.description }
}

extension ShapeStyle where Self == Color {
  public static var primary: Color { .primary }
  public static var secondary: Color { .secondary }
  public static var tertiary: Color { .secondary }
  public static var tint: Color { .accentColor }
  public static var black: Color { .black }
  public static var white: Color { .white }
  public static var gray: Color { .gray }
  public static var red: Color { .red }
  public static var green: Color { .green }
  public static var blue: Color { .blue }
  public static var yellow: Color { .yellow }
  public static var orange: Color { .orange }
  public static var pink: Color { .pink }
  public static var purple: Color { .purple }
  public static var cyan: Color { .cyan }
  public static var teal: Color { .teal }
  public static var mint: Color { .mint }
  public static var indigo: Color { .indigo }
  public static var brown: Color { .brown }
}

// In an extension, so that the colours themselves don't belong to the main actor.
extension Color: View, PrimitiveView {
  func elements(in _: Context) -> [Element] { [ColorElement(self)] }
}

/// A surface of one colour, as large as there is room.
@MainActor
private final class ColorElement: Element {
  private let color: Color

  init(_ color: Color) { self.color = color }

  override func measure(_ proposal: Proposal) -> CellSize {
    CellSize(width: proposal.width ?? 1, height: proposal.height ?? 1)
  }

  override func expands(_: Axis) -> Bool { true }

  override func place(in rect: CellRect, on canvas: Canvas) {
    canvas.fill(rect, style: CellStyle(background: color.cell))
  }
}
