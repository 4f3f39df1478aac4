public import Testing

/// Something that went wrong for others who do a part of our job, by its number in the list below: the test that has it
/// shows what is right here. Each is a public report, in our words.
public struct FieldReport: TestTrait, SuiteTrait {
  public let number: Int

  public var comments: [Comment] { [Comment(rawValue: "case \(number): \(Self.all[number] ?? "not in the list")")] }

  /// What happened, and what is right.
  public static let all: [Int: String] = [
    26: "subscriptions beyond a limit vanished in silence after a reconnect: each is confirmed, or an error",
    27: "a departed subscriber's topics reached another: never",
    28: "not being authorised looked like a dead network: said so, with an exit code and a back-off of its own",
    29: "a wrong server key looked like a dead network: diagnosed as such",
    30: "one misbehaving client could not be cut off: refused by its key, at once",
    31: "a quiet topic on a dead link, nobody noticed for hours: noticed within three seconds",
    32: "one slow subscriber hurt the others: isolated, it catches up from the log",
    33: "a replay was truncated, and so was its end marker: flow-controlled, its end verified",
    34: "a gap was seen in the numbers and not acted on: fetched",
    35: "the publisher's numbers began again and clients skipped events: the epoch makes them start over",
    36: "the first update after joining was missed: never",
    37: "a cable pulled for a minute lost messages: all arrive after",
    38: "everyone reconnecting at once drowned the server: jitter",
    39: "out of file descriptors, 100 % CPU: connections are capped below the limit, a clear error",
    40: "a second daemon took over the socket path in silence: it refuses to start and says who holds it",
    41: "standard output closed at start, crash later: safe",
    42: "a signal during a system call ended the loop: retried",
    43: "who asked for tx also received tx_trytes: exact match",
    44: "shutdown hung: ends within two seconds, with the log closed",
    45: "acknowledged events were gone after power loss: none",
    46: "the tail was corrupt after a crash and the store refused to start: cut, reported, started",
    47: "the disk filled and the store lost its metadata: refuses appends, serves reads, recovers",
    48: "the clock jumped back and new events sorted before old ones: stamps never go back",
    49: "a restored backup used sequence numbers again: detected, healed by a new incarnation, nothing lost",
    50: "upgrading broke old events: logs of each format are fixtures and fold the same",
    51: "an empty batch wedged a stream for weeks: nothing happens",
    52: "zeros at the end of a pre-allocated file were refused as corrupt: cut and reported",
    53: "damage in the middle was taken for a torn tail and what followed dropped: told apart, nothing is cut silently",
    54: "the write-ahead log grew without end under long reads: bounded, and a metric",
    55: "a snapshot was off by one, or stale after an upgrade: it carries its vector and the fold's version",
    56: "the same file imported twice doubled the events: nothing changes",
    57: "a retry after an unclear failure was refused though nothing was stored: can always be tried again",
    58: "large integers in payloads were rounded: the bytes are exact",
    59: "data was deleted on opening after a full disk: opening never deletes",
  ]
}

extension Trait where Self == FieldReport {
  /// The test shows the right answer to a report of ``FieldReport/all``.
  public static func `case`(_ number: Int) -> Self { FieldReport(number: number) }
}
