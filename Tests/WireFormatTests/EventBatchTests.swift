import NavigationModel
import Testing
import WireFormat

@Suite struct EventBatchTests {
  private static let device = DeviceID(high: 1, low: 2)

  /// Of one author; the count stands after 1 + 16 + 1 bytes.
  private func batch(ofOne count: UInt8) -> [UInt8] {
    var bytes = EventBatch([(dot: Dot(Self.device, 5), bytes: [7, 7])]).bytes
    bytes[18] = count
    return bytes
  }

  @Test func whatItSaysItHasIsThere() throws {
    #expect(try EventBatch(bytes: batch(ofOne: 1)).authors == [.init(device: Self.device, firstSequence: 5, count: 1)])
    for count: UInt8 in [0, 2, 3] {
      #expect(throws: DecodeError.self, "of \(count)") { try EventBatch(bytes: batch(ofOne: count)) }
    }
  }

  /// More events of an author than it says, and an author that is not in the list.
  @Test func whatIsThereItSays() {
    let plain = batch(ofOne: 1)
    #expect(throws: DecodeError.self) { try EventBatch(bytes: plain + [1, 7]) }
    let two = EventBatch([
      (dot: Dot(Self.device, 1), bytes: [7]), (dot: Dot(DeviceID(high: 3, low: 4), 1), bytes: [8]),
    ]).bytes
    #expect(throws: DecodeError.self) { try EventBatch(bytes: two + [2, 1, 9]) }
    #expect(throws: DecodeError.self) { try EventBatch(bytes: two.dropLast(3)) }
  }

  /// In pieces that are no larger than was said, with the same events.
  @Test func pieces() {
    let events = (1...200).map { (dot: Dot(Self.device, $0), bytes: [UInt8](repeating: 7, count: $0)) }
    let batch = EventBatch(events)
    #expect(batch.pieces(ofAtMost: batch.bytes.count) == [batch])
    let pieces = batch.pieces(ofAtMost: 1000)
    #expect(pieces.count > 20 && pieces.allSatisfy { $0.bytes.count <= 1000 })
    var found: [Dot] = []
    for piece in pieces { piece.forEach { found.append($0.dot) } }
    #expect(found == events.map(\.dot))
    // One that is larger by itself stays whole.
    #expect(batch.pieces(ofAtMost: 100).map(\.count).max() == 2)
  }
}
