/// One key or sequence from the start of the bytes.
extension InputDecoder {
  /// Longer control sequences are none of ours.
  private static let longestSequence = 64

  static func step(_ bytes: ArraySlice<UInt8>, isTimeUp: Bool) -> Step {
    let bytes = Array(bytes)
    guard bytes[0] == 0x1B else {
      return bytes[0] < 0x80
        ? .take(1, key(ascii: bytes[0]).map(InputEvent.key)) : scalar(bytes, from: 0, [], isTimeUp: isTimeUp)
    }
    guard bytes.count > 1 else { return isTimeUp ? .take(1, .key(KeyPress(.escape))) : .wait }
    if bytes[1] == 0x1B {
      // rxvt puts an Escape before the sequence of a key with Alt; else each is a key.
      guard bytes.count > 2 else { return isTimeUp ? .take(1, .key(KeyPress(.escape))) : .wait }
      guard bytes[2] == UInt8(ascii: "[") || bytes[2] == UInt8(ascii: "O") else {
        return .take(1, .key(KeyPress(.escape)))
      }
      guard bytes.count > 3 else { return isTimeUp ? .take(1, .key(KeyPress(.escape))) : .wait }
      return sequence(bytes, from: 1, [.alt], isTimeUp: isTimeUp)
    }
    if "[O]P_^X".utf8.contains(bytes[1]), bytes.count > 2 || !isTimeUp {
      guard bytes.count > 2 else { return .wait }
      return sequence(bytes, from: 0, [], isTimeUp: isTimeUp)
    }
    // The Linux console's Shift-Tab.
    if bytes[1] == 0x09 { return .take(2, .key(KeyPress(.tab, .shift))) }
    if bytes[1] >= 0x80 { return scalar(bytes, from: 1, [.alt], isTimeUp: isTimeUp) }
    guard var press = key(ascii: bytes[1]) else { return .take(2, nil) }
    press.modifiers.insert(.alt)
    return .take(2, .key(press))
  }

  /// What begins with an Escape at that place, of which three bytes are there.
  private static func sequence(
    _ bytes: [UInt8], from start: Int, _ modifiers: KeyPress.Modifiers, isTimeUp: Bool
  ) -> Step {
    switch bytes[start + 1] {
    case UInt8(ascii: "["): return controlSequence(bytes, from: start + 2, modifiers, isTimeUp: isTimeUp)
    case UInt8(ascii: "O"): return shiftedKey(bytes, from: start + 2, modifiers, isTimeUp: isTimeUp)
    default: return .enter(start + 2, .controlString(isAfterEscape: false))
    }
  }

  /// ECMA-48, 5.4: parameters, then intermediate bytes, then one final byte.
  private static func controlSequence(
    _ bytes: [UInt8], from start: Int, _ modifiers: KeyPress.Modifiers, isTimeUp: Bool
  ) -> Step {
    // The Linux console's F1–F5: a second bracket and a letter.
    if bytes[start] == UInt8(ascii: "[") {
      guard bytes.count > start + 1 else { return isTimeUp ? .take(bytes.count, nil) : .wait }
      let number = Int(bytes[start + 1]) - 0x40
      guard bytes[start + 1] >= 0x20, bytes[start + 1] < 0x7F else { return .take(start + 1, nil) }
      return .take(start + 2, (1...5).contains(number) ? .key(KeyPress(.function(number), modifiers)) : nil)
    }
    guard let end = bytes[start...].firstIndex(where: { !(0x20..<0x40).contains($0) }) else {
      if bytes.count - start > longestSequence { return .enter(bytes.count, .overlongSequence) }
      // rxvt's Shift ends in what is an intermediate byte to others.
      guard isTimeUp else { return .wait }
      let press = bytes.last == UInt8(ascii: "$") ? key(number: bytes[start..<bytes.count - 1], [.shift]) : nil
      return .take(bytes.count, press.map(InputEvent.key))
    }
    let final = bytes[end]
    // A byte that can't be there ends the sequence; it is itself.
    guard (0x40..<0x7F).contains(final) else { return .take(end, nil) }
    let parameters = bytes[start..<end]
    if final == UInt8(ascii: "M"), parameters.isEmpty {
      // The mouse of terminals that don't know the newer form: three bytes, each 32 more than it means.
      guard bytes.count >= end + 4 else { return isTimeUp ? .take(bytes.count, nil) : .wait }
      let values = bytes[end + 1...end + 3].map { Int($0) - 32 }
      let event = mouse(code: values[0], column: values[1], row: values[2], isRelease: values[0] & 3 == 3)
      return .take(end + 4, event)
    }
    if final == UInt8(ascii: "~"), parameters.elementsEqual("200".utf8) { return .enter(end + 1, .paste(Paste())) }
    return .take(end + 1, event(parameters, final: final, modifiers))
  }

  /// `ESC O` and a letter: keys of a terminal in application mode; a number before the letter tells of modifiers.
  private static func shiftedKey(
    _ bytes: [UInt8], from start: Int, _ modifiers: KeyPress.Modifiers, isTimeUp: Bool
  ) -> Step {
    var modifiers = modifiers
    var place = start
    if (0x31...0x39).contains(bytes[start]) {
      guard bytes.count > start + 1 else { return isTimeUp ? .take(bytes.count, nil) : .wait }
      modifiers.formUnion(KeyPress.Modifiers(parameter: Int(bytes[start] - 0x30)))
      place = start + 1
    }
    guard (0x20..<0x7F).contains(bytes[place]) else { return .take(place, nil) }
    return .take(place + 1, key(application: bytes[place], modifiers).map(InputEvent.key))
  }

  /// A scalar in UTF-8; what isn't one is U+FFFD, as the Unicode Standard (3.9, "maximal subpart") has it.
  private static func scalar(
    _ bytes: [UInt8], from start: Int, _ modifiers: KeyPress.Modifiers, isTimeUp: Bool
  ) -> Step {
    func take(_ end: Int, _ scalar: Unicode.Scalar) -> Step {
      .take(end, scalar.properties.generalCategory == .control ? nil : .key(KeyPress(Character(scalar), modifiers)))
    }
    let first = bytes[start]
    // The second byte's range excludes overlong forms, surrogates and what is beyond Unicode.
    let length: Int
    let second: ClosedRange<UInt8>
    switch first {
    case 0xC2...0xDF: (length, second) = (2, 0x80...0xBF)
    case 0xE0: (length, second) = (3, 0xA0...0xBF)
    case 0xED: (length, second) = (3, 0x80...0x9F)
    case 0xE1...0xEF: (length, second) = (3, 0x80...0xBF)
    case 0xF0: (length, second) = (4, 0x90...0xBF)
    case 0xF1...0xF3: (length, second) = (4, 0x80...0xBF)
    case 0xF4: (length, second) = (4, 0x80...0x8F)
    default: return take(start + 1, "\u{FFFD}")
    }
    var value = UInt32(first) & (0x7F >> UInt32(length))
    for place in 1..<length {
      guard start + place < bytes.count else { return isTimeUp ? take(bytes.count, "\u{FFFD}") : .wait }
      let byte = bytes[start + place]
      guard place == 1 ? second.contains(byte) : (0x80...0xBF).contains(byte) else {
        return take(start + place, "\u{FFFD}")
      }
      value = value << 6 | UInt32(byte & 0x3F)
    }
    return take(start + length, Unicode.Scalar(value) ?? "\u{FFFD}")
  }
}
