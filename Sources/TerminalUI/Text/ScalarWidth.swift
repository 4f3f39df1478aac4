/// The columns of single Unicode scalars; those of a text come from its clusters.
enum ScalarWidth {
  /// 0, 1 or 2. A control character is 1: it is shown as a sign.
  static func of(_ scalar: Unicode.Scalar) -> Int {
    let value = scalar.value
    if value < 0x300 { return value == 0xAD ? 0 : 1 }
    if contains(zeroRanges, value) { return 0 }
    return value >= 0x1100 && contains(wideRanges, value) ? 2 : 1
  }

  /// Whether it combines with what stands before it.
  static func isMark(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .spacingMark: return !scalar.properties.isDefaultIgnorableCodePoint
    default: return false
    }
  }

  /// Whether it has no form and does nothing for the cluster that it stands in. Joiners and variation selectors do.
  static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    // The fillers of Hangul hold the place of a letter.
    case 0x115F, 0x1160: return false
    case 0x200C, 0x200D, 0xFE0E, 0xFE0F, 0xE0020...0xE007F, 0xE0100...0xE01EF: return false
    default: return scalar.properties.generalCategory == .format || scalar.properties.isDefaultIgnorableCodePoint
    }
  }

  /// Whether it has a width of its own but fills no columns of its own after a base: skin tones, the second half of a
  /// flag, vowel signs that stand beside their consonant.
  static func continuesCluster(_ scalar: Unicode.Scalar) -> Bool {
    scalar.properties.isEmojiModifier || scalar.properties.generalCategory == .spacingMark
      || (0x1F1E6...0x1F1FF).contains(scalar.value)
  }

  private static func contains(_ ranges: [ClosedRange<UInt32>], _ value: UInt32) -> Bool {
    var low = 0
    var high = ranges.count
    while low < high {
      let middle = (low + high) / 2
      if ranges[middle].upperBound < value { low = middle + 1 } else { high = middle }
    }
    return low < ranges.count && ranges[low].lowerBound <= value
  }
}

extension Unicode.Scalar {
  /// Whether it is a vowel or final consonant that joins the Hangul letter before it.
  var isJoiningJamo: Bool { (0x1160...0x11FF).contains(value) || (0xD7B0...0xD7FF).contains(value) }

  var isVowelJamo: Bool { (0x1160...0x11A7).contains(value) || (0xD7B0...0xD7C6).contains(value) }
}
