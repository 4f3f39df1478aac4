import NavigationModel
import TestSupport
import Testing

@testable import WireFormat

/// The protobuf form of messages, without Google's implementation.
@Suite struct MessageTests {
  @Test(arguments: 0..<Generator.messageKinds)
  func whatIsWrittenIsRead(kind: Int) throws {
    var generator = Generator(seed: UInt64(kind))
    for _ in 0..<50 {
      let message = generator.message(kind)
      #expect(try Message(decoding: message.encoded()) == message)
    }
  }

  @Test(arguments: 0..<Generator.messageKinds)
  func truncatedAndMutatedMessagesNeverTrap(kind: Int) throws {
    var generator = Generator(seed: UInt64(100 + kind))
    for _ in 0..<20 {
      let bytes = generator.message(kind).encoded()
      for cut in 0..<bytes.count { reread(Array(bytes[..<cut])) }
      for _ in 0..<100 {
        var changed = bytes
        let place = generator.below(changed.count)
        switch generator.below(3) {
        case 0: changed[place] = UInt8(generator.below(256))
        case 1: changed.insert(UInt8(generator.below(256)), at: place)
        case _: changed.remove(at: place)
        }
        reread(changed)
      }
    }
  }

  /// What was read can be written and read again.
  private func reread(_ bytes: [UInt8]) {
    guard let message = try? Message(decoding: bytes) else { return }
    #expect((try? Message(decoding: message.encoded())) == message)
  }

  @Test func unknownFieldsSurvive() throws {
    // Field 1000 of every type: varint, fixed64, run, fixed32.
    let unknown: [UInt8] = [
      0xC0, 0x3E, 0x96, 0x01, 0xC1, 0x3E, 1, 2, 3, 4, 5, 6, 7, 8, 0xC2, 0x3E, 2, 9, 9, 0xC5, 0x3E, 1, 2, 3, 4,
    ]
    var generator = Generator(seed: 3)
    for kind in 0..<Generator.messageKinds {
      let bytes = generator.message(kind).encoded()
      var length = 0
      var at = kind < 15 ? 1 : 2
      let tag = Array(bytes[..<at])
      var shift = 0
      while true {
        length |= Int(bytes[at] & 127) << shift
        shift += 7
        at += 1
        if bytes[at - 1] < 128 { break }
      }
      let body = Array(bytes[at...])
      #expect(body.count == length)
      var extended = tag
      extended.append(number: length + unknown.count)
      extended += body + unknown
      #expect(try Message(decoding: extended).encoded() == extended)
      // Beside the message: passed over.
      #expect(try Message(decoding: bytes + unknown).encoded() == bytes)
    }
    #expect(throws: DecodeError.self) { try Message(decoding: unknown) }
    #expect(throws: DecodeError.self) { try Message(decoding: []) }
  }

  @Test func badPartsAreRefused() throws {
    // A hello whose device has 15 bytes; bad UTF-8; a number beyond 2^53 - 1; two messages; a vector out of order.
    let device = [UInt8](repeating: 1, count: 16)
    for (bytes, code) in [
      ([0x0A, 17, 0x12, 15] + device.dropLast(), DecodeError.Code.badLength),
      ([0x0A, 3, 0x1A, 1, 0xFF], .badText),
      ([0x0A, 9, 0x08, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x10], .badNumber),
      ([0x62, 0, 0x62, 0], .notCanonical),
      ([0x5A, 0], .missingField),
      ([0x0A, 5, 0], .truncated),
    ] {
      do {
        let message = try Message(decoding: Array(bytes))
        Issue.record("\(message)")
      } catch { #expect(error.code == code) }
    }
    #expect(throws: DecodeError(.tooLarge, at: 0, in: "message")) {
      try Message(decoding: [UInt8](repeating: 0, count: Message.maximumSize + 1))
    }
  }

  /// A reader decodes events after a state that a peer sent: one that no chain leads to is refused.
  @Test func authorStatesThatCannotBeAreRefused() throws {
    let (author, other) = (DeviceID(high: 1, low: 1), DeviceID(high: 2, low: 2))
    var fine = AuthorState(device: author)
    fine.sequence = 3
    fine.context = [other: 5]
    fine.table = [author, other]
    fine.top = EntryID(Dot(author, 3), 1)
    func isTaken(_ state: AuthorState) -> Bool {
      let message = EventsMessage(
        stack: "a/b", epoch: 1, previousOffset: 0, firstOffset: 1, batch: [], authorStates: [state])
      return (try? Message(decoding: Message.events(message).encoded())) == .events(message)
    }
    #expect(isTaken(fine))
    let changes: [(inout AuthorState) -> Void] = [
      { $0.table = [author, other, other] }, { $0.table = [author, other, author] }, { $0.table = [author] },
      { $0.context[author] = 1 }, { $0.top = EntryID(Dot(author, 2), 1) },
      { $0.table = [author, other] + (0..<8191).map { DeviceID(high: 9, low: UInt64($0)) } },
    ]
    for (place, change) in changes.enumerated() {
      var state = fine
      change(&state)
      #expect(!isTaken(state), "change \(place)")
    }
  }
}
