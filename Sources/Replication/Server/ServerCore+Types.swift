package import NavigationModel
package import WireFormat

extension ServerCore {
  /// A connection, by a number that the I/O side gives it. A number is not used again for another connection.
  package struct Peer: Hashable, Sendable, CustomStringConvertible {
    package var number: UInt64

    package init(_ number: UInt64) { self.number = number }

    package var description: String { "peer \(number)" }
  }

  /// What the clocks say when something happens.
  package struct Moment: Hashable, Sendable {
    /// Of a clock that never goes back.
    package var milliseconds: Int
    /// Since 1970, as the person's clock has it.
    package var wall: Int

    package init(milliseconds: Int, wall: Int) {
      self.milliseconds = milliseconds
      self.wall = wall
    }
  }

  /// Who the daemon is and what it allows.
  package struct Configuration: Hashable, Sendable {
    package var daemon: DeviceID
    /// The life of the daemon's log; it changes only while the daemon is stopped.
    package var epoch: UInt64
    package var software = ""
    /// Where the feed can be subscribed to, empty if nowhere.
    package var feedEndpoint = ""
    /// The store's path, or `memory`.
    package var store = "memory"
    package var endpoints: [String] = []
    /// In milliseconds since 1970.
    package var startedAt = 0
    /// The highest timestamp known to be in the log when the daemon starts, in milliseconds since 1970.
    package var newestTime = 0
    package var limits = Limits()
    package var maximumSessions = 2000
    /// How many bytes of appended events may wait, for a commit or for a stack to be loaded.
    package var maximumBacklog = 16 << 20
    /// A commit takes no more events when it has so many bytes.
    package var commitBytes = 256 << 10
    /// A stored batch has no more bytes of events, unless it is one event, so that it fits into a message.
    package var batchBytes = 192 << 10
    /// Requests a second of all sessions of a key, or of one connection without keys; but for appends, which the backlog
    /// bounds, and what keeps a session alive.
    package var requestsASecond = 2000
    /// How many stacks out of use are kept loaded.
    package var idleStacks = 1024

    package init(daemon: DeviceID, epoch: UInt64) {
      self.daemon = daemon
      self.epoch = epoch
    }
  }

  /// One of the log's calls that failed, in words for a person.
  package struct StorageFailure: Error, Hashable, Sendable {
    package var detail: String

    package init(_ detail: String) { self.detail = detail }
  }

  /// A line for the daemon's log. The I/O side sees to it that one kind is no flood.
  package struct LogRecord: Hashable, Sendable {
    package enum Level: Int, Hashable, Sendable { case debug, info, warning, error }

    package var level: Level
    package var text: String
    package var fields: [Field]
    /// It tells who was refused, or who may what: a flood of others doesn't suppress it.
    package var isAudit = false

    package struct Field: Hashable, Sendable {
      package var name: String
      package var value: String

      package init(_ name: String, _ value: some CustomStringConvertible) {
        self.name = name
        self.value = value.description
      }
    }

    package init(_ level: Level, _ text: String, _ fields: [Field] = []) {
      self.level = level
      self.text = text
      self.fields = fields
    }
  }
}
