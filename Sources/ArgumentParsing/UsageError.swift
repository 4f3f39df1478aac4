/// A command line that makes no sense, and why. Its description is one line, fit for the standard error.
package struct UsageError: Error, Hashable, CustomStringConvertible {
  package enum Problem: Error, Hashable, Sendable {
    case unknownOption(String, suggestion: String?)
    case unknownCommand(String, suggestion: String?)
    case unexpectedArgument(String)
    case missingArgument(ArgumentDescription)
    case missingOption(OptionDescription)
    /// An option that takes a value stands last, or before another option.
    case missingValue(option: String, next: String?)
    /// `--flag=value`.
    case unexpectedValue(option: String)
    /// - source: the option, argument or environment variable that the text was given by.
    case badValue(text: String, source: String, reason: String)
    /// What a command's own check says.
    case invalid(String)
  }

  /// The words that call the command: `["navsync", "push"]`.
  package var path: [String]
  package var problem: Problem

  package var description: String {
    let command = path.joined(separator: " ")
    let more = "see \(command) --help"
    let said =
      switch problem {
      case .unknownOption(let name, let near):
        "unknown option '\(name)'; " + (near.map { "did you mean '\($0)'?" } ?? more)
      case .unknownCommand(let name, let near):
        "unknown command '\(name)'; " + (near.map { "did you mean '\($0)'?" } ?? more)
      case .unexpectedArgument(let text): "unexpected argument '\(text)'; \(more)"
      case .missingArgument(let argument): "<\(argument.name)> is missing; \(more)"
      case .missingOption(let option):
        "--\(option.name) is missing; "
          + (option.environment.map { "give it or set \($0); " } ?? "") + more
      case .missingValue(let option, let next?):
        "\(option) needs a value before '\(next)'; write \(option)=VALUE if the value begins with a dash"
      case .missingValue(let option, nil): "\(option) needs a value; \(more)"
      case .unexpectedValue(let option): "\(option) takes no value; write it alone"
      case .badValue(let text, let source, let reason): "'\(text)' isn't right for \(source): \(reason)"
      case .invalid(let reason): reason
      }
    return "\(command): \(escapingControls(said))"
  }
}

/// The word that was most likely meant: the nearest by insertions, deletions, substitutions and swaps of neighbours
/// (optimal string alignment), if it is near enough; else one that the word begins.
func nearest(to word: String, among candidates: [String]) -> String? {
  let most = max(1, word.drop { $0 == "-" }.count / 3)
  let near = candidates.map { (candidate: $0, distance: distance(word, $0)) }.filter { $0.distance <= most }
  if let best = near.min(by: { $0.distance < $1.distance }) { return best.candidate }
  return word.count >= 2 ? candidates.first { $0.hasPrefix(word) } : nil
}

private func distance(_ left: String, _ right: String) -> Int {
  let left = Array(left)
  let right = Array(right)
  var rows = [[Int]](repeating: [Int](repeating: 0, count: right.count + 1), count: left.count + 1)
  for row in 0...left.count { rows[row][0] = row }
  for column in 0...right.count { rows[0][column] = column }
  for row in left.indices {
    for column in right.indices {
      let cost = left[row] == right[column] ? 0 : 1
      var best = min(rows[row][column + 1] + 1, rows[row + 1][column] + 1, rows[row][column] + cost)
      if row > 0, column > 0, left[row] == right[column - 1], left[row - 1] == right[column] {
        best = min(best, rows[row - 1][column - 1] + 1)
      }
      rows[row + 1][column + 1] = best
    }
  }
  return rows[left.count][right.count]
}
