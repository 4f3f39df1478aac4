import Access
import NavigationModel
import WireFormat

extension ServerCore {
  /// One peer's session: it begins with its `Hello`, and nothing of it outlives the connection.
  struct Session: Sendable {
    /// Whose the connection is.
    let principal: Principal
    let device: DeviceID?
    let name: String
    let software: String
    /// Bytes of events that may still be sent. May be below 0 by one message.
    var credit = 0
    var lastHeard: Int
    var lastSent: Int
    /// The socket had no room; nothing is sent until it is tried again.
    var isFull = false
    /// When that is, and how long it was waited for: longer each time, for finding out costs a read.
    var retryAt = 0
    var retryWait = 0
    /// Messages of events that went out since it was tried last.
    var wentOut = 0
    /// Replies that wait for room in the socket.
    var replies = FIFO<[UInt8]>()
    /// By the stack's slot.
    var follows: [Int: Cursor] = [:]
    /// Follows whose histories are compared first, by the stack's slot.
    var comparing: [Int: Comparison] = [:]
    /// Ranges asked for, by the stack's slot.
    var ranges: [Int: Cursor] = [:]
    /// Cursors that have something to read, in the order of their turn. One read is under way at most.
    var toRead = FIFO<Errand>()
    var reading: (number: Int, errand: Errand)?
    /// What the device shows, by the stack's slot.
    var shown: [Int: EntryID?] = [:]
    var isAway = false
    /// It is the daemon's own, of a link to another daemon.
    var isLink = false
    /// It is told of every stack that comes to be.
    var followsList = false
    /// A list is read for it; those that it asked for meanwhile.
    var isListing = false
    var lists = FIFO<Name?>()

    init(principal: Principal = .local, device: DeviceID?, name: String, software: String, now: Int) {
      self.principal = principal
      self.device = device
      self.name = name
      self.software = software
      lastHeard = now
      lastSent = now
    }

    /// Another daemon's link: whoever wants every stack, and isn't a link of our own.
    var isOtherDaemon: Bool { followsList && !isLink }

    /// Whether events can be sent now.
    var isOpen: Bool { credit > 0 && !isFull }

    subscript(_ errand: Errand) -> Cursor? {
      get { errand.isRange ? ranges[errand.slot] : follows[errand.slot] }
      set { if errand.isRange { ranges[errand.slot] = newValue } else { follows[errand.slot] = newValue } }
    }
  }

  /// What a cursor is of.
  struct Errand: Hashable, Sendable {
    var slot: Int
    var isRange = false
  }

  /// A place in the log of one stack: all that a behind follower costs.
  struct Cursor: Hashable, Sendable {
    /// All up to here was sent, or the follower has it.
    var position: Int
    /// The newest offset that the follower has seen.
    var seen: Int
    /// Not nil: what the follower had when it asked; its offset isn't known yet.
    var vector: VersionVector?
    /// What the follower had: batches in it are passed over. Until the cursor has reached the head.
    var held: VersionVector?
    /// A range ends here.
    var end: Int?
    var wantsAuthorStates: Bool
    /// `Live` was sent.
    var isAnnounced = false
    /// It stands in `toRead`.
    var isWaiting = false
    /// Its read that is under way.
    var read: Int?
    /// When it was made: what is numbered lower was for an older one.
    var number: Int

    init(at position: Int, end: Int? = nil, wantsAuthorStates: Bool, number: Int) {
      self.position = position
      seen = position
      self.end = end
      self.wantsAuthorStates = wantsAuthorStates
      self.number = number
    }

    /// Whether it has something to read.
    var isBehind: Bool { isWaiting || read != nil }
  }
}
