import Foundation
import Testing

/// The package's own files, read from where this file stands.
struct SourceTree {
  struct File {
    /// Relative to the package, such as `Sources/Commands/Version.swift`.
    var path: String
    var text: String

    /// The lines that a pattern is found in, as `path:number: line`.
    func lines(matching pattern: String) throws -> [String] {
      let expression = try NSRegularExpression(pattern: pattern)
      return text.components(separatedBy: "\n").enumerated().compactMap { number, line in
        let range = NSRange(line.startIndex..., in: line)
        guard expression.firstMatch(in: line, range: range) != nil else { return nil }
        return "\(path):\(number + 1): \(line.trimmingCharacters(in: .whitespaces))"
      }
    }
  }

  static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("../..")
    .standardizedFileURL

  /// Every text file but those that are built, and git's own.
  let files: [File]

  init() throws {
    var files: [File] = []
    for top in try FileManager.default.contentsOfDirectory(atPath: SourceTree.root.path).sorted()
    where top != ".build" && top != ".git" {
      let start = SourceTree.root.appendingPathComponent(top)
      let below = FileManager.default.enumerator(atPath: start.path)?.compactMap { $0 as? String }.sorted() ?? []
      let paths = below.isEmpty ? [top] : below.map { "\(top)/\($0)" }
      for path in paths {
        guard let data = try? Data(contentsOf: SourceTree.root.appendingPathComponent(path)) else { continue }
        guard let text = String(data: data, encoding: .utf8), !text.contains("\0") else { continue }
        files.append(File(path: path, text: text))
      }
    }
    self.files = files
  }

  var swiftFiles: [File] { files.filter { $0.path.hasSuffix(".swift") } }

  func files(below folder: String) -> [File] { files.filter { $0.path.hasPrefix(folder + "/") } }

  func file(_ path: String) -> File? { files.first { $0.path == path } }
}

/// Without it, a failed expectation would print every file.
extension SourceTree: CustomTestStringConvertible {
  var testDescription: String { "\(files.count) files" }
}

extension SourceTree.File: CustomTestStringConvertible {
  var testDescription: String { path }
}
