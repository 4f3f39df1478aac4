/// A place in a program's source.
package struct SourcePlace: Hashable, Sendable, CustomStringConvertible {
  var file: String
  var line: UInt
  var column: UInt

  package init(file: String, line: UInt, column: UInt) {
    (self.file, self.line, self.column) = (file, line, column)
  }

  package var description: String { "\(file):\(line)" }
}
