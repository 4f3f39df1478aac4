package import EventLog
package import NavigationModel
import WireFormat

/// What a store holds, read beside whoever writes it.
package struct StoreView: Sendable {
  package struct Stack: Sendable {
    /// How far each device's chain goes, with its digest there: two stores of equal heads hold the same events.
    package var heads: Set<StoredHead> = []
    /// The mark in each event, empty where there is none.
    package var marks: [Dot: String] = [:]
    /// All of them: an event that was acted again under another id keeps its mark.
    package var allMarks: Set<String> = []
  }

  package var stacks: [String: Stack] = [:]

  /// Reads all of it.
  package init(of log: any EventLogReader) throws(LogError) {
    for info in try log.stacks(in: nil) {
      var stack = Stack()
      // Heads first: what they count is there by then.
      stack.heads = Set(try log.heads(of: info.stack))
      var after = 0
      while case let page = try log.read(info.stack, after: after, maximumBytes: 1 << 20), let last = page.last {
        for stored in page {
          stored.batch.forEach { record in
            let mark = Self.mark(in: stored.batch.bytes[record.range])
            stack.marks[record.dot] = mark
            if !mark.isEmpty { stack.allMarks.insert(mark) }
          }
        }
        after = last.firstOffset + last.batch.count - 1
      }
      stacks["\(info.stack)"] = stack
    }
  }

  /// Payloads stand in an event byte by byte, so a mark is found without decoding it.
  private static func mark(in bytes: ArraySlice<UInt8>) -> String {
    guard let start = bytes.firstRange(of: Mark.beginning)?.lowerBound,
      let end = bytes[start...].firstRange(of: Mark.ending)?.upperBound
    else { return "" }
    return String(decoding: bytes[start..<end], as: UTF8.self)
  }
}

/// The text in a value by which its event is found again, whatever became of its dot.
package enum Mark {
  static let beginning = Array("\"~mark ".utf8)
  static let ending = Array("~\"".utf8)

  /// A value's payload: a JSON string.
  package static func payload(_ label: String) -> String { "\"~mark \(label)~\"" }
}
