package import NavigationModel
package import WireFormat

/// Brings a stack from the log into memory: give it every batch, in order. About 200 ns an event.
package struct StackLoader: Hashable, Sendable {
  package let stack: StackName
  /// Nil if the stack doesn't exist.
  package let policy: Policy?
  package private(set) var chains: StackChains
  /// The offset of the newest event.
  package private(set) var head = 0
  /// Of each device's newest event.
  package private(set) var offsets: [DeviceID: Int] = [:]
  /// The highest timestamp, in milliseconds since 1970.
  package private(set) var newestTime = 0

  /// Since when the stack has its policy.
  package private(set) var policySince: Timestamp
  private let isPolicyAdopted: Bool

  /// - Parameter since: of a policy that was taken over from another daemon; nil for the first event's.
  package init(_ stack: StackName, policy: Policy?, since: Timestamp? = nil) {
    self.stack = stack
    self.policy = policy
    policySince = since ?? .zero
    isPolicyAdopted = since != nil
    chains = StackChains(stack: stack)
  }

  /// Takes in the next batch of the log. Throws if it doesn't fit: the log is damaged.
  package mutating func add(_ batch: EventBatch) throws(ServerCore.StorageFailure) {
    let text = stack.description
    try batch.forEach { (record) throws(ServerCore.StorageFailure) in
      do throws(ChainFault) {
        let event = try chains.receive(record.dot.device, record.dot.sequence, batch.bytes, in: record.range)
        if let event { newestTime = max(newestTime, event.timestamp.milliseconds) }
        if head == 0, !isPolicyAdopted { policySince = event?.timestamp ?? .zero }
      } catch {
        throw ServerCore.StorageFailure("\(text): the log is damaged at \(record.dot): \(error); verify it")
      }
      head += 1
      offsets[record.dot.device] = head
    }
  }
}
