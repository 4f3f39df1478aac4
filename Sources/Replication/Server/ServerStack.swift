import NavigationModel
import WireFormat

extension ServerCore {
  /// A stack in use: its chains are in memory.
  struct Stack: Sendable {
    /// What waits for the stack to be loaded, in the order of its coming.
    struct Waiting: Sendable {
      var peer: Peer
      var message: Message
      var bytes: Int
    }

    /// What is on stable storage of a device.
    struct Stored: Hashable, Sendable {
      var sequence: Int
      var digest: Digest
      /// Of the newest event.
      var offset: Int
    }

    /// Events that are (partly) there already, or come after such: compared before they are answered.
    struct Parked: Sendable {
      var peer: Peer
      var device: DeviceID
      var firstSequence: Int
      /// Nil if it was compared already.
      var previous: Digest?
      var events: [[UInt8]]
      var bytes: Int
      /// The recall that is under way for it.
      var recall: Int?
    }

    let name: StackName
    /// As it stands in messages.
    let text: String
    var isLoaded = false
    var waiting: [Waiting] = []
    /// Fixed by the first admitted event.
    var policy: Policy?
    /// The timestamp of the first event, or what another daemon said that its policy came before.
    var policySince = Timestamp.zero
    /// All that is admitted, whether stored yet or not.
    var chains: StackChains
    /// The offset of the newest stored event.
    var head = 0
    var stored: [DeviceID: Stored] = [:]
    /// In the order of their coming.
    var followers: [Peer] = []
    /// How many peers read a range of it.
    var ranges = 0
    /// How many batches of it wait for their commit, or for its end.
    var batches = 0
    /// By device, in order.
    var parked: [DeviceID: FIFO<Parked>] = [:]
    /// Chains of which another history was seen, and an entry at which they differ.
    var disputes: [DeviceID: Int] = [:]
    /// Chains that are read to be copied, and those that were looked at, with what was known of copies then.
    var settling: Set<DeviceID> = []
    var settledAt: [DeviceID: Int] = [:]
    /// How many follows wait for their histories to be compared.
    var comparisons = 0
    var lastUsed: Int

    init(_ name: StackName, now: Int) {
      self.name = name
      text = name.description
      chains = StackChains(stack: name)
      lastUsed = now
    }

    var isIdle: Bool {
      isLoaded && followers.isEmpty && ranges == 0 && batches == 0 && parked.isEmpty && waiting.isEmpty
        && settling.isEmpty && comparisons == 0
    }

    /// All that is stored, but for retired chains.
    var storedHeads: [DeviceHead] { allHeads.filter { !chains.retired.contains($0.device) } }

    var allHeads: [DeviceHead] {
      stored.map { DeviceHead(device: $0, sequence: $1.sequence, digest: $1.digest) }.sorted { $0.device < $1.device }
    }

    /// The chains are read anew.
    mutating func forgetForks() {
      disputes = [:]
      settling = []
      settledAt = [:]
    }
  }
}
