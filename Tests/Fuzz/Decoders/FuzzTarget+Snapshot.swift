import NavigationModel

/// The first byte is the policy, the second the number of values, the rest the numbers: each a varint of either sign.
func takeSnapshot(_ bytes: [UInt8]) throws(BrokenLaw) -> Bool {
  guard let snapshot = FoldSnapshot(packed: bytes), var fold = try? StackFold(snapshot) else { return false }
  let entries = fold.entries()
  let conflicts = fold.conflicts()
  let again = fold.snapshot()
  do {
    var restored = try StackFold(again)
    try hold(restored.entries() == entries, "a snapshot of a restored fold shows another stack")
    try hold(restored.conflicts() == conflicts, "a snapshot of a restored fold reports other conflicts")
    try hold(restored.snapshot() == again, "a restored fold writes another snapshot")
  } catch let error as BrokenLaw { throw error } catch {
    throw BrokenLaw("a restored fold writes a snapshot that can't be read: \(error)")
  }
  // It goes on: a device that holds all of it acts, and so does one that holds nothing.
  let vector = fold.vector
  guard vector.elements.allSatisfy({ $0.sequence < Dot.maximumSequence }) else { return true }
  var devices = vector.elements.prefix(4).map(\.device)
  devices.append(DeviceID(high: .max, low: .max))
  for device in devices {
    for intent in [Intent.push([Value(type: "String", payload: [0x22, 0x22])]), .pop(1), .popToRoot] {
      guard let action = fold.action(for: intent) else { continue }
      var context = fold.vector
      let own = context[device]
      context[device] = 0
      fold.apply(
        Event(
          dot: Dot(device, own + 1), context: context, timestamp: Timestamp(milliseconds: 1 << 52, counter: own),
          action: action))
      fold.apply(
        Event(dot: Dot(device, own + 2), context: VersionVector(), timestamp: .zero, action: action))
      _ = fold.entries()
      _ = fold.conflicts()
    }
  }
  fold.forget(stable: fold.vector)
  _ = fold.entries()
  return true
}

extension FoldSnapshot {
  /// From the form that is fuzzed; nil if the bytes end in the middle of a number.
  init?(packed bytes: [UInt8]) {
    guard bytes.count >= 2 else { return nil }
    let policies: [Policy] = [.merge, .latest, .lead(DeviceID(high: 0, low: 1))]
    var numbers: [Int] = []
    var zigzag: UInt = 0
    var shift: UInt = 0
    for byte in bytes.dropFirst(2) {
      zigzag |= UInt(byte & 127) << shift
      shift += 7
      guard byte < 128 || shift > 63 else { continue }
      numbers.append(Int(bitPattern: zigzag >> 1) ^ -Int(zigzag & 1))
      (zigzag, shift) = (0, 0)
    }
    guard shift == 0 else { return nil }
    let value = Value(type: "String", payload: [0x22, 0x22])
    self.init(
      version: StackFold.version, policy: policies[Int(bytes[0]) % 3], numbers: numbers,
      values: Array(repeating: value, count: Int(bytes[1])))
  }

  /// The form that is fuzzed; values are left out.
  package var packed: [UInt8] {
    var bytes: [UInt8] = [policy == .merge ? 0 : policy == .latest ? 1 : 2, UInt8(truncatingIfNeeded: values.count)]
    for number in numbers {
      var rest = UInt(bitPattern: number << 1 ^ number >> 63)
      while rest > 127 {
        bytes.append(UInt8(truncatingIfNeeded: rest) | 128)
        rest >>= 7
      }
      bytes.append(UInt8(rest))
    }
    return bytes
  }
}
