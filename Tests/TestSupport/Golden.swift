import Foundation
public import Testing

/// Checks a text against the file of that name in the folder `Golden` beside the calling test.
///
/// With `NAVSYNC_REWRITE_GOLDEN=1` the file is written instead, to be reviewed as a diff.
public func expectGolden(
  _ text: String, _ name: String, filePath: String = #filePath, sourceLocation: SourceLocation = #_sourceLocation
) throws {
  let file = URL(fileURLWithPath: filePath).deletingLastPathComponent().appendingPathComponent("Golden/\(name)")
  if ProcessInfo.processInfo.environment["NAVSYNC_REWRITE_GOLDEN"] == "1" {
    try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(text.utf8).write(to: file)
    return
  }
  let expected = try String(decoding: Data(contentsOf: file), as: UTF8.self)
  #expect(text == expected, "differs from Golden/\(name)", sourceLocation: sourceLocation)
}
