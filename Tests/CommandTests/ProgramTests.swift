import Commands
import Foundation
import Testing

@Suite struct ProgramTests {
  @Test func theVersionGoesToTheOutput() async throws {
    let short = try await navsync("--version")
    #expect(short.code == .ok)
    #expect(short.output == "navsync \(Version.number)\n")
    let long = try await navsync("version")
    #expect(long.output.hasPrefix("navsync \(Version.number)\nSwift "))
    for library in ["libzmq", "SQLite", "libsodium", "zlib"] {
      #expect(long.output.contains(try Regex("(?m)^\(library) \\d+\\.\\d+")))
    }
    #expect(long.error.isEmpty)
  }

  @Test func theFullVersionNamesFormatsAndEveryLibraryThatRuns() async throws {
    let full = try await navsync("version", "--full", "--json")
    let items = try full.output.split(separator: "\n").map {
      try JSONDecoder().decode([String: String].self, from: Data($0.utf8))
    }
    let formats = items.filter { $0["kind"] == "format" }.map { "\($0["name"] ?? "") \($0["version"] ?? "")" }
    #expect(formats == ["protocol format 1", "feed format 1", "store format 1", "fold format 2", "export format 1"])
    let files = items.filter { $0["kind"] == "file" }
    for library in ["libzmq", "libsqlite3", "libsodium", "libz", "libtinfo", "libc"] {
      let file = files.first { $0["name"] == library }?["version"] ?? ""
      #expect(file.hasPrefix("/") && file.contains("/\(library).so"), "\(library)")
    }
  }

  @Test func aWrongCommandIsOneLineOnTheErrorSide() async throws {
    let wrong = try await navsync("verson")
    #expect(wrong.code == .usage)
    #expect(wrong.output.isEmpty)
    #expect(wrong.error == "navsync: unknown command 'verson'; did you mean 'version'?\n")
  }

  @Test func helpGoesToTheOutput() async throws {
    let help = try await navsync("help", "version", environment: ["COLUMNS": "60"])
    #expect(help.code == .ok)
    #expect(help.output.hasPrefix("navsync version: Show the versions"))
    #expect(help.output.split(separator: "\n").allSatisfy { $0.count <= 60 })
  }

  @Test func aClosedPipeEndsQuietly() async throws {
    signal(SIGPIPE, SIG_IGN)
    let captured = try await withCapturedConsole { console, _ in
      var ends: [Int32] = [0, 0]
      pipe(&ends)
      close(ends[0])
      defer { close(ends[1]) }
      let closed = Console(input: console.input, output: ends[1], error: console.error, environment: [:])
      return await run(Navsync.self, arguments: ["version"], on: closed)
    }
    #expect(captured.code == .ok)
    #expect(captured.error.isEmpty)
  }

  @Test func aFullOutputIsAnError() async throws {
    let captured = try await withCapturedConsole { console, _ in
      let full = open("/dev/full", O_WRONLY)
      defer { close(full) }
      let console = Console(input: console.input, output: full, error: console.error, environment: [:])
      return await run(Navsync.self, arguments: ["version"], on: console)
    }
    #expect(captured.code == .refused)
    #expect(captured.error.hasPrefix("navsync: writing to the standard output failed: No space left on device"))
  }
}
