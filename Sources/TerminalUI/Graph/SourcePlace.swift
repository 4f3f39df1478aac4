/// A place in a program's source.
struct SourcePlace: Hashable, Sendable, CustomStringConvertible {
  var file: String
  var line: UInt
  var column: UInt

  var description: String { "\(file):\(line)" }
}
