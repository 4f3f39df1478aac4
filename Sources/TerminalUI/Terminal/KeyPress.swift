/// A key, as a terminal tells of it.
package struct KeyPress: Hashable, Sendable {
  package enum Key: Hashable, Sendable {
    /// A single Unicode scalar: clusters come as several presses, and grow together in the text that they are added to.
    case character(Character)
    case enter
    case tab
    case escape
    case backspace
    case delete
    case insert
    case up
    case down
    case left
    case right
    case home
    case end
    case pageUp
    case pageDown
    /// F1 is 1.
    case function(Int)
  }

  package struct Modifiers: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Not set for characters, whose case says it.
    package static let shift = Modifiers(rawValue: 1)
    package static let alt = Modifiers(rawValue: 2)
    package static let control = Modifiers(rawValue: 4)
  }

  package var key: Key
  package var modifiers: Modifiers

  package init(_ key: Key, _ modifiers: Modifiers = []) {
    self.key = key
    self.modifiers = modifiers
  }

  package init(_ character: Character, _ modifiers: Modifiers = []) {
    self.init(.character(character), modifiers)
  }
}

/// The mouse, as a terminal tells of it.
package struct MouseEvent: Hashable, Sendable {
  package enum Button: Hashable, Sendable {
    case left
    case middle
    case right
  }

  package enum Action: Hashable, Sendable {
    case press(Button)
    case release(Button)
    case wheelUp
    case wheelDown
    case wheelLeft
    case wheelRight
  }

  package var action: Action
  /// In the grid's cells; may lie outside of it.
  package var position: CellPosition
  package var modifiers: KeyPress.Modifiers

  package init(_ action: Action, at position: CellPosition, _ modifiers: KeyPress.Modifiers = []) {
    self.action = action
    self.position = position
    self.modifiers = modifiers
  }
}
