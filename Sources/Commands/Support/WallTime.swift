import ArgumentParsing
import Foundation

/// A time as a person types it: RFC 3339 (`2026-03-01T09:30:00Z`, `…+01:00`, fractions allowed), a local date
/// (`2026-03-01`), or the local time of day (`09:30`, `09:30:15`).
package enum WallTime: Hashable, ArgumentValue {
  /// Milliseconds since 1970.
  case instant(Int)
  /// Midnight of that date, where the person is.
  case date(year: Int, month: Int, day: Int)
  /// That time today, where the person is.
  case today(hour: Int, minute: Int, second: Int)

  package init(argument: String) throws {
    guard let time = WallTime(argument) else {
      throw ValueError("expected a time such as 2026-03-01T09:30:00Z, 2026-03-01 or 09:30")
    }
    self = time
  }

  private init?(_ text: String) {
    var scanner = DigitScanner(rest: Array(text.utf8)[...])
    if text.utf8.dropFirst(2).first == UInt8(ascii: ":") {
      guard let hour = scanner.number(2), scanner.skip(":"), let minute = scanner.number(2) else { return nil }
      var second = 0
      if !scanner.isAtEnd {
        guard scanner.skip(":"), let number = scanner.number(2) else { return nil }
        second = number
      }
      guard scanner.isAtEnd, hour < 24, minute < 60, second < 60 else { return nil }
      self = .today(hour: hour, minute: minute, second: second)
      return
    }
    guard let year = scanner.number(4), scanner.skip("-"), let month = scanner.number(2), scanner.skip("-"),
      let day = scanner.number(2), (1...12).contains(month), (1...31).contains(day)
    else { return nil }
    let midnight = utcSeconds(year: year, month: month, day: day)
    guard rfc3339(milliseconds: midnight * 1000).hasPrefix(text.prefix(10)) else { return nil }
    if scanner.isAtEnd {
      self = .date(year: year, month: month, day: day)
      return
    }
    guard scanner.skip("T") || scanner.skip("t") || scanner.skip(" "), let hour = scanner.number(2), scanner.skip(":"),
      let minute = scanner.number(2), scanner.skip(":"), let second = scanner.number(2), hour < 24, minute < 60,
      second < 60
    else { return nil }
    let milliseconds = scanner.skip(".") ? scanner.fraction() : 0
    guard let milliseconds, let offset = scanner.offsetMinutes(), scanner.isAtEnd else { return nil }
    self = .instant((midnight + hour * 3600 + (minute - offset) * 60 + second) * 1000 + milliseconds)
  }

  /// Milliseconds since 1970.
  ///
  /// - Parameter now: which day is today, in milliseconds since 1970.
  package func milliseconds(now: Int) -> Int {
    var fields = localFields(milliseconds: now)
    switch self {
    case .instant(let milliseconds): return milliseconds
    case .date(let year, let month, let day):
      fields.tm_year = Int32(year - 1900)
      fields.tm_mon = Int32(month - 1)
      fields.tm_mday = Int32(day)
      fields.tm_hour = 0
      fields.tm_min = 0
      fields.tm_sec = 0
    case .today(let hour, let minute, let second):
      fields.tm_hour = Int32(hour)
      fields.tm_min = Int32(minute)
      fields.tm_sec = Int32(second)
    }
    fields.tm_isdst = -1
    return mktime(&fields) * 1000
  }

  package var argumentText: String {
    switch self {
    case .instant(let milliseconds): rfc3339(milliseconds: milliseconds)
    case .date(let year, let month, let day): "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))"
    case .today(let hour, let minute, let second): "\(padded(hour, 2)):\(padded(minute, 2)):\(padded(second, 2))"
    }
  }
}

/// The wall clock, in milliseconds since 1970.
package func wallClockMilliseconds() -> Int {
  var now = timespec()
  clock_gettime(CLOCK_REALTIME, &now)
  return now.tv_sec * 1000 + now.tv_nsec / 1_000_000
}

/// `2026-03-01T09:30:00.125Z`; whole seconds without a fraction. What is beyond the years 0 to 9999 is given as a number
/// of milliseconds.
package func rfc3339(milliseconds: Int) -> String {
  guard milliseconds >= -62_167_219_200_000, milliseconds <= 253_402_300_799_999 else { return "\(milliseconds)ms" }
  var (seconds, rest) = milliseconds.quotientAndRemainder(dividingBy: 1000)
  if rest < 0 {
    seconds -= 1
    rest += 1000
  }
  var fields = tm()
  gmtime_r(&seconds, &fields)
  let date =
    "\(padded(Int(fields.tm_year) + 1900, 4))-\(padded(Int(fields.tm_mon) + 1, 2))-\(padded(Int(fields.tm_mday), 2))"
  return "\(date)T\(timeOfDay(fields))" + (rest == 0 ? "Z" : ".\(padded(rest, 3))Z")
}

/// `09:30:00`, where the person is.
package func localTimeOfDay(milliseconds: Int) -> String { timeOfDay(localFields(milliseconds: milliseconds)) }

/// `2026-03-01 09:30:00`, where the person is.
package func localTime(milliseconds: Int) -> String {
  let fields = localFields(milliseconds: milliseconds)
  return
    "\(padded(Int(fields.tm_year) + 1900, 4))-\(padded(Int(fields.tm_mon) + 1, 2))-\(padded(Int(fields.tm_mday), 2)) "
    + timeOfDay(fields)
}

private func timeOfDay(_ fields: tm) -> String {
  "\(padded(Int(fields.tm_hour), 2)):\(padded(Int(fields.tm_min), 2)):\(padded(Int(fields.tm_sec), 2))"
}

private func localFields(milliseconds: Int) -> tm {
  var seconds = milliseconds / 1000
  var fields = tm()
  localtime_r(&seconds, &fields)
  return fields
}

private func utcSeconds(year: Int, month: Int, day: Int) -> Int {
  var fields = tm()
  fields.tm_year = Int32(year - 1900)
  fields.tm_mon = Int32(month - 1)
  fields.tm_mday = Int32(day)
  return timegm(&fields)
}

private func padded(_ number: Int, _ width: Int) -> String {
  let digits = String(number)
  return String(repeating: "0", count: max(0, width - digits.count)) + digits
}

/// Reads numbers of a fixed width.
private struct DigitScanner {
  var rest: ArraySlice<UInt8>

  var isAtEnd: Bool { rest.isEmpty }

  mutating func number(_ width: Int) -> Int? {
    guard rest.count >= width else { return nil }
    var result = 0
    for byte in rest.prefix(width) {
      guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
      result = result * 10 + Int(byte - UInt8(ascii: "0"))
    }
    rest = rest.dropFirst(width)
    return result
  }

  mutating func skip(_ mark: Unicode.Scalar) -> Bool {
    guard rest.first == UInt8(ascii: mark) else { return false }
    rest = rest.dropFirst()
    return true
  }

  /// One to nine digits after the point, in milliseconds; finer ones are cut.
  mutating func fraction() -> Int? {
    var digits: [Int] = []
    while digits.count < 9, let digit = number(1) { digits.append(digit) }
    guard !digits.isEmpty else { return nil }
    return (digits + [0, 0]).prefix(3).reduce(0) { $0 * 10 + $1 }
  }

  /// `Z`, `+01:00` or `-05:30`.
  mutating func offsetMinutes() -> Int? {
    if skip("Z") || skip("z") { return 0 }
    let sign = skip("+") ? 1 : skip("-") ? -1 : 0
    guard sign != 0, let hours = number(2), skip(":"), let minutes = number(2), hours < 24, minutes < 60 else {
      return nil
    }
    return sign * (hours * 60 + minutes)
  }
}
