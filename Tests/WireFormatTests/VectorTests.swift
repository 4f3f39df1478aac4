import Foundation
import NavigationModel
import TestSupport
import Testing

@testable import WireFormat

/// Bytes and digests that never change: a difference here is another format, and old logs can't be read.
///
/// A line of the fixture is the event as JSON, its canonical bytes, and its author's digest after it, with tabs between.
/// `NAVSYNC_RECORD=1` writes the bytes and digests again from the events.
@Suite struct VectorTests {
  private static let file = "canonical-events.txt"

  @Test func tenEventsHaveTheirBytesAndDigests() throws {
    let rows = try String(contentsOf: fixture(Self.file), encoding: .utf8).split(separator: "\n")
      .map { $0.split(separator: "\t").map(String.init) }
    #expect(rows.count == 10)
    var chains = StackChains(stack: try StackName("alice/main"))
    var recorded: [String] = []
    for row in rows {
      guard case .event(let line) = try JSONLine(parsing: Array(row[0].utf8)) else {
        Issue.record("not an event: \(row[0])")
        return
      }
      let event = try line.event(resolving: { DeviceID($0) })
      let previous = chains.digest(of: event.dot.device)
      let bytes = try chains.append(event)
      let digest = chains.digest(of: event.dot.device)
      let hexadecimal = bytes.map { String(UInt16($0) | 0x100, radix: 16).suffix(2) }.joined()
      let text = String(decoding: JSONLines.line(event, stack: "alice/main", previous: previous), as: UTF8.self)
      recorded.append([text, hexadecimal, digest.description].joined(separator: "\t"))
    }
    if ProcessInfo.processInfo.environment["NAVSYNC_RECORD"] == "1" {
      try (recorded.joined(separator: "\n") + "\n").write(to: fixture(Self.file), atomically: true, encoding: .utf8)
    }
    #expect(recorded == rows.map { $0.joined(separator: "\t") })
  }

  /// Computed with Python's `hashlib.blake2b(digest_size=16)` from the text of `EVENT-FORMAT.md`: 130 events of one
  /// byte each and one of 300, so that two digests are closed on the way and a length takes two bytes.
  @Test func digestsAreThoseOfAnotherImplementation() throws {
    var digest = ChainDigest(stack: try StackName("alice/main"), device: DeviceID(high: 1, low: 2))
    for number in 1...130 { digest.append([UInt8(number)]) }
    digest.append([UInt8](repeating: 7, count: 300))
    #expect(digest.digest.description == "cc1aeef90f9504ae9dade2b7f35fc293")
  }
}
