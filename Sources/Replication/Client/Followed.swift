import NavigationModel
import WireFormat

/// What the core knows of one followed stack.
struct Followed: Hashable, Sendable {
  enum Stage: Hashable, Sendable {
    /// To be asked for in this session. Can become `asked`.
    case idle
    /// `Follow` is sent. Can become `following`, `refused`, `forked`, `idle`.
    case asked
    /// Can become `idle`, `refused`, `forked`.
    case following
    /// Until the owner or a timer asks again. Can become `idle`.
    case refused
    /// Until the owner follows again. Can become `idle`.
    case forked
  }

  /// Batches that the daemon's numbers say are lacking.
  struct Gap: Hashable, Sendable {
    /// The last offset that lacks, as far as is known.
    var to: Int
    var attempt = 0
    var askAt: Int
    /// What came after the hole, in order.
    var held: [Held] = []
    var heldBytes = 0
  }

  struct Held: Hashable, Sendable {
    var batch: EventBatch
    var previousOffset: Int
    var firstOffset: Int
    var bytes: Int
  }

  /// An `Append` that was sent and not answered.
  struct InFlight: Hashable, Sendable {
    var device: DeviceID
    var first: Int
    var last: Int
    var bytes: Int
    /// One before it was rejected, or the daemon is asked anew: nothing is sent before this is answered.
    var isGivenUp = false
  }

  static let window = 8
  static let windowBytes = 512 << 10
  static let heldBytesAllowed = 256 << 10

  /// What the owner says it is; nil if it doesn't know.
  var policy: Policy?
  var stage = Stage.idle
  var isLive = false

  // Receiving.
  /// The last offset of the daemon's log that was seen; nil before the first in a session.
  var offset: Int?
  var gap: Gap?
  /// The offset at the last pong that named a higher one: events may be on their way, so only the second time counts.
  var suspect: Int?

  /// Events under our own id came of which we have nothing to send: a copy of us did them, or somebody brought them. The
  /// exchange of heads tells.
  var isOwnNews = false

  // Sending.
  /// What the daemon has.
  var has = VersionVector()
  /// Chains of which the daemon has another history, and doesn't take ours.
  var refused: Set<DeviceID> = []
  /// The newest offset of our own log.
  var localHead = 0
  /// Our own log up to this offset is sent or the daemon has it; nil: to be found.
  var cursor: Int?
  var isReading = false
  var inFlight: [InFlight] = []
  /// If what is in flight isn't answered until then, an answer is not to come any more.
  var answerBy: Int?
  /// Nothing is sent before that.
  var retryAt: Int?
  var attempt = 0
  /// The daemon will not take our events of this stack in this session.
  var isBlocked = false

  // Presence.
  /// What this device shows, if it says so.
  var shown: Shown?

  struct Shown: Hashable, Sendable {
    var top: EntryID?
    /// When it is said the next time.
    var nextAt: Int
    /// When it was said in this session.
    var toldAt: Int?
  }

  /// The wait before `Follow` is tried again after a refusal that passes.
  var followAt: Int?
  var nextExpiry: Int?

  init(policy: Policy?) { self.policy = policy }

  /// When the stack has something to do.
  var due: Int? {
    [
      gap?.askAt, retryAt, followAt, inFlight.isEmpty ? nil : answerBy, stage == .following ? shown?.nextAt : nil,
      nextExpiry,
    ].compactMap(\.self).min()
  }

  mutating func sessionEnded() {
    let shown = shown.map { Shown(top: $0.top, nextAt: 0) }
    let policy = policy
    let head = localHead
    let forked = stage == .forked
    self = Followed(policy: policy)
    self.shown = shown
    localHead = head
    if forked { stage = .forked }
  }

  /// The daemon is asked anew from where our log stands.
  mutating func restart() {
    let (sent, answerBy) = (inFlight, answerBy)
    sessionEnded()
    stage = .idle
    inFlight = sent
    self.answerBy = answerBy
    giveUpInFlight()
  }

  /// All that our log has was sent and answered.
  var hasNothingToSend: Bool { inFlight.isEmpty && cursor == localHead }

  mutating func giveUpInFlight() {
    for place in inFlight.indices { inFlight[place].isGivenUp = true }
  }
}

/// A device that was heard of, and when.
struct Peer: Hashable, Sendable {
  var presence: PeerPresence
  var heardAt: Int
}
