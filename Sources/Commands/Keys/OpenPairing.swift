import Access
package import ArgumentParsing
import Foundation
import KeyFiles
import NavigationClient
import NavigationModel
import ZeroMQ

/// `navsyncd pair`.
package struct OpenPairing: RunnableCommand {
  package static let configuration = CommandConfiguration(
    name: "pair", abstract: "Print a one-time code, with which another machine is let in.",
    discussion: """
      Run it beside the daemon; on the other machine run 'navsync pair' with the code. The code holds where the daemon is, \
      its public key and a secret; who has it within its time is let in, once. Give it only to whom it is for.

      Keys are made if the daemon has none yet; it has to be started again then.
      """,
    examples: [
      CommandExample("navsyncd pair", "A code for ten minutes; all stacks, to read and to act on."),
      CommandExample("navsyncd pair --space shop --may read --name kiosk", "One space, to look at only."),
      CommandExample(
        "navsyncd pair --endpoint tcp://stacks.example.org:5757 --wait",
        "By the name that others know it by; ends when the code was used."),
    ],
    exitCodes: [
      ExitCodeDescription(0, "The code is open; with --wait, it was used."),
      ExitCodeDescription(1, "It failed."),
      ExitCodeDescription(2, "The command line makes no sense."),
      ExitCodeDescription(4, "The keys can't be used as they are; with --wait, the code was not used."),
      ExitCodeDescription(69, "No daemon that others reach serves with these keys."),
    ])

  @OptionGroup var grant: GrantOptions
  @Option(placeholder: "NAME", help: "What the other side is called; without it as it likes to be, its host's name.")
  var name: Name?
  @Option(
    placeholder: "ENDPOINT",
    help: "Where the other machine reaches this daemon, as tcp://host:port; without it where it listens.")
  var endpoint: String?
  @Option(placeholder: "TIME", help: "How long the code can be used, as 10m or 90s.") var within = Overlap(
    milliseconds: 600_000)
  @Flag(help: "Wait until it was used, and fail with exit code 4 if it wasn't.") var wait: Bool
  @OptionGroup var daemon: DaemonKeysOptions
  @OptionGroup var output: OutputOptions

  package init() {}

  private struct Row: Encodable {
    var code: String
    var endpoint: String
    var until: String
  }

  package func run(on console: Console) async throws {
    let folder = daemon.folder
    try withKeyErrors {
      guard try folder.keys() == nil else { return }
      try folder.makeKeys(metadata: [.init("name", Device.defaultName)])
      console.say("made keys for the daemon in \(folder)")
    }
    let endpoint = try reachable(folder, on: console)
    var random = SystemRandomNumberGenerator()
    let secret = (0..<PairingCode.secretCount).map { _ in UInt8.random(in: 0 ... .max, using: &random) }
    let until = wallClockMilliseconds() + within.milliseconds
    // Before anybody has the code.
    let before = try withKeyErrors { wait ? try folder.rules() : AccessRules() }
    let open = try withKeyErrors { try folder.offer() }
    let code = try withKeyErrors { () throws -> PairingCode in
      guard let keys = try folder.keys() else { throw CommandError(.failed, "the daemon's keys are gone") }
      try folder.keep(
        PairingOffer(
          secret: secret, until: until, name: name, scope: grant.space.scope, verbs: grant.may.verbs))
      return PairingCode(endpoint: endpoint.description, key: keys.publicKey, secret: secret)
    }
    try tellDaemon(of: folder, on: console)
    if let open, open.until > wallClockMilliseconds() {
      console.say("the code before, which was open still, is void now")
    }
    if output.json {
      try printJSON([Row(code: code.text, endpoint: code.endpoint, until: rfc3339(milliseconds: until))], on: console)
    } else {
      console.say(
        "on the other machine, which reaches this daemon at \(endpoint), run within \(within.argumentText): navsync pair CODE"
      )
      try console.print(code.text)
    }
    if wait { try await waitUntilUsed(folder, before, until: until, on: console) }
  }

  /// - Parameter before: the rules that there were without the code.
  private func waitUntilUsed(
    _ folder: KeyFolder, _ before: AccessRules, until: Int, on console: Console
  ) async throws {
    while try withKeyErrors({ try folder.offer() })?.until == until, wallClockMilliseconds() < until {
      try await Task.sleep(for: .milliseconds(200))
    }
    let new = try withKeyErrors { before.difference(to: try folder.rules()).new }
    guard let rule = new.first else {
      throw CommandError(.refused, "the code was not used, or too many wrong ones were; it isn't open any more")
    }
    console.say("\(rule.name) was paired: it may \(rule.verbs) in \(rule.scope)")
  }

  /// Where another machine finds the daemon.
  private func reachable(_ folder: KeyFolder, on console: Console) throws -> Endpoint {
    if let endpoint {
      let named: Endpoint
      do { named = try Endpoint(endpoint) } catch { throw CommandError(.usage, "\(error)") }
      guard case .tcp(let host, let port) = named.transport, host != "*", port != 0 else {
        throw CommandError(.usage, "\(endpoint): another machine needs a tcp endpoint with a host and a port")
      }
      return named
    }
    let listening = (folder.server?.endpoints ?? []).compactMap { try? Endpoint($0) }
    for candidate in listening {
      guard case .tcp(let host, let port) = candidate.transport else { continue }
      guard ["0.0.0.0", "::", "*"].contains(host) else { return candidate }
      let own = Self.ownAddress ?? Device.defaultName
      return try Endpoint("tcp://\(own.contains(":") ? "[\(own)]" : own):\(port)")
    }
    throw CommandError(
      .unreachable,
      listening.isEmpty
        ? "no daemon serves with \(folder); start one that others reach, as by 'navsyncd --listen tcp://0.0.0.0:5757', and "
          + "run this again"
        : "the daemon listens to this machine alone; start it with '--listen tcp://0.0.0.0:5757' or the like, and run this "
          + "again")
  }

  /// The address that this machine uses towards others; nil without a network. Connecting a datagram socket sends nothing.
  private static var ownAddress: String? {
    let descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    // Of documentation (RFC 5737): by way of the route to everywhere else.
    address.sin_addr.s_addr = inet_addr("192.0.2.1")
    address.sin_port = UInt16(9).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    return withUnsafeMutablePointer(to: &address) { pointer -> String? in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic -> String? in
        guard connect(descriptor, generic, size) == 0, getsockname(descriptor, generic, &size) == 0 else { return nil }
        var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
        guard getnameinfo(generic, size, &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST) == 0 else { return nil }
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
      }
    }
  }
}
