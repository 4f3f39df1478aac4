/// A name of a space, a stack in its space, or a device: `[a-z0-9][a-z0-9._-]{0,63}`.
public struct Name: Hashable, Sendable, Comparable, CustomStringConvertible {
  /// The longest name, in bytes.
  public static let maximumLength = 64

  public let description: String

  /// The name, or what is wrong with it.
  public init(_ text: some StringProtocol) throws(NameError) {
    let bytes = text.utf8
    guard let first = bytes.first else { throw NameError(text: "", problem: .empty) }
    guard bytes.count <= Name.maximumLength else {
      throw NameError(text: String(text.prefix(Name.maximumLength)) + "…", problem: .tooLong(bytes.count))
    }
    guard Name.isAlphanumeric(first) else { throw NameError(text: String(text), problem: .badStart) }
    for byte in bytes where !(Name.isAlphanumeric(byte) || Name.marks.contains(byte)) {
      throw NameError(text: String(text), problem: .badCharacter)
    }
    description = String(text)
  }

  public static func < (left: Name, right: Name) -> Bool { left.description < right.description }

  private static let marks: [UInt8] = [UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-")]

  private static func isAlphanumeric(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }
}

/// The full name of a stack, `space/stack`: the unit of replication.
public struct StackName: Hashable, Sendable, Comparable, CustomStringConvertible {
  /// Whose the stack is: the unit of permission.
  public let space: Name
  /// The stack's name in its space.
  public let stack: Name

  public init(space: Name, stack: Name) {
    self.space = space
    self.stack = stack
  }

  /// Reads `space/stack`, or says what is wrong with it.
  public init(_ text: some StringProtocol) throws(NameError) {
    guard let slash = text.firstIndex(of: "/") else { throw NameError(text: String(text), problem: .notSpaceAndStack) }
    self.init(space: try Name(text[..<slash]), stack: try Name(text[text.index(after: slash)...]))
  }

  public var description: String { "\(space)/\(stack)" }

  public static func < (left: StackName, right: StackName) -> Bool {
    left.space != right.space ? left.space < right.space : left.stack < right.stack
  }
}

/// Why a text is not a name.
public struct NameError: Error, Hashable, CustomStringConvertible {
  public enum Problem: Hashable, Sendable {
    case empty
    case tooLong(Int)
    case badStart
    case badCharacter
    case notSpaceAndStack
  }

  /// The text, cut if it was too long.
  public let text: String
  public let problem: Problem

  public var description: String {
    switch problem {
    case .empty: "an empty name; a name is 1 to 64 of a-z 0-9 . _ -"
    case .tooLong(let count): "the name '\(text)' has \(count) bytes; at most \(Name.maximumLength) are allowed"
    case .badStart: "the name '\(text)' must begin with a-z or 0-9"
    case .badCharacter: "the name '\(text)' has a character that is not one of a-z 0-9 . _ -"
    case .notSpaceAndStack: "'\(text)' is not a stack; write space/stack, as in alice/main"
    }
  }
}
