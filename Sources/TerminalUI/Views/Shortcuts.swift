/// A key on the keyboard.
public struct KeyEquivalent: Hashable, Sendable, ExpressibleByExtendedGraphemeClusterLiteral {
  let key: KeyPress.Key

  private init(key: KeyPress.Key) { self.key = key }

  /// The key of a character.
  public init(_ character: Character) { key = .character(character) }

  public init(extendedGraphemeClusterLiteral value: Character) { key = .character(value) }

  public static let upArrow = KeyEquivalent(key: .up)
  public static let downArrow = KeyEquivalent(key: .down)
  public static let leftArrow = KeyEquivalent(key: .left)
  public static let rightArrow = KeyEquivalent(key: .right)
  public static let escape = KeyEquivalent(key: .escape)
  public static let delete = KeyEquivalent(key: .backspace)
  public static let deleteForward = KeyEquivalent(key: .delete)
  public static let home = KeyEquivalent(key: .home)
  public static let end = KeyEquivalent(key: .end)
  public static let pageUp = KeyEquivalent(key: .pageUp)
  public static let pageDown = KeyEquivalent(key: .pageDown)
  public static let tab = KeyEquivalent(key: .tab)
  public static let space = KeyEquivalent(" ")
  public static let `return` = KeyEquivalent(key: .enter)
}

/// Keys that are held while another one is pressed. A terminal doesn't tell of Command: use Control.
public struct EventModifiers: OptionSet, Hashable, Sendable {
  public let rawValue: Int

  public init(rawValue: Int) { self.rawValue = rawValue }

  public static let shift = EventModifiers(rawValue: 1)
  public static let option = EventModifiers(rawValue: 2)
  public static let control = EventModifiers(rawValue: 4)
  /// The same as Control, which is what a terminal has in its place.
  public static let command = EventModifiers.control
}

/// A key with what is held.
struct Shortcut: Hashable {
  var press: KeyPress

  init(_ key: KeyEquivalent, _ modifiers: EventModifiers) {
    press = KeyPress(key.key, KeyPress.Modifiers(rawValue: UInt8(modifiers.rawValue)))
  }
}

extension View {
  /// Presses the buttons in this view with a key, while they are to be seen. Keys without Control or Option do nothing
  /// while a person types.
  public func keyboardShortcut(_ key: KeyEquivalent, modifiers: EventModifiers = .control) -> some View {
    changingEnvironment { $0.shortcut = Shortcut(key, modifiers) }
  }

  /// Does something with a key, while the view is to be seen and nothing else has a use for the key.
  ///
  /// - Parameters:
  ///   - key: the key.
  ///   - action: does it; ignored if it has no use for the key either.
  public func onKeyPress(_ key: KeyEquivalent, action: @escaping () -> KeyPressResult) -> some View {
    KeyModifier(content: self, press: KeyPress(key.key), meaning: nil, action: { action() == .handled })
  }

  /// The same of an action that always has a use for the key.
  ///
  /// - Parameter meaning: what the help (`?`) says that the key does. Keys of one meaning stand in one line of it.
  package func onKeyPress(_ key: KeyEquivalent, meaning: String, action: @escaping () -> Void) -> some View {
    KeyModifier(content: self, press: KeyPress(key.key), meaning: meaning) {
      action()
      return true
    }
  }
}

/// Whether something was done with a key.
public enum KeyPressResult: Hashable, Sendable {
  case handled
  case ignored
}

private struct KeyModifier<Content: View>: View, RowStructure {
  let content: Content
  let press: KeyPress
  let meaning: String?
  let action: () -> Bool

  func elements(in context: Context) -> [Element] {
    if context.isShown {
      context.focus.shortcuts.append(KeyAction(press: press, meaning: meaning, action: action))
    }
    return context.evaluate(content, .body)
  }
}
