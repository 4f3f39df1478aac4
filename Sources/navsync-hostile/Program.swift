import Foundation
import HostilePeers
import NavigationClient

// Attacks a daemon while two devices use it, and prints what they notice of it. `deploy/hostile` runs it.
//   navsync-hostile measure NAVSYNCD SECONDS [ATTACK…]                     all attacks, or some
//   navsync-hostile attack NAME PORT FEED-PORT STACK SECONDS               one of them; `prepare` stores what they ask for
//   navsync-hostile list

@main
enum Program {
  static func main() async {
    let words = Array(CommandLine.arguments.dropFirst())
    do {
      switch words.first {
      case "list":
        for attack in Attack.all { print(attack.name + ": " + attack.about) }
      case "attack" where words.count == 6:
        try attack(words[1], words)
      case "measure" where words.count >= 3:
        try await Measurement.run(
          daemon: words[1], seconds: Double(words[2]) ?? 5, only: Array(words.dropFirst(3)))
      case _:
        throw Failure("see the first lines of Program.swift for what to say")
      }
    } catch {
      FileHandle.standardError.write(Data("navsync-hostile: \(error)\n".utf8))
      exit(1)
    }
  }

  private static func attack(_ name: String, _ words: [String]) throws {
    guard let port = UInt16(words[2]), let feed = UInt16(words[3]), let seconds = Double(words[5]) else {
      throw Failure("ports and seconds are numbers")
    }
    // It may hold thousands of connections.
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    limit.rlim_cur = min(limit.rlim_max, 1 << 14)
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    let target = Target(port: port, feedPort: feed, stack: words[4], seconds: seconds)
    if name == "prepare" { return try HostileStacks.prepare(target) }
    guard let attack = Attack.all.first(where: { $0.name == name }) else { throw Failure("there is no attack \(name)") }
    print(try attack.run(target))
  }
}

/// Prints a line that is seen at once, also through a pipe.
func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }

struct Failure: Error, CustomStringConvertible {
  var description: String
  init(_ description: String) { self.description = description }
}
