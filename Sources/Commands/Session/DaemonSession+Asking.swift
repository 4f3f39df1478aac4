import NavigationModel
import WireFormat

extension DaemonSession {
  /// The stacks of a space (all, if empty) and the devices that the daemon knows.
  func list(space: String = "", devicesOnly: Bool = false) async throws -> Listing {
    send(.list(List(space: space, devicesOnly: devicesOnly)))
    var whole = Listing(last: false)
    while !whole.last {
      let part = try await answer { if case .listing(let part) = $0 { part } else { nil } }
      whole.stacks += part.stacks
      whole.devices += part.devices
      whole.last = part.last
    }
    return whole
  }

  func deviceNames() async throws -> DeviceNames {
    var names = DeviceNames()
    for device in try await list(devicesOnly: true).devices { names.note(device.name, of: device.device) }
    return names
  }

  /// Begins to follow a stack from its first event; events and ``Live`` come next.
  func follow(_ stack: StackName) async throws -> Following {
    send(.follow(Follow(stack: stack.description)))
    return try await answer {
      if case .following(let following) = $0, following.stack == stack.description { following } else { nil }
    }
  }

  /// As ``follow(_:)``, once more: what is still on its way of the follow before is dropped.
  func followAnew(_ stack: StackName) async throws -> Following {
    send(.unfollow(Unfollow(stack: stack.description)))
    let following = try await follow(stack)
    dropFollowed(stack)
    return following
  }

  /// Waits until a daemon answers, however long it takes; the task's end ends it.
  static func whenThere(_ named: String?, on console: Console) async throws -> DaemonSession {
    while true {
      // The attempt itself takes as long as its patience, so this doesn't spin; a path that isn't there is seen at once.
      try await Task.sleep(for: .milliseconds(300))
      do { return try await DaemonSession.open(named, on: console) } catch let error as CommandError
        where error.code == .unreachable
      { continue }
    }
  }

  func status() async throws -> StatusReport {
    send(.statusRequest(StatusRequest()))
    return try await answer { if case .statusReport(let report) = $0 { report } else { nil } }
  }
}
