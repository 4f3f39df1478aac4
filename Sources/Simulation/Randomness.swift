import NavigationModel

/// Random numbers from a seed (SplitMix64; Steele, Lea and Flood 2014): the same seed, the same world.
package struct Randomness: RandomNumberGenerator, Sendable {
  private var state: UInt64

  package init(seed: UInt64) { state = seed }

  /// A source of its own for each use, so that what happens in one place changes nothing in another.
  package init(seed: UInt64, _ use: String, _ numbers: Int...) {
    var hash: UInt64 = seed ^ 0xcbf2_9ce4_8422_2325
    for byte in use.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    for number in numbers {
      var mixer = Randomness(seed: hash ^ UInt64(bitPattern: Int64(number)))
      hash = mixer.next()
    }
    state = hash
  }

  package mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  package mutating func chance(_ probability: Double) -> Bool { Double(next() >> 11) * 0x1p-53 < probability }

  package mutating func int(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &self) }

  /// Something between nothing and twice the mean.
  package mutating func wait(mean: Int) -> Int { int(0...max(1, 2 * mean)) }

  package mutating func pick<Element>(_ elements: [Element]) -> Element { elements[int(0...elements.count - 1)] }

  /// The so-manieth id of a device.
  static func deviceID(seed: UInt64, device: Int, number: Int) -> DeviceID {
    var random = Randomness(seed: seed, "device id", device, number)
    return DeviceID(high: random.next(), low: random.next())
  }
}
