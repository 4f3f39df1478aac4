import Foundation
import FuzzDecoders
import Testing

/// What the fuzzers found worth keeping, given to every decoder again. `deploy/fuzz` looks for more.
@Suite struct CorpusTests {
  static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("Fuzz/Corpus", isDirectory: true)

  @Test(arguments: FuzzTarget.allCases)
  func everyInputIsTakenOrRefused(target: FuzzTarget) throws {
    let folder = Self.folder.appendingPathComponent(target.rawValue, isDirectory: true)
    let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
    var taken = 0
    for file in files {
      let bytes = try [UInt8](Data(contentsOf: file))
      do {
        if try target.take(bytes) { taken += 1 }
      } catch {
        Issue.record("\(target) \(file.lastPathComponent): \(error)")
      }
    }
    // Both ways are in the corpus, or it tests half of the decoder.
    #expect(taken > 3 && taken < files.count, "\(taken) of \(files.count)")
  }
}
