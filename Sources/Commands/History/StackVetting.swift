import KeyFiles
import NavigationClient
import NavigationModel
import WireFormat

/// What commands do about who may write in a space: what nobody vouches for is left out where the space wants everything
/// signed, and counted where it may be.
struct StackVetting {
  private let stack: StackName
  private let trust: SpaceTrust?
  private var vetting: Vetting?
  private var told: Set<String> = []

  /// By what this user trusts; nothing is checked if there is nothing for the space.
  init(_ stack: StackName) throws {
    self.init(stack, by: try withKeyErrors { try KeyFolder.ofUser.trust(in: stack.space) })
  }

  init(_ stack: StackName, by trust: SpaceTrust?) {
    self.stack = stack
    self.trust = trust
    begin()
  }

  /// From the first entries on, once more.
  mutating func begin() {
    guard let trust, trust.mode != .off else { return }
    // What is only counted is all there already.
    vetting = Vetting(stack: stack, owner: trust.owner, room: trust.mode == .required ? Vetting.room : .max)
  }

  /// What is to be looked at of a batch: in the order in which it is vouched for, where that is wanted.
  ///
  /// - Throws: a ``CommandError`` for a gap.
  mutating func pass(_ batch: EventBatch) throws -> EventBatch {
    guard vetting != nil else { return batch }
    do {
      try batch.forEach { (record) throws(ChainFault) in
        try vetting!.offer(record.dot.device, record.dot.sequence, Array(batch.bytes[record.range]))
      }
    } catch {
      throw CommandError(.damage, "\(stack) can't be checked: \(error); run 'navsync verify'")
    }
    let passed = vetting!.settle()
    return trust?.mode == .required ? EventBatch(passed) : batch
  }

  /// How many entries are left out.
  var withheld: Int { trust?.mode == .required ? (vetting?.held ?? 0) + (vetting?.refused ?? 0) : 0 }

  /// What the chains come to; nil if nothing is checked.
  var standings: [Vetting.Standing]? { vetting?.standings }

  /// Says what nobody vouches for, each thing once.
  mutating func tell(_ names: DeviceNames, on console: Console) {
    let isRequired = trust?.mode == .required
    for standing in vetting?.standings ?? [] {
      let who = names.text(standing.device)
      if let reason = standing.reason {
        tellOnce(
          "\(stack): \(counted(standing.held, "event")) of \(who) \(isRequired ? "held back" : "not vouched for"): "
            + "\(reason.text)", key: "\(standing.device) \(reason)", on: console)
      }
      if standing.refused > 0 {
        tellOnce(
          "\(stack): \(counted(standing.refused, "event")) refused that \(who) didn't sign so: somebody on the way altered "
            + "the history", key: "\(standing.device) refused", on: console)
      }
    }
  }

  private mutating func tellOnce(_ text: String, key: String, on console: Console) {
    if told.insert(key).inserted { console.say(text) }
  }
}
