import Foundation
import TestSupport
import Testing

/// Stores as programs of earlier times left them: a daemon's and those of two devices, once for each format.
@Suite struct FormatTests {
  static let folder = Fixtures.folder.appendingPathComponent("formats")
  static let formats = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []

  /// The number of the format of a store, where SQLite keeps it (fileformat2.html, "user version").
  private func format(of store: String) throws -> Int {
    let header = try Data(contentsOf: URL(fileURLWithPath: store + "/log.sqlite3")).prefix(64)
    return header[60..<64].reduce(0) { $0 << 8 | Int($1) }
  }

  @Test(.case(50), arguments: formats) func oldStoresShowTheSame(_ number: String) async throws {
    try await withPrograms { programs in
      let devices = programs.state + "/navsync/devices"
      try FileManager.default.createDirectory(atPath: devices, withIntermediateDirectories: true)
      let archive = Self.folder.appendingPathComponent("\(number)/stores.tar.gz").path
      #expect(try programs.run("/bin/tar", ["-C", devices, "-xzf", archive]).code == 0)
      let shown = try String(contentsOf: Self.folder.appendingPathComponent("\(number)/shown.jsonl"), encoding: .utf8)
      let exported = try String(
        contentsOf: Self.folder.appendingPathComponent("\(number)/export.jsonl"), encoding: .utf8)
      func run(_ words: String...) throws -> String {
        let result = try programs.machine(words)
        #expect(result.code == 0, "\(words): \(result.error)")
        return result.output
      }
      for store in ["daemon", "phone", "laptop"].map({ devices + "/" + $0 }) {
        #expect(try format(of: store) == Int(number))
        let stacks = try run("ls", "--store", store).split(separator: "\n").map { String($0.prefix { $0 != " " }) }
        #expect(stacks.count == 3)
        #expect(try stacks.map { try run("show", $0, "--store", store, "--json") }.joined() == shown)
        #expect(try run("verify", "--store", store) == "9 events in 3 stacks: whole\n")
        if store.hasSuffix("daemon") {
          #expect(try stacks.map { try run("export", $0, "--store", store) }.joined() == exported)
        }
      }
      // A device goes on from there, under its id; and so does a daemon, as the devices' events stand in it.
      let shownThen = #"list › Product {"id":9007199254740993} › reviews › new"# + "\n"
      #expect(try run("push", "alice/main", "new", "--device", "phone") == shownThen)
      #expect(try run("log", "alice/main", "--store", devices + "/phone").split(separator: "\n").count == 5)
      try FileManager.default.moveItem(atPath: devices + "/daemon", toPath: programs.state + "/navsync/daemon")
      _ = try programs.startDaemon()
      #expect(try programs.navsync("sync", "alice/main", "--device", "phone").output == shownThen)
      #expect(try programs.navsync("sync", "alice/main", "--device", "laptop").output == shownThen)
    }
  }

  /// Whoever changes the format leaves stores of the one before here, and makes some of the new one.
  @Test(.case(50)) func theFormatOfTodayIsAmongThem() async throws {
    try await withPrograms { programs in
      #expect(try programs.navsync("push", "alice/main", "x", "--device", "phone").code == 0)
      let today = try format(of: programs.state + "/navsync/devices/phone")
      #expect(today >= 1)
      #expect(Self.formats.sorted() == (1...today).map(String.init).sorted())
    }
  }
}
