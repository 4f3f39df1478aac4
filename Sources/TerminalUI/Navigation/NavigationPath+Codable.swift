public import Foundation

extension NavigationPath {
  /// What can be stored of a path: a flat array of texts, of which two are an entry, the name of its type and the JSON
  /// of its value; the top of the stack comes first. This is the form of SwiftUI.
  public struct CodableRepresentation: Codable, Equatable {
    /// From the root up.
    fileprivate var entries: [Entry]

    fileprivate struct Entry: Equatable {
      var name: String
      var json: String
    }

    fileprivate init(entries: [Entry]) { self.entries = entries }

    /// - Throws: `DecodingError` if it isn't an array of pairs of texts.
    public init(from decoder: any Decoder) throws {
      var container = try decoder.unkeyedContainer()
      entries = []
      while !container.isAtEnd {
        let name = try container.decode(String.self)
        guard !container.isAtEnd else {
          throw DecodingError.dataCorruptedError(
            in: container, debugDescription: "the type \(name) stands without a value")
        }
        entries.append(Entry(name: name, json: try container.decode(String.self)))
      }
      entries.reverse()
    }

    public func encode(to encoder: any Encoder) throws {
      var container = encoder.unkeyedContainer()
      for entry in entries.reversed() {
        try container.encode(entry.name)
        try container.encode(entry.json)
      }
    }
  }

  /// The path in the form to be stored; nil if a value can't be, which a diagnostic tells: see `uncodableTypes` too.
  public var codable: CodableRepresentation? {
    let problems = elements.compactMap(\.value.codingProblem)
    guard problems.isEmpty else {
      problems.forEach(DiagnosticSink.current.tell)
      return nil
    }
    return CodableRepresentation(
      entries: elements.map { element in
        guard let name = element.value.typeName, let json = element.value.json else {
          preconditionFailure("a value without a problem has no name or no JSON")
        }
        return CodableRepresentation.Entry(name: name, json: json)
      })
  }

  /// The types, if any, for which `codable` is nil, and why: they aren't `Codable`, a value of theirs can't be encoded,
  /// as the number NaN, or they are private or local and
  /// have no name that the next build of the program knows.
  public var uncodableTypes: [String] {
    elements.compactMap { element in
      if let error = element.value.encodingError { return "\(element.value.shownType) can't be encoded: \(error)" }
      if element.value.json == nil { return "\(element.value.shownType) isn't Codable" }
      if element.value.typeName == nil {
        return "\(element.value.shownType) is private or local: register a name, navigationDestination(for:name:)"
      }
      return nil
    }
  }

  /// A path that was stored. Values of types that aren't known yet are kept as they are, and become values when a
  /// `navigationDestination` makes their type known.
  public init(_ codable: CodableRepresentation) {
    elements = codable.entries.map { Element(value: PathValue(name: $0.name, json: $0.json)) }
  }

  /// The path that a file has.
  ///
  /// - Parameters:
  ///   - file: written by `save(to:)`. If there is none, the path is the root.
  ///   - warn: told if the file can't be read. The path is the root then, and the file is kept beside, under the same
  ///     name with `.damaged` at its end.
  public init(restoring file: URL, warn: (String) -> Void) {
    self.init()
    guard FileManager.default.fileExists(atPath: file.path) else { return }
    do {
      self.init(try JSONDecoder().decode(CodableRepresentation.self, from: Data(contentsOf: file)))
    } catch {
      let beside = file.appendingPathExtension("damaged")
      try? FileManager.default.removeItem(at: beside)
      let isKept = (try? FileManager.default.moveItem(at: file, to: beside)) != nil
      warn(
        "The saved screens in \(file.path) can't be read, so the program starts at the first one. "
          + (isKept ? "The file was kept as \(beside.lastPathComponent). " : "") + "(\(error))")
    }
  }

  /// Writes the path to a file, whole or not at all.
  ///
  /// - Throws: `PathSavingError` if a value can't be coded; what the file system says.
  public func save(to file: URL) throws {
    guard let codable else { throw PathSavingError(problems: uncodableTypes) }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    try encoder.encode(codable).write(to: file, options: .atomic)
  }
}

/// A path can't be stored.
public struct PathSavingError: Error, CustomStringConvertible {
  /// What is wrong with which types.
  public let problems: [String]

  /// The message.
  public var description: String { "The path can't be saved: \(problems.joined(separator: "; "))." }
}
