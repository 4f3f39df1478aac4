/// Why the log couldn't do what it was asked.
public struct LogError: Error, Hashable, Sendable, CustomStringConvertible {
  public enum Code: Hashable, Sendable {
    /// No room on the disk; appends work again when there is.
    case full
    /// The file or its folder can't be written.
    case readOnly
    /// Reading or writing failed; the log was closed and opened again, so it is as it was on the disk.
    case inputOutput
    /// Another process holds it; the detail says which.
    case busy
    /// Made by a newer program; the detail says which format.
    case newerFormat
    /// Not a store of this program.
    case notAStore
    /// Nothing is there.
    case notFound
    /// A checksum or chain is broken.
    case damaged
    /// A run of events doesn't continue its device's head.
    case notNext
  }

  public var code: Code
  /// The file or stack that it happened to.
  public var about: String
  /// What happened and what to do, for a person.
  public var detail: String

  public init(_ code: Code, about: String, _ detail: String) {
    self.code = code
    self.about = about
    self.detail = detail
  }

  public var description: String { "\(about): \(detail)" }

  /// Whether the same call may work later without anything being repaired.
  public var isRetriable: Bool {
    switch code {
    case .full, .readOnly, .inputOutput, .busy: true
    case .newerFormat, .notAStore, .notFound, .damaged, .notNext: false
    }
  }
}
