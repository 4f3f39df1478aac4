import Commands
import Foundation
import FoundationXML
import TestSupport
import Testing

/// Saved paths and deep links, with a daemon.
@Suite struct LinkCommandTests {
  @Test func linksAndSavedPaths() async throws {
    try await withPrograms { programs in
      _ = try programs.startDaemon()
      let folder = URL(fileURLWithPath: programs.state)
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      let routes = folder.appendingPathComponent("routes").path
      try Data("prefix shop://\nitem/{id:int} \"list\" Product {\"id\":{id}}\n".utf8)
        .write(to: URL(fileURLWithPath: routes))
      let open = try programs.navsync("open", "alice/main", "shop://item/42", "--routes", routes)
      #expect(open.code == 0 && open.output == "list › Product {\"id\":42}\n", "\(open.error)")
      // The same link again is the same entry.
      let again = try programs.navsync("open", "alice/main", "shop://item/42", "--routes", routes)
      #expect(again.code == 0 && again.error.contains("nothing changed"))
      #expect(try programs.navsync("link", "alice/main", "--routes", routes).output == "shop://item/42\n")
      let unknown = try programs.navsync("open", "alice/main", "shop://items", "--routes", routes)
      #expect(unknown.code == 4 && unknown.error.contains("item/{id:int}"))
      #expect(try programs.navsync("open", "alice/main", "shop://item/1").code == 3)

      let saved = try programs.navsync("path", "export", "alice/main")
      #expect(saved.output == #"["Product","{\"id\":42}","Swift.String","\"list\""]"# + "\n")
      let file = folder.appendingPathComponent("path.json").path
      try Data(saved.output.utf8).write(to: URL(fileURLWithPath: file))
      _ = try programs.navsync("root", "alice/main")
      let imported = try programs.navsync("path", "import", "alice/main", file)
      #expect(imported.code == 0 && imported.output == open.output)
      try Data("[\"Swift.Int\"]".utf8).write(to: URL(fileURLWithPath: file))
      let odd = try programs.navsync("path", "import", "alice/main", file)
      #expect(odd.code == 5 && odd.error.contains("nothing was changed"))
      try Data("{\"cut".utf8).write(to: URL(fileURLWithPath: file))
      #expect(try programs.navsync("path", "import", "alice/main", file).code == 5)
      #expect(try programs.navsync("log", "alice/main").output.split(separator: "\n").count == 3)
    }
  }

  @Test func aRoutesFileThatMakesNoSense() async throws {
    try await withTemporaryFolder { folder in
      let routes = folder.appendingPathComponent("routes")
      try Data("# first\nshop/{id:whole} \"a\"\n".utf8).write(to: routes)
      let result = try await navsync("open", "alice/main", "x://shop", "--routes", routes.path)
      #expect(result.code == .damage && result.error.contains("line 2") && result.error.contains("'whole'"))
    }
  }
}

/// What is made from the descriptions of the commands.
@Suite struct GeneratedTests {
  @Test(arguments: ["bash", "zsh", "fish"])
  func completions(shell: String) async throws {
    let script = try await navsync("completion", shell).output
    for word in ["conflicts", "--follow", "wikispeedia", "navsyncd", "export"] {
      #expect(script.contains(shell == "fish" && word.hasPrefix("--") ? "-l follow" : word), "\(word)")
    }
    // The shell itself reads it, where it is there.
    let path = ["/bin/\(shell)", "/usr/bin/\(shell)"].first { FileManager.default.isExecutableFile(atPath: $0) }
    guard let path else { return }
    try await withPrograms { programs in
      let file = programs.state + "-completion"
      try Data(script.utf8).write(to: URL(fileURLWithPath: file))
      let read = try programs.run(path, ["-n", file])
      #expect(read.code == 0, "\(read.error)")
    }
  }

  /// bash completes commands, options, choices and the stacks of a daemon.
  @Test func bashCompletes() async throws {
    let script = try await navsync("completion", "bash").output
    try await withPrograms { (programs: Programs) throws in
      func complete(_ words: String...) throws -> [String] {
        let file = programs.state + "-completion"
        try Data(script.utf8).write(to: URL(fileURLWithPath: file))
        let quoted = words.map { "'\($0)'" }.joined(separator: " ")
        let command = """
          source '\(file)'; compopt() { :; }; navsync() { echo 'alice/main  merge'; }; COMP_WORDS=(\(quoted)); \
          COMP_CWORD=\(words.count - 1); _navsync; printf '%s\\n' "${COMPREPLY[@]}"
          """
        let result = try programs.run("/bin/bash", ["-c", command])
        #expect(result.code == 0, "\(result.error)")
        return result.output.split(separator: "\n").map(String.init)
      }
      #expect(try complete("navsync", "conf") == ["conflicts"])
      #expect(try complete("navsync", "path", "") == ["export", "import"])
      #expect(try complete("navsync", "path", "export", "--na") == ["--names"])
      #expect(try complete("navsync", "path", "export", "--names", "") == ["qualified", "mangled"])
      #expect(try complete("navsync", "log", "") == ["alice/main"])
      #expect(try complete("navsync", "log", "alice/main", "--gr") == ["--graph"])
    }
  }

  @Test func manualPages() async throws {
    try expectGolden(try await navsync("man", "undo").output, "navsync-undo.1")
    #expect(try await navsync("man", "nothing").code == .notFound)
    try await withTemporaryFolder { folder in
      #expect(try await navsync("man", "--all", folder.path).code == .ok)
      let pages = try FileManager.default.contentsOfDirectory(atPath: folder.path)
      #expect(pages.contains("navsync-path-export.1") && pages.contains("navsyncd.1") && pages.contains("navsync.1"))
    }
  }
}

/// Pictures of a log and of figures.
@Suite struct PictureTests {
  @Test(arguments: [["log", "-", "--svg", "-"], ["stats", "-", "--svg", "-"]])
  func drawingsAreXML(words: [String]) async throws {
    let drawn = try await withCapturedConsole(input: Array(LookingBackTests.history.utf8)) { console, _ in
      await run(Navsync.self, arguments: words, on: console)
    }
    #expect(XMLParser(data: Data(drawn.output.utf8)).parse())
    if words[0] == "log" {
      #expect(drawn.output.components(separatedBy: "class=\"event\"").count == 6)
      try expectGolden(drawn.output, "log.svg")
    }
  }

  @Test func aPageHasAllThatItNeeds() async throws {
    let page = try await withCapturedConsole(input: Array(LookingBackTests.history.utf8)) { console, _ in
      await run(Navsync.self, arguments: ["log", "-", "--html", "-"], on: console)
    }
    #expect(page.output.hasPrefix("<!doctype html>"))
    #expect(!page.output.contains("src=") && !page.output.contains("href="))
    #expect(page.output.contains(#"["reviews","laptop:1"]"#))
  }
}
