/// Where views stand beside each other in a column.
public enum HorizontalAlignment: Hashable, Sendable {
  /// At the left.
  case leading
  /// In the middle.
  case center
  /// At the right.
  case trailing

  func offset(of size: Int, in room: Int) -> Int {
    switch self {
    case .leading: 0
    case .center: (room - size) / 2
    case .trailing: room - size
    }
  }
}

/// Where views stand beside each other in a row.
public enum VerticalAlignment: Hashable, Sendable {
  /// At the top.
  case top
  /// In the middle.
  case center
  /// At the bottom.
  case bottom
  /// On the first line.
  case firstTextBaseline
  /// On the last line.
  case lastTextBaseline

  func offset(of size: Int, in room: Int) -> Int {
    switch self {
    case .top, .firstTextBaseline: 0
    case .center: (room - size) / 2
    case .bottom, .lastTextBaseline: room - size
    }
  }
}

/// Where a view stands in its room.
public struct Alignment: Hashable, Sendable {
  /// From left to right.
  public var horizontal: HorizontalAlignment
  /// From top to bottom.
  public var vertical: VerticalAlignment

  /// - Parameters:
  ///   - horizontal: from left to right.
  ///   - vertical: from top to bottom.
  public init(horizontal: HorizontalAlignment, vertical: VerticalAlignment) {
    self.horizontal = horizontal
    self.vertical = vertical
  }

  /// In the middle of both.
  public static let center = Alignment(horizontal: .center, vertical: .center)
  /// At the left, half way down.
  public static let leading = Alignment(horizontal: .leading, vertical: .center)
  /// At the right, half way down.
  public static let trailing = Alignment(horizontal: .trailing, vertical: .center)
  /// At the top, in the middle.
  public static let top = Alignment(horizontal: .center, vertical: .top)
  /// At the bottom, in the middle.
  public static let bottom = Alignment(horizontal: .center, vertical: .bottom)
  /// At the top left.
  public static let topLeading = Alignment(horizontal: .leading, vertical: .top)
  /// At the top right.
  public static let topTrailing = Alignment(horizontal: .trailing, vertical: .top)
  /// At the bottom left.
  public static let bottomLeading = Alignment(horizontal: .leading, vertical: .bottom)
  /// At the bottom right.
  public static let bottomTrailing = Alignment(horizontal: .trailing, vertical: .bottom)
}

/// How the lines of a text stand under each other.
public enum TextAlignment: Hashable, Sendable, CaseIterable {
  /// At the left.
  case leading
  /// In the middle.
  case center
  /// At the right.
  case trailing

  func offset(of size: Int, in room: Int) -> Int {
    switch self {
    case .leading: 0
    case .center: (room - size) / 2
    case .trailing: room - size
    }
  }
}

/// The sides of a view.
public enum Edge: Int8, Hashable, Sendable, CaseIterable {
  /// Above.
  case top
  /// At the left.
  case leading
  /// Below.
  case bottom
  /// At the right.
  case trailing

  /// Several sides.
  public struct Set: OptionSet, Hashable, Sendable {
    public let rawValue: Int8

    public init(rawValue: Int8) { self.rawValue = rawValue }

    /// Above.
    public static let top = Set(rawValue: 1)
    /// At the left.
    public static let leading = Set(rawValue: 2)
    /// Below.
    public static let bottom = Set(rawValue: 4)
    /// At the right.
    public static let trailing = Set(rawValue: 8)
    /// Left and right.
    public static let horizontal: Set = [.leading, .trailing]
    /// Above and below.
    public static let vertical: Set = [.top, .bottom]
    /// All sides.
    public static let all: Set = [.horizontal, .vertical]
  }
}
