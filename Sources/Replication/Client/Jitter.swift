/// Waiting times that differ from client to client, so that all that lost one daemon don't come back at once: random
/// numbers from a seed that is the machine's input (SplitMix64; Steele, Lea and Flood 2014).
struct Jitter: Hashable, Sendable {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  /// A wait in milliseconds that doubles with every attempt (from 0) up to the cap, and then is anything from half of
  /// that to all of it ("equal jitter").
  mutating func wait(attempt: Int, base: Int, cap: Int) -> Int {
    let full = min(cap, base << min(attempt, 20))
    let half = full / 2
    return half + Int(next() % UInt64(full - half + 1))
  }

  private mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
