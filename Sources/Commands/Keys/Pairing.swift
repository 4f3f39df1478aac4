import Access
package import ArgumentParsing
import Foundation
import KeyFiles
import NavigationClient
import NavigationModel
import WireFormat
import ZeroMQ

/// `navsync pair`.
package struct PairWithDaemon: RunnableCommand {
  package static let configuration = CommandConfiguration(
    name: "pair", abstract: "Exchange keys with a daemon, by the code that 'navsyncd pair' prints there.",
    discussion: """
      Keys are made if there are none yet. The daemon's key is kept, and its endpoint, which is used from then on where no \
      other daemon is named and none runs on this machine.

      Others on this machine may see its command lines: without CODE, or with -, it is read from the standard input.
      """,
    examples: [
      CommandExample("navsync pair navsync1:AbCd", "With the code as it was printed."),
      CommandExample("navsync pair", "The code is typed or pasted, and ended by Return."),
      CommandExample("navsync pair --for-daemon -", "This user's daemon, so that it can follow that one (--peer)."),
    ])

  @Argument(help: "The code; - or nothing for the standard input.") var code = "-"
  @Option(placeholder: "NAME", help: "What this machine likes to be called there; without it this host's name.")
  var name: Name?
  @OptionGroup var folder: EitherKeysOptions
  @OptionGroup var output: OutputOptions

  package init() {}

  private struct Row: Encodable {
    var endpoint: String
    var key: String
    var name: String
    var space: String
    var may: String
  }

  package func run(on console: Console) async throws {
    let code = try read(on: console)
    let endpoint: Endpoint
    do { endpoint = try Endpoint(code.endpoint) } catch {
      throw CommandError(.usage, "the code is of no use: \(error)")
    }
    let folder = folder.folder
    let name = name?.description ?? Device.defaultName
    let keys = try withKeyErrors { try folder.keys() ?? folder.makeKeys(metadata: [.init("name", name)]) }
    let pair = Pair(secret: code.secret, name: name)
    let paired = try await Exchange.run(endpoint, .client(keys, server: code.key), pair)
    try withKeyErrors {
      try folder.keep(code.key, ofDaemonAt: endpoint)
      if !self.folder.forDaemon { try folder.keep(pairedDaemon: endpoint) }
    }
    if output.json {
      return try printJSON(
        [
          Row(
            endpoint: endpoint.description, key: code.key.description, name: paired.name, space: paired.space,
            may: paired.may)
        ], on: console)
    }
    try printTable(
      [
        ["daemon", endpoint.description], ["key", code.key.description], ["name", paired.name],
        ["may", "\(paired.may) in \(paired.space == "*" ? "every space" : paired.space)"],
      ], on: console)
  }

  private func read(on console: Console) throws -> PairingCode {
    var text = code
    if text == "-" {
      if isatty(console.input) == 1 { console.say("the code that 'navsyncd pair' printed, and Return:") }
      let line = try LineReader(path: "-", on: console, maximumLineLength: 1000).next()
      text = String(decoding: line ?? [], as: UTF8.self)
    }
    do { return try PairingCode(text) } catch { throw CommandError(.usage, "\(error)") }
  }
}

/// One question to a daemon that doesn't know this side's key yet.
private struct Exchange: LoopHandler {
  typealias Command = Never

  private let loop: Loop
  private let dealer: SocketID
  private let endpoint: Endpoint
  private let pair: Pair
  private let result: AsyncStream<Result<Paired, CommandError>>.Continuation
  private let end: Int
  private var cuts = 0
  private var wasConnected = false

  private static let patienceMilliseconds = 10_000

  static func run(_ endpoint: Endpoint, _ curve: Curve, _ pair: Pair) async throws -> Paired {
    let (stream, continuation) = AsyncStream<Result<Paired, CommandError>>.makeStream()
    let loop: SocketLoop<Never>
    do {
      // Not on the loop: it may take seconds.
      let address = try endpoint.resolved()
      loop = try SocketLoop(name: "pair") { try Exchange($0, endpoint, address, curve, pair, continuation) }
    } catch let error as ZeroMQError { throw CommandError(.unreachable, "\(error)") }
    defer { loop.requestStop() }
    for await result in stream { return try result.get() }
    throw CommandError(.failed, "nothing came of it")
  }

  private init(
    _ loop: Loop, _ endpoint: Endpoint, _ address: Endpoint, _ curve: Curve, _ pair: Pair,
    _ result: AsyncStream<Result<Paired, CommandError>>.Continuation
  ) throws {
    self.loop = loop
    self.endpoint = endpoint
    self.pair = pair
    self.result = result
    var options = SocketOptions()
    options.curve = curve
    dealer = try loop.dealer(connect: address, options)
    end = Moment.now().monotonic + Self.patienceMilliseconds
  }

  var deadline: Int? { end }

  mutating func connectionsChanged(_ events: [ConnectionEvent], on socket: SocketID, at now: Moment) {
    for event in events {
      switch event.change {
      case .connected:
        wasConnected = true
        _ = loop.send(Message.pair(pair).encoded(), on: dealer)
      case .handshakeFailed(.notAuthorised):
        fail(
          .notAuthorised,
          "not authorised: no code is open at the daemon at \(endpoint): it was used, or is too old; 'navsyncd pair' there "
            + "makes another")
      case .handshakeFailed:
        cuts += 1
        if cuts >= 2 {
          fail(
            .notAuthorised,
            "not authorised: what answers at \(endpoint) hasn't the key that the code names; is the code of that daemon?"
          )
        }
      case .disconnected, .retrying, .acceptFailed, .surplusEnded: break
      }
    }
  }

  mutating func received(_ messages: [[UInt8]], on socket: SocketID, at now: Moment) {
    for bytes in messages {
      switch try? Message(decoding: bytes) {
      case .paired(let paired): finish(.success(paired))
      case .refused(let refused):
        fail(refused.code == .notAuthorised ? .notAuthorised : .failed, escapingControls(refused.reason))
      case nil: fail(.damage, "the daemon at \(endpoint) sent what can't be read")
      case _: break
      }
    }
  }

  mutating func turnEnded(at now: Moment) {
    guard now.monotonic >= end else { return }
    fail(
      .unreachable,
      wasConnected
        ? "the daemon at \(endpoint) doesn't answer; 'navsync keys show --for-daemon' there shows whether it took the code"
        : "nobody answers at \(endpoint); does the daemon run, and is the way to it open?")
  }

  private mutating func fail(_ code: ExitCode, _ message: String) { finish(.failure(CommandError(code, message))) }

  private mutating func finish(_ answer: Result<Paired, CommandError>) {
    result.yield(answer)
    result.finish()
    loop.stop()
  }
}
