extension RandomAccessCollection where Element == Cell, Index == Int {
  /// The parts of a row from one right-to-left letter to the last that no left-to-right letter stands before: what a
  /// terminal may reorder as one.
  var rightToLeftParts: [Range<Int>] {
    var parts: [Range<Int>] = []
    var isOpen = false
    for (index, cell) in zip(indices, self) {
      if cell.isRightToLeft {
        if isOpen, let last = parts.last {
          parts[parts.count - 1] = last.lowerBound..<index + 1
        } else {
          parts.append(index..<index + 1)
          isOpen = true
        }
      } else if isOpen, cell.character.isLetter {
        isOpen = false
      }
    }
    return parts
  }
}

extension GridDifference.Run {
  /// In indices of `cells`.
  var rightToLeftParts: [Range<Int>] { cells.contains(where: \.isRightToLeft) ? cells.rightToLeftParts : [] }
}
