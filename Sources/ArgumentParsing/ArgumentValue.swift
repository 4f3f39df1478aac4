/// A type that one word of a command line can be read as.
package protocol ArgumentValue: Sendable {
  /// Reads the word. Throws a ``ValueError`` or another error whose description completes "'x' isn't right: …".
  init(argument: String) throws
  /// All the words that are allowed, if that is a short closed list; else empty.
  static var argumentChoices: [String] { get }
  /// The value as it would be typed.
  var argumentText: String { get }
}

extension ArgumentValue {
  package static var argumentChoices: [String] { [] }
  package var argumentText: String { "\(self)" }
}

/// What is wrong with a value, in words that follow a colon: `expected a whole number`.
package struct ValueError: Error, Hashable, CustomStringConvertible {
  package let description: String

  package init(_ description: String) { self.description = description }
}

extension String: ArgumentValue {
  package init(argument: String) { self = argument }
}

extension Int: ArgumentValue {
  package init(argument: String) throws {
    guard let number = Int(argument) else { throw ValueError("expected a whole number") }
    self = number
  }
}

extension Double: ArgumentValue {
  package init(argument: String) throws {
    guard let number = Double(argument), number.isFinite else { throw ValueError("expected a number") }
    self = number
  }
}

/// `500ms`, `5s`, `2m`, `1h`, `7d`; a number alone is seconds.
extension Duration: ArgumentValue {
  package init(argument: String) throws {
    let units: [(suffix: String, milliseconds: Double)] = [
      ("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000),
    ]
    let unit = units.first { argument.hasSuffix($0.suffix) } ?? ("", 1000)
    guard let number = Double(argument.dropLast(unit.suffix.count)), number >= 0, number <= 1e9 else {
      throw ValueError("expected a time such as 500ms, 5s, 2m, 1h or 7d")
    }
    self = .milliseconds(Int(number * unit.milliseconds))
  }

  package var argumentText: String {
    let milliseconds = components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000
    return switch milliseconds {
    case 0: "0s"
    case _ where milliseconds % 86_400_000 == 0: "\(milliseconds / 86_400_000)d"
    case _ where milliseconds % 3_600_000 == 0: "\(milliseconds / 3_600_000)h"
    case _ where milliseconds % 60_000 == 0: "\(milliseconds / 60_000)m"
    case _ where milliseconds % 1000 == 0: "\(milliseconds / 1000)s"
    case _: "\(milliseconds)ms"
    }
  }
}

/// An enumeration of words gets reading and its list of choices for a bare conformance.
extension ArgumentValue where Self: CaseIterable & RawRepresentable, RawValue == String {
  package init(argument: String) throws {
    guard let value = Self(rawValue: argument) else {
      throw ValueError("expected one of \(Self.argumentChoices.joined(separator: ", "))")
    }
    self = value
  }

  package static var argumentChoices: [String] { allCases.map(\.rawValue) }
  package var argumentText: String { rawValue }
}
