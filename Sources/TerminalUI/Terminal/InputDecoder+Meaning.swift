/// What complete sequences mean.
extension InputDecoder {
  /// The key of a byte below 128 other than Escape. Line feed counts as Enter, and Control-H as Backspace: terminals and
  /// tools send either.
  static func key(ascii byte: UInt8) -> KeyPress? {
    switch byte {
    case 0x00: return KeyPress(" ", .control)
    case 0x08, 0x7F: return KeyPress(.backspace)
    case 0x09: return KeyPress(.tab)
    case 0x0A, 0x0D: return KeyPress(.enter)
    case 0x1B: return KeyPress(.escape)
    case 0x01...0x1A: return KeyPress(character(byte + 0x60), .control)
    case 0x1C...0x1F: return KeyPress(character(byte + 0x40), .control)
    case 0x20..<0x7F: return KeyPress(character(byte))
    default: return nil
    }
  }

  private static func character(_ byte: UInt8) -> Character { Character(Unicode.Scalar(byte)) }

  /// The event of a control sequence.
  static func event(_ parameters: ArraySlice<UInt8>, final: UInt8, _ modifiers: KeyPress.Modifiers) -> InputEvent? {
    if parameters.first == UInt8(ascii: "<") {
      let numbers = numbers(parameters.dropFirst())
      guard numbers.count == 3, final == UInt8(ascii: "M") || final == UInt8(ascii: "m") else { return nil }
      return mouse(
        code: numbers[0], column: numbers[1], row: numbers[2], isRelease: final == UInt8(ascii: "m"))
    }
    // Answers of the terminal have a mark of their own or an intermediate byte.
    guard parameters.allSatisfy({ (0x30...0x3B).contains($0) }) else { return nil }
    if parameters.isEmpty, final == UInt8(ascii: "I") { return .focus(true) }
    if parameters.isEmpty, final == UInt8(ascii: "O") { return .focus(false) }
    return key(parameters, final: final, modifiers).map(InputEvent.key)
  }

  private static func key(
    _ parameters: ArraySlice<UInt8>, final: UInt8, _ modifiers: KeyPress.Modifiers
  ) -> KeyPress? {
    let numbers = numbers(parameters)
    let modifiers = modifiers.union(KeyPress.Modifiers(parameter: numbers.count > 1 ? numbers[1] : 1))
    switch Unicode.Scalar(final) {
    case "~":
      // xterm's modifyOtherKeys.
      if numbers.first == 27, numbers.count == 3 { return key(code: numbers[2], modifiers) }
      return key(number: parameters, modifiers)
    case "^": return key(number: parameters, modifiers.union(.control))
    case "@": return key(number: parameters, modifiers.union([.control, .shift]))
    case "u":
      // kitty: its third kind of event is the release of a key.
      let parts = parameters.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)
      if parts.count > 1,
        parts[1].split(separator: UInt8(ascii: ":")).dropFirst().first?.elementsEqual("3".utf8) == true
      {
        return nil
      }
      return key(code: numbers.first ?? 0, modifiers)
    case "Z": return KeyPress(.tab, modifiers.union(.shift))
    case "a", "b", "c", "d": return key(application: final - 0x20, modifiers.union(.shift))
    case "A", "B", "C", "D", "F", "H", "P", "Q", "R", "S":
      // `CSI row ; column R` tells where the cursor is.
      guard numbers.first ?? 1 <= 1 else { return nil }
      return key(application: final, modifiers)
    default: return nil
    }
  }

  /// The key whose sequence in application mode is `ESC O` and this letter.
  static func key(application letter: UInt8, _ modifiers: KeyPress.Modifiers) -> KeyPress? {
    switch Unicode.Scalar(letter) {
    case "A": return KeyPress(.up, modifiers)
    case "B": return KeyPress(.down, modifiers)
    case "C": return KeyPress(.right, modifiers)
    case "D": return KeyPress(.left, modifiers)
    case "F": return KeyPress(.end, modifiers)
    case "H": return KeyPress(.home, modifiers)
    case "I": return KeyPress(.tab, modifiers)
    case "M": return KeyPress(.enter, modifiers)
    case "P", "Q", "R", "S": return KeyPress(.function(Int(letter) - 0x4F), modifiers)
    case "a", "b", "c", "d": return key(application: letter - 0x20, modifiers.union(.control))
    // The pad of numbers: 0x40 above what is printed on it.
    case "X", "j"..."y": return KeyPress(character(letter == 0x58 ? 0x3D : letter - 0x40), modifiers)
    default: return nil
    }
  }

  /// The key whose sequence has this number before its end.
  static func key(number: ArraySlice<UInt8>, _ modifiers: KeyPress.Modifiers) -> KeyPress? {
    let functions = [
      11: 1, 12: 2, 13: 3, 14: 4, 15: 5, 17: 6, 18: 7, 19: 8, 20: 9, 21: 10, 23: 11, 24: 12, 25: 13, 26: 14, 28: 15,
      29: 16, 31: 17, 32: 18, 33: 19, 34: 20,
    ]
    guard let number = numbers(number).first else { return nil }
    switch number {
    case 1, 7: return KeyPress(.home, modifiers)
    case 2: return KeyPress(.insert, modifiers)
    case 3: return KeyPress(.delete, modifiers)
    case 4, 8: return KeyPress(.end, modifiers)
    case 5: return KeyPress(.pageUp, modifiers)
    case 6: return KeyPress(.pageDown, modifiers)
    default: return functions[number].map { KeyPress(.function($0), modifiers) }
    }
  }

  /// The key of a Unicode scalar, as kitty and xterm tell of those that have no byte of their own.
  private static func key(code: Int, _ modifiers: KeyPress.Modifiers) -> KeyPress? {
    if code < 0x80, code != 0, code < 0x20 || code == 0x7F {
      guard var press = key(ascii: UInt8(code)) else { return nil }
      press.modifiers.formUnion(modifiers)
      return press
    }
    // Keys without a character are in the private use area.
    guard code >= 0x20, !(0xE000...0xF8FF).contains(code), let scalar = Unicode.Scalar(UInt32(code)),
      scalar.properties.generalCategory != .control
    else { return nil }
    let upper = scalar.properties.uppercaseMapping.unicodeScalars
    let isUpper = modifiers.contains(.shift) && !modifiers.contains(.control) && upper.count == 1
    return KeyPress(Character(isUpper ? upper.first! : scalar), modifiers.subtracting(.shift))
  }

  /// - Parameters:
  ///   - code: the button in bits 0, 1 and 6, what is held in bits 2–4, movement in bit 5.
  ///   - column: from 1, as `row` is.
  static func mouse(code: Int, column: Int, row: Int, isRelease: Bool) -> InputEvent? {
    var modifiers: KeyPress.Modifiers = []
    if code & 4 != 0 { modifiers.insert(.shift) }
    if code & 8 != 0 { modifiers.insert(.alt) }
    if code & 16 != 0 { modifiers.insert(.control) }
    let action: MouseEvent.Action
    switch code & ~28 {
    case 0: action = isRelease ? .release(.left) : .press(.left)
    case 1: action = isRelease ? .release(.middle) : .press(.middle)
    case 2: action = isRelease ? .release(.right) : .press(.right)
    // The old form doesn't say which button it was.
    case 3 where isRelease: action = .release(.left)
    case 64: action = .wheelUp
    case 65: action = .wheelDown
    case 66: action = .wheelLeft
    case 67: action = .wheelRight
    default: return nil
    }
    let position = CellPosition(column: max(0, column - 1), row: max(0, row - 1))
    return .mouse(MouseEvent(action, at: position, modifiers))
  }

  private static let greatestNumber = 1 << 24

  /// The numbers between semicolons, without what follows a colon; those that are missing are 0, and those that are too
  /// great to mean anything are the greatest.
  private static func numbers(_ parameters: ArraySlice<UInt8>) -> [Int] {
    guard !parameters.isEmpty else { return [] }
    return parameters.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false).map { part in
      part.prefix { $0 != UInt8(ascii: ":") }.reduce(0) { number, byte in
        (0x30...0x39).contains(byte) ? min(number * 10 + Int(byte - 0x30), greatestNumber) : 0
      }
    }
  }
}

extension KeyPress.Modifiers {
  /// From xterm's parameter: one more than the sum of Shift 1, Alt 2, Control 4; what is above has no name here.
  init(parameter: Int) {
    self = []
    guard parameter > 1 else { return }
    let bits = parameter - 1
    if bits & 1 != 0 { insert(.shift) }
    if bits & 2 != 0 { insert(.alt) }
    if bits & 4 != 0 { insert(.control) }
  }
}
