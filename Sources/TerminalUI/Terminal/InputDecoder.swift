/// Takes the bytes that a terminal sends and gives events: keys, pasted text, mouse, focus.
///
/// A pure machine: time comes in as nanoseconds of any clock that doesn't go back. It takes any bytes, holds a bounded
/// number of them, and how they are split over calls changes nothing as long as the times are the same. What it doesn't
/// know (answers of the terminal, keys that have no name here) it leaves out whole, so that no part of a sequence looks
/// like typing.
///
/// The sequences are those of ECMA-48, xterm ("ctlseqs"), rxvt, the Linux console and kitty's keyboard protocol, side by
/// side: no two of them give one sequence two meanings that matter, and a terminal often isn't what `TERM` says.
package struct InputDecoder: Hashable, Sendable {
  /// How long an Escape may be the start of something. Terminals send a sequence at once; a network may split it.
  package static let escapeDelay: UInt64 = 40_000_000
  /// How long the end of pasted text is waited for.
  package static let pasteDelay: UInt64 = 1_000_000_000
  /// Pasted text comes in parts of about that many bytes.
  package static let pastePart = 65_536

  enum Mode: Hashable, Sendable {
    case keys
    /// In the middle of a control sequence that is too long to be one of ours.
    case overlongSequence
    /// In a string for programs (OSC, DCS and the like), up to its end; whether the last byte was an Escape.
    case controlString(isAfterEscape: Bool)
    case paste(Paste)
  }

  /// What to make of the bytes that came.
  enum Step {
    /// Takes that many bytes, for an event or for nothing.
    case take(Int, InputEvent?)
    /// Takes that many bytes, and the next belong to something longer.
    case enter(Int, Mode)
    /// More bytes, or time, must decide.
    case wait
  }

  private var mode = Mode.keys
  /// The bytes of a sequence that isn't complete.
  private var pending: [UInt8] = []
  private var lastTime: UInt64 = 0

  package init() {}

  /// When `timePassed` has something to decide, if no byte comes before; nil if nothing waits.
  package var deadline: UInt64? {
    if case .paste = mode { return lastTime &+ Self.pasteDelay }
    return pending.isEmpty && mode == .keys ? nil : lastTime &+ Self.escapeDelay
  }

  /// The events of bytes that came at that time. What was due before is decided first.
  package mutating func receive(_ bytes: some Sequence<UInt8>, at time: UInt64) -> [InputEvent] {
    var events = timePassed(to: time)
    lastTime = time
    for byte in bytes { receive(byte, &events) }
    return events
  }

  /// The events that are certain now that no byte came until then: above all, that Escape was the key.
  package mutating func timePassed(to time: UInt64) -> [InputEvent] {
    guard let deadline, time >= deadline else { return [] }
    var events: [InputEvent] = []
    if case .paste(var paste) = mode, let rest = paste.finish() { events.append(.paste(rest)) }
    mode = .keys
    decode(isTimeUp: true, &events)
    mode = .keys
    return events
  }

  private mutating func receive(_ byte: UInt8, _ events: inout [InputEvent]) {
    switch mode {
    case .keys:
      pending.append(byte)
      decode(isTimeUp: false, &events)
    case .overlongSequence:
      guard !(0x20..<0x40).contains(byte) else { return }
      mode = .keys
      // The last byte of a sequence belongs to it; one that can't be in a sequence is itself.
      if !(0x40..<0x7F).contains(byte) { receive(byte, &events) }
    case .controlString(let isAfterEscape):
      let isEnd = byte == 0x07 || byte == 0x18 || byte == 0x1A || isAfterEscape && byte == UInt8(ascii: "\\")
      if isEnd {
        mode = .keys
      } else if isAfterEscape {
        // An Escape ends the string, whatever it begins.
        mode = .keys
        receive(0x1B, &events)
        receive(byte, &events)
      } else {
        mode = .controlString(isAfterEscape: byte == 0x1B)
      }
    case .paste(var paste):
      // Not two owners of the text, or it would be copied with each byte.
      mode = .keys
      switch paste.receive(byte) {
      case .more: mode = .paste(paste)
      case .part(let text):
        events.append(.paste(text))
        mode = .paste(paste)
      case .end(let text):
        if let text { events.append(.paste(text)) }
      }
    }
  }

  private mutating func decode(isTimeUp: Bool, _ events: inout [InputEvent]) {
    while !pending.isEmpty {
      switch Self.step(pending[...], isTimeUp: isTimeUp) {
      case .wait:
        precondition(!isTimeUp, "time decides everything")
        return
      case .take(let count, let event):
        pending.removeFirst(count)
        if let event { events.append(event) }
      case .enter(let count, let next):
        let rest = pending.dropFirst(count)
        pending = []
        mode = next
        for byte in rest { receive(byte, &events) }
      }
    }
  }
}
