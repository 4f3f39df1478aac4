import NavigationModel
import Replication
import WireFormat
import ZeroMQ

/// Several histories under one device id.
extension Engine {
  mutating func forked(_ name: StackName, _ devices: [DeviceID]) {
    let own = devices.first { $0 == replica.device } ?? devices.first { formerIDs.contains($0) }
    if let own, redos[name] == nil, store != nil {
      toHeal[name] = own
    } else {
      stop(
        name,
        ClientError(
          .fork, about: name.description,
          "the daemon holds another history under the ids \(devices.map(\.description).joined(separator: ", "))"))
    }
  }

  /// After events were taken in: whether an own id has several histories now, or something was passed over.
  mutating func lookForForks(_ name: StackName, at now: Moment) {
    guard let stack = stacks[name]?.replica else { return }
    if let device = replica.device, stack.isOwnElsewhere || stack.chains.retired.contains(device) {
      forked(name, [device])
    }
    if stack.needsHistory { return beginAgain(name, at: now) }
    if stack.takePassedOver() { refollow([name], at: now) }
  }

  /// An observer takes a stack from its beginning.
  mutating func beginAgain(_ name: StackName, at now: Moment) {
    guard let stack = stacks[name]?.replica else { return }
    commit(at: now)
    stack.beginAgain()
    core.follow(name, policy: stack.policy, now: now.monotonic)
  }
}
