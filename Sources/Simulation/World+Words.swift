import NavigationModel
import WireFormat

/// Short words for a history that a person reads.
extension World {
  static func shortened(_ value: Value) -> String {
    let text = String(decoding: value.payload.prefix(12), as: UTF8.self)
    return text.replacing("\"", with: "")
  }

  static func shortened(_ values: [Value]) -> String { "[" + values.map(shortened).joined(separator: " ") + "]" }

  static func shortened(_ entries: [Entry]) -> String { shortened(entries.map(\.value)) }

  static func shortened(_ dot: Dot) -> String { "\(dot.device.description.prefix(6)):\(dot.sequence)" }

  static func shortened(_ action: Action) -> String {
    switch action {
    case .push(_, let values): "push \(shortened(values))"
    case .pop(let entries): "pop \(entries.map { shortened($0.dot) + ":\($0.index)" }.joined(separator: " "))"
    case .popToRoot: "pop to root"
    case .set(let keep, let values): "set \(keep.count) kept \(shortened(values))"
    case .replace(_, let value): "replace by \(shortened(value))"
    }
  }

  static func shortened(_ intent: Intent) -> String {
    switch intent {
    case .push(let values): "push \(shortened(values))"
    case .pop(let count): "pop \(count)"
    case .close(let entries): "close \(entries.map { shortened($0.dot) + ":\($0.index)" }.joined(separator: " "))"
    case .popToRoot: "pop to root"
    case .set(let values): "set \(shortened(values))"
    case .replace(let value): "replace by \(shortened(value))"
    }
  }

  static func shortened(_ message: Message) -> String {
    switch message {
    case .append(let append):
      "append \(append.stack) \(shortened(Dot(append.device, append.firstSequence)))+\(append.events.count)"
    case .events(let events):
      "events \(events.stack) \(events.previousOffset)→\(events.firstOffset): "
        + ((try? EventBatch(bytes: events.batch))?.authors.map {
          "\(shortened(Dot($0.device, $0.firstSequence)))+\($0.count)"
        } ?? []).joined(separator: " ") + ", \(events.batch.count) bytes"
    case .accepted(let accepted):
      "accepted \(accepted.stack) \(shortened(Dot(accepted.device, accepted.throughSequence))) at \(accepted.offset)"
    case .rejected(let rejected):
      "rejected \(rejected.stack) \(shortened(rejected.dot)) \(rejected.code) \(rejected.detail)"
    case .following(let following):
      "following \(following.stack) head \(following.head): "
        + following.heads.map { shortened(Dot($0.device, $0.sequence)) }.joined(separator: " ")
    case .follow(let follow): "follow \(follow.stack)"
    case .live(let live): "live \(live.stack) \(live.offset)"
    case .refused(let refused): "refused \(refused.about) \(refused.stack) \(refused.reason)"
    case .ping: "ping"
    case .pong(let pong): "pong \(pong.heads.map { "\($0.stack) \($0.offset)" }.joined(separator: " "))"
    case .hello(let hello): "hello \(hello.device?.description.prefix(6) ?? "")"
    case .welcome(let welcome): "welcome, epoch \(String(welcome.epoch, radix: 16))"
    case .presence(let presence): "presence \(presence.stack) \(presence.name) \(presence.state)"
    case .unfollow(let unfollow): "unfollow \(unfollow.stack)"
    case .credit(let credit): "credit \(credit.bytes)"
    case .range(let range): "range \(range.stack) \(range.from) to \(range.to)"
    case .list: "list"
    case .listing: "listing"
    case .statusRequest: "status request"
    case .statusReport: "status report"
    case .pair: "pair"
    case .paired(let paired): "paired as \(paired.name)"
    }
  }
}
