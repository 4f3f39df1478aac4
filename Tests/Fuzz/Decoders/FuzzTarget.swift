/// A decoder of bytes from outside, with the laws that must hold whatever the bytes are.
///
/// It never traps; what it takes is written again as the same bytes where there is one way to write it, and is read back
/// as equal in any case.
package enum FuzzTarget: String, CaseIterable, Sendable {
  /// A frame of the sync protocol.
  case message
  /// A canonical event, after an author's state.
  case event
  /// A batch of events, taken into chains and folded.
  case batch
  /// A line of an export.
  case line
  /// Names, ids, policies, times: what people type.
  case name
  /// A fold's stored state.
  case snapshot
  /// Where a socket listens or connects to.
  case endpoint
  /// Recorded paths, gzipped or not.
  case wikispeedia
  /// What a terminal sends.
  case keys
  /// Text that is shown in a terminal's columns.
  case text
  /// A certificate of ZeroMQ.
  case certificate
  /// A daemon's rules.
  case rules
  /// A code of `navsyncd pair`.
  case code
  /// A routes file, and a deep link.
  case link
  /// A saved path, as `NavigationPath.CodableRepresentation` writes it.
  case path
  /// An export of either form.
  case export

  /// Gives the bytes to the decoder.
  ///
  /// - Returns: whether it took them.
  package func take(_ bytes: [UInt8]) throws(BrokenLaw) -> Bool {
    switch self {
    case .message: try takeMessage(bytes)
    case .event: try takeEvent(bytes)
    case .batch: try takeBatch(bytes)
    case .line: try takeLine(bytes)
    case .name: try takeNames(bytes)
    case .snapshot: try takeSnapshot(bytes)
    case .endpoint: try takeEndpoint(bytes)
    case .wikispeedia: try takeWikispeedia(bytes)
    case .keys: try takeKeys(bytes)
    case .text: try takeText(bytes)
    case .certificate: try takeCertificate(bytes)
    case .rules: try takeRules(bytes)
    case .code: try takeCode(bytes)
    case .link: try takeLink(bytes)
    case .path: try takePath(bytes)
    case .export: try takeExport(bytes)
    }
  }
}

/// A law that doesn't hold for some bytes.
package struct BrokenLaw: Error, CustomStringConvertible {
  package let description: String

  init(_ description: String) { self.description = description }
}

/// Throws unless a law holds.
func hold(_ law: Bool, _ what: @autoclosure () -> String) throws(BrokenLaw) {
  guard law else { throw BrokenLaw(what()) }
}
