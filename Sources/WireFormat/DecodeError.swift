/// Why bytes are not what they should be.
public struct DecodeError: Error, Hashable, Sendable, CustomStringConvertible {
  public enum Code: Hashable, Sendable {
    /// The bytes end in the middle.
    case truncated
    /// A length that is not possible here.
    case badLength
    /// A number out of its range, or not in its shortest spelling.
    case badNumber
    /// Not UTF-8, or text with a character that is not allowed there.
    case badText
    /// A field that must be there isn't.
    case missingField
    /// A second way to write the same: there is only one.
    case notCanonical
    /// More than the limit.
    case tooLarge
    /// Bytes after the end.
    case trailing
    /// A kind of message, action or format that this program doesn't know.
    case unsupported
    /// Not JSON.
    case notJSON
  }

  public var code: Code
  /// Where, counted in bytes from the start of what was read.
  public var offset: Int
  /// What was being read, in a person's words: "event batch".
  public var what: String

  public init(_ code: Code, at offset: Int, in what: String) {
    self.code = code
    self.offset = offset
    self.what = what
  }

  public var description: String {
    let problem =
      switch code {
      case .truncated: "ends in the middle"
      case .badLength: "has a length that can't be"
      case .badNumber: "has a number out of range"
      case .badText: "has text that is not allowed"
      case .missingField: "lacks a field"
      case .notCanonical: "is not written in the one way that is allowed"
      case .tooLarge: "is over the limit"
      case .trailing: "goes on after its end"
      case .unsupported: "is of a kind that this version doesn't know"
      case .notJSON: "is not JSON"
      }
    return "\(what) \(problem) (at byte \(offset))"
  }
}
