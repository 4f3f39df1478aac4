import Foundation
import TestSupport
import Testing

/// What no compiler checks. Words that are banned are spelled in two parts here, so that this file may stand beside the
/// others.
@Suite struct TidyTests {
  let tree: SourceTree

  init() throws {
    tree = try SourceTree()
    try #require(tree.swiftFiles.count > 20, "the sources aren't found")
  }

  func expectNone(
    _ pattern: String, in files: [SourceTree.File], _ comment: Comment,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let found = try files.flatMap { try $0.lines(matching: pattern) }
    #expect(found == [], comment, sourceLocation: sourceLocation)
  }

  @Test func nothingIsUnfinishedByItsOwnWords() throws {
    let words = ["TO" + "DO", "FIX" + "ME", "XX" + "X", "HA" + "CK"].joined(separator: "|")
    try expectNone(
      "\\b(\(words))\\b|not (yet )?impl" + "emented", in: tree.files, "finish it, or write it down as an issue")
  }

  @Test func noPathOfAMachineIsWrittenDown() throws {
    try expectNone("/wo" + "rk/|/ho" + "me/[a-z]|/Use" + "rs/[a-z]", in: tree.files, "paths differ between machines")
  }

  @Test func noPackageRegistryIsNamed() throws {
    let hosts = [
      "crates" + "\\.io", "pypi" + "\\.org", "npmjs" + "\\.(org|com)", "proxy\\.golang" + "\\.org",
      "rubygems" + "\\.org",
      "repo1?\\.maven", "swiftpackageindex" + "\\.com", "deb\\.debian" + "\\.org", "pythonhosted" + "\\.org",
    ]
    try expectNone(hosts.joined(separator: "|"), in: tree.files, "tools know their registries by their own settings")
  }

  @Test func testsUseSwiftTestingAlone() throws {
    try expectNone(
      "import +XC" + "Test", in: tree.swiftFiles, "swift test --sanitize=address fails with any such target")
  }

  @Test func testsNeverSleep() throws {
    let pattern = "Task\\.sl" + "eep|\\bu?sl" + "eep\\("
    try expectNone(pattern, in: tree.files(below: "Tests"), "await the condition instead")
  }

  @Test func everyTestFileExpectsSomething() {
    for file in tree.files(below: "Tests") where file.text.contains("@Test") {
      let expects = ["#expect", "#require", "Issue.record", "expectGolden", "check", "verify"]
      #expect(expects.contains { file.text.contains($0) }, "\(file.path) can't fail")
    }
  }

  /// What systemd itself says of the unit; of 10 for the most exposed.
  @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/systemd-analyze")))
  func theServiceIsRatedBelowTwo() throws {
    let unit = SourceTree.root.appendingPathComponent("deploy/navsyncd.service").path
    let rating = Process()
    let output = Pipe()
    rating.executableURL = URL(fileURLWithPath: "/usr/bin/systemd-analyze")
    rating.arguments = ["security", "--offline=true", "--no-pager", "--threshold=19", unit]
    rating.standardOutput = output
    rating.standardError = output
    try rating.run()
    let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    rating.waitUntilExit()
    #expect(text.contains("Overall exposure level for navsyncd.service"), "\(text)")
    #expect(rating.terminationStatus == 0, "\(text)")
  }

  /// Each deliberate fault still fits the code that it is in.
  @Test func everyMutantApplies() throws {
    let patches = SourceTree.root.appendingPathComponent("Tests/Mutants")
    let names = try FileManager.default.contentsOfDirectory(atPath: patches.path).filter { $0.hasSuffix(".patch") }
    try #require(names.count >= 25)
    for name in names {
      let git = Process()
      git.executableURL = URL(fileURLWithPath: "/usr/bin/env")
      git.arguments = ["git", "apply", "--check", patches.appendingPathComponent(name).path]
      git.currentDirectoryURL = SourceTree.root
      git.standardError = FileHandle.nullDevice
      try git.run()
      git.waitUntilExit()
      #expect(git.terminationStatus == 0, "\(name) doesn't apply: make it anew")
    }
  }

  /// Each report of the field is claimed by a test.
  @Test func everyReportHasItsTest() throws {
    var claimed: Set<Int> = []
    for file in tree.files(below: "Tests") where file.path.hasSuffix(".swift") {
      for match in file.text.matches(of: try Regex("[(, ]\\.case\\(([0-9]+)\\)")) {
        claimed.insert(try #require(match[1].substring.flatMap { Int($0) }))
      }
    }
    #expect(claimed == Set(FieldReport.all.keys))
  }

  @Test func filesAreShort() {
    for file in tree.swiftFiles {
      let count = file.text.split(separator: "\n", omittingEmptySubsequences: false).count
      #expect(count <= 500, "\(file.path) has \(count) lines; split it by facet")
    }
  }

  @Test func uncheckedConcurrencyIsProved() throws {
    let pattern = "@unchecked +Send" + "able|nonisolated\\(un" + "safe\\)"
    for file in tree.swiftFiles {
      let lines = file.text.components(separatedBy: "\n")
      for (number, line) in lines.enumerated()
      where line.range(of: pattern, options: .regularExpression) != nil && !line.contains("//") {
        let before = lines[max(0, number - 4)..<number]
        #expect(before.contains { $0.contains("//") }, "\(file.path):\(number + 1) has no comment that proves it")
      }
    }
  }

  @Test func theTopLevelIsAsAgreed() throws {
    let agreed: Set<String> = [
      "Package.swift", "Package.resolved", "Sources", "Tests", "deploy", "proto", "README.md",
    ]
    let found = try FileManager.default.contentsOfDirectory(atPath: SourceTree.root.path)
    #expect(found.filter { !$0.hasPrefix(".") && !agreed.contains($0) } == [])
  }

  @Test func scriptsAreStrictAndRun() throws {
    let scripts = tree.files.filter { $0.text.hasPrefix("#!") }
    #expect(scripts.count >= 3)
    for script in scripts where script.text.hasPrefix("#!/usr/bin/env bash") || script.text.hasPrefix("#!/bin/bash") {
      #expect(script.text.contains("set -euo pipefail"), "\(script.path)")
      let path = SourceTree.root.appendingPathComponent(script.path).path
      #expect(FileManager.default.isExecutableFile(atPath: path), "\(script.path)")
    }
    let ci = try #require(tree.file(".ci/run"))
    #expect(ci.text.contains("deploy/test"))
  }

  /// Members that a conformance asks for say nothing of their own.
  @Test func theLibrarysPublicDeclarationsAreDocumented() {
    let obvious = [
      "var description:", "static func ==", "static func <", "func hash(into", "var rawValue:", "let rawValue:",
      "init(rawValue:", "struct AsyncIterator:", "mutating func next() async", "func makeAsyncIterator()",
    ]
    for file in tree.files(below: "Sources/NavigationClient") {
      let lines = file.text.components(separatedBy: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
      for (number, line) in lines.enumerated() {
        guard line.range(of: "^(@[a-zA-Z]+(\\([^)]*\\))? )*public ", options: .regularExpression) != nil else {
          continue
        }
        if line.contains("public import") || obvious.contains(where: line.contains) { continue }
        let before = lines[..<number].last { !$0.hasPrefix("@") } ?? ""
        #expect(before.hasPrefix("///"), "\(file.path):\(number + 1): \(line)")
      }
    }
  }
}

@Suite struct ReadmeTests {
  let readme: String
  let tree: SourceTree

  init() throws {
    tree = try SourceTree()
    readme = try #require(tree.file("README.md")).text
  }

  @Test func itNamesTheScripts() {
    for script in ["deploy/demo", "deploy/test"] { #expect(readme.contains(script)) }
  }

  /// What is shown is compiled: each Swift block stands, word for word, in an example.
  @Test func itsSwiftIsCompiled() {
    let examples = tree.files(below: "Sources/Examples")
    for part in readme.components(separatedBy: "```swift\n").dropFirst() {
      let block = part.components(separatedBy: "```")[0]
      #expect(examples.contains { $0.text.contains(block) }, "in no file of Sources/Examples:\n\(block)")
    }
  }

  @Test func itsFilesAreThere() throws {
    for match in readme.matches(of: try Regex("`((?:Sources|Tests|deploy|proto)/[A-Za-z0-9_./-]+)`")) {
      let path = String(try #require(match[1].substring))
      let there = FileManager.default.fileExists(atPath: SourceTree.root.appendingPathComponent(path).path)
      #expect(there, "the README names \(path)")
    }
  }
}
