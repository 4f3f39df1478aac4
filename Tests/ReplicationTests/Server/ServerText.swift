import NavigationModel
import WireFormat

/// Messages in a form for scenario files: devices are letters.
enum ServerText {
  static func device(_ device: DeviceID) -> String {
    device.high == 0 && (65...90).contains(device.low)
      ? String(UnicodeScalar(UInt8(device.low))) : String(device.description.suffix(4))
  }

  static func dot(_ dot: Dot) -> String { "\(device(dot.device))\(dot.sequence)" }

  static func vector(_ vector: VersionVector) -> String {
    "{" + vector.elements.map { "\(device($0.device))\($0.sequence)" }.joined(separator: ",") + "}"
  }

  static func batch(_ batch: EventBatch) -> String {
    batch.authors.map { author in
      author.count == 1
        ? "\(device(author.device))\(author.firstSequence)"
        : "\(device(author.device))\(author.firstSequence)-\(author.lastSequence)"
    }.joined(separator: "+")
  }

  static func message(_ message: Message) -> String {
    switch message {
    case .hello, .follow, .unfollow, .append, .credit, .ping, .list, .statusRequest, .range, .pair, .paired:
      "\(message)"
    case .welcome(let it): "welcome epoch=\(it.epoch) time=\(it.serverTime) \(it.software)"
    case .refused(let it):
      "refused \(subject(it.about))\(it.stack.isEmpty ? "" : " " + it.stack) \(code(it.code)): \(short(it.reason))"
    case .following(let it):
      "following \(it.stack) \(it.exists ? "exists" : "new") policy=\(it.policy?.description ?? "none") head=\(it.head) "
        + "heads={"
        + it.heads.map { "\(device($0.device))\($0.sequence)" }.joined(separator: ",") + "}"
    case .events(let it):
      "events \(it.stack) \(it.previousOffset)->\(it.firstOffset) "
        + ((try? EventBatch(bytes: it.batch)).map(batch) ?? "unreadable")
        + (it.authorStates.isEmpty
          ? "" : " states=" + it.authorStates.map { "\(device($0.device))\($0.sequence)" }.joined(separator: ","))
    case .live(let it): "live \(it.stack) \(it.offset)"
    case .accepted(let it):
      "accepted \(it.stack) through \(device(it.device))\(it.throughSequence) at \(it.offset)"
    case .rejected(let it):
      "rejected \(it.stack) \(dot(it.dot)) \(code(it.code))"
        + (it.expectedSequence == 0 ? "" : " expected=\(it.expectedSequence)")
        + (it.missing.isEmpty ? "" : " missing=\(vector(it.missing))") + ": \(short(it.detail))"
    case .pong(let it):
      "pong time=\(it.serverTime)" + it.heads.map { " \($0.stack)=\($0.offset)" }.joined()
    case .presence(let it):
      "presence \(it.stack) \(it.device.map(device) ?? "none") \(it.name) \(it.state) "
        + (it.top.map { "top=\(dot($0.dot))" } ?? "root")
    case .listing(let it):
      "listing"
        + it.stacks.map { " \($0.stack)=\($0.head)/\($0.policy)/\($0.devices)" }.joined()
        + it.devices.map { " \(device($0.device)):\($0.name)\($0.connected ? ":here" : "")" }.joined()
        + (it.last ? " last" : "")
    case .statusReport(let it):
      "status \(it.software) store=\(it.store) " + it.counters.map { "\($0.name)=\($0.value)" }.joined(separator: " ")
    }
  }

  /// Device ids in a text become letters.
  private static func short(_ text: String) -> String {
    text.replacing(/[0-9a-f]{30}([45][0-9a-f])/) { match in
      UInt8(match.1, radix: 16).map { String(UnicodeScalar($0)) } ?? String(match.0)
    }
  }

  static func code(_ code: RefusalCode) -> String {
    [
      RefusalCode.helloNeeded: "helloNeeded", .unsupported: "unsupported", .malformed: "malformed", .badName: "badName",
      .tooLarge: "tooLarge", .tooMany: "tooMany", .notAuthorised: "notAuthorised", .policyMismatch: "policyMismatch",
      .notFound: "notFound", .fork: "fork", .sequenceGap: "sequenceGap", .missingContext: "missingContext",
      .clockAhead: "clockAhead", .storage: "storage", .notYours: "notYours", .epochChanged: "epochChanged",
      .busy: "busy",
    ][code] ?? "code \(code.rawValue)"
  }

  private static func subject(_ subject: Subject) -> String {
    [
      Subject.hello: "hello", .follow: "follow", .append: "append", .range: "range", .list: "list", .status: "status",
      .presence: "presence", .message: "message", .pair: "pair",
    ][subject] ?? "subject \(subject.rawValue)"
  }
}
