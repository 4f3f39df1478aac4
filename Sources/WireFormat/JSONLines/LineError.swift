/// Why a line of a JSON Lines file is not what it should be.
public struct LineError: Error, Hashable, Sendable, CustomStringConvertible {
  /// Where in the line, in bytes from 0.
  public var offset: Int
  /// What is wrong, for a person: "`seq` must be a whole number of at least 1".
  public var problem: String
  /// The line is of a later version of the form; it may be in order.
  public var isNewerFormat: Bool

  public init(at offset: Int, _ problem: String, isNewerFormat: Bool = false) {
    self.offset = offset
    self.problem = problem
    self.isNewerFormat = isNewerFormat
  }

  public var description: String { isNewerFormat ? problem : "\(problem) (column \(offset + 1))" }
}
