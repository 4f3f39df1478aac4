import NavigationClient
import Replication

/// A situation that a machine can be in, as what it is said of and how it is called.
public struct CoveredState: Hashable, Sendable, CustomStringConvertible {
  public let description: String

  init(_ who: String, _ what: String) { description = "\(who): \(what)" }

  init(_ situation: ClientSituation) { self.init("session", situation.rawValue) }
  init(_ situation: ServerSituation) { self.init("daemon", situation.rawValue) }
  init(_ situation: PeerSituation) { self.init("link", situation.rawValue) }
  init(_ situation: DeviceMachine.Situation) { self.init("device", situation.rawValue) }

  /// All that there are.
  public static let all =
    DeviceMachine.Situation.allCases.map { Self($0) } + ClientSituation.allCases.map { Self($0) }
    + ServerSituation.allCases.map { Self($0) } + PeerSituation.allCases.map { Self($0) }
}

extension World {
  func cover(_ daemon: SimulatedDaemon) {
    for situation in daemon.core?.situations ?? [] { reach(CoveredState(situation)) }
    for link in daemon.links { for situation in link.core.situations { reach(CoveredState(situation)) } }
  }

  func cover(_ machine: DeviceMachine) {
    for situation in machine.situations { reach(CoveredState(situation)) }
    for situation in machine.core.situations { reach(CoveredState(situation)) }
  }
}
