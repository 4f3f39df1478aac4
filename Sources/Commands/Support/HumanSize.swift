/// A number of bytes for people: `512 B`, `1.5 KiB`, `20 MiB`.
package func humanSize(_ bytes: Int) -> String {
  guard bytes >= 1024 else { return "\(bytes) B" }
  var amount = Double(bytes)
  var unit = 0
  let units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"]
  // From 1023.95 on, one decimal would round to 1024.
  while amount >= 1023.95, unit + 1 < units.count {
    amount /= 1024
    unit += 1
  }
  let tenths = Int((amount * 10).rounded())
  return tenths >= 100 || tenths % 10 == 0
    ? "\((tenths + 5) / 10) \(units[unit])" : "\(tenths / 10).\(tenths % 10) \(units[unit])"
}

/// `1 event`, `2 events`.
///
/// - Parameter many: what several are called, where that isn't one with an `s`.
func counted(_ count: Int, _ what: String, _ many: String? = nil) -> String {
  "\(count) \(count == 1 ? what : many ?? what + "s")"
}
