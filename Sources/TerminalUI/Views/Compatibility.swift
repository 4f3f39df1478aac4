// What SwiftUI programs say that has no meaning on a terminal. It compiles and does nothing, so that a program can be
// taken over as it is.

/// How something changes over time. A terminal shows changes at once.
public struct Animation: Hashable, Sendable {
  public static let `default` = Animation()
  public static let linear = Animation()
  public static let easeIn = Animation()
  public static let easeOut = Animation()
  public static let easeInOut = Animation()
  public static let spring = Animation()
}

/// Does something; its changes are shown at once.
@MainActor
public func withAnimation<Result>(
  _ animation: Animation? = .default, _ body: () throws -> Result
) rethrows -> Result {
  try body()
}

/// How a list looks. On a terminal they all look alike.
public struct ListStyle: Hashable, Sendable {
  public static let automatic = ListStyle()
  public static let plain = ListStyle()
  public static let inset = ListStyle()
  public static let grouped = ListStyle()
  public static let insetGrouped = ListStyle()
  public static let sidebar = ListStyle()
}

/// How a title looks. On a terminal they all look alike.
public struct TitleDisplayMode: Hashable, Sendable {
  public static let automatic = TitleDisplayMode()
  public static let inline = TitleDisplayMode()
  public static let large = TitleDisplayMode()
}

/// How buttons, fields and pickers look. On a terminal they all look alike.
public struct ControlStyle: Hashable, Sendable {
  public static let automatic = ControlStyle()
  public static let plain = ControlStyle()
  public static let bordered = ControlStyle()
  public static let borderedProminent = ControlStyle()
  public static let borderless = ControlStyle()
  public static let roundedBorder = ControlStyle()
  public static let menu = ControlStyle()
  public static let segmented = ControlStyle()
  public static let inline = ControlStyle()
  public static let navigationLink = ControlStyle()
}

extension View {
  /// Has no effect: changes are shown at once.
  public func animation<Value: Equatable>(_ animation: Animation?, value: Value) -> Self { self }

  /// Has no effect.
  public func listStyle(_ style: ListStyle) -> Self { self }

  /// Has no effect.
  public func navigationBarTitleDisplayMode(_ mode: TitleDisplayMode) -> Self { self }

  /// Has no effect.
  public func buttonStyle(_ style: ControlStyle) -> Self { self }

  /// Has no effect.
  public func textFieldStyle(_ style: ControlStyle) -> Self { self }

  /// Has no effect.
  public func pickerStyle(_ style: ControlStyle) -> Self { self }

  /// Has no effect.
  public func toggleStyle(_ style: ControlStyle) -> Self { self }
}
