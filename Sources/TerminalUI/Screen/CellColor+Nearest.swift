extension CellColor {
  /// The nearest colour that a terminal of that depth shows.
  func shown(in depth: ColorDepth) -> CellColor {
    switch (self, depth) {
    case (.standard, _), (_, .none): .standard
    case (_, .direct), (.palette, .palette256): self
    case (.palette(let index), .palette16): index < 16 ? self : Self.nearest(Self.rgb(of: index), in: 0..<16)
    case (.rgb(let red, let green, let blue), .palette256):
      // The first sixteen are whatever the person made them.
      Self.nearest((Int(red), Int(green), Int(blue)), in: 16..<256)
    case (.rgb(let red, let green, let blue), .palette16):
      Self.nearest((Int(red), Int(green), Int(blue)), in: 0..<16)
    }
  }

  private typealias Components = (red: Int, green: Int, blue: Int)

  private static func nearest(_ color: Components, in indices: Range<Int>) -> CellColor {
    func distance(_ index: Int) -> Int {
      let other = rgb(of: UInt8(index))
      let (red, green, blue) = (color.red - other.red, color.green - other.green, color.blue - other.blue)
      // Eyes see green best and blue least.
      return 3 * red * red + 6 * green * green + blue * blue
    }
    return .palette(UInt8(indices.min { distance($0) < distance($1) } ?? 0))
  }

  /// As xterm has them.
  private static func rgb(of index: UInt8) -> Components {
    let index = Int(index)
    switch index {
    case 0..<16:
      let level = index < 8 ? 205 : 255
      if index == 7 { return (229, 229, 229) }
      if index == 8 { return (127, 127, 127) }
      return (index & 1 != 0 ? level : 0, index & 2 != 0 ? level : 0, index & 4 != 0 ? level : 0)
    case 16..<232:
      func level(_ step: Int) -> Int { step == 0 ? 0 : 55 + 40 * step }
      return (level((index - 16) / 36), level((index - 16) / 6 % 6), level((index - 16) % 6))
    default:
      let level = 8 + 10 * (index - 232)
      return (level, level, level)
    }
  }
}
