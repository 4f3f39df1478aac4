package import ArgumentParsing
import EventLog
import Foundation
import KeyFiles
import NavigationClient
import NavigationModel
import WireFormat

/// The folder of a user's keys.
package struct UserKeysOptions: ParsableOptions {
  @Option(
    placeholder: "PATH", environment: "NAVSYNC_KEYS",
    help: "The folder of keys; without it navsync/keys in the user's configuration.")
  var keys: String?

  package init() {}

  var folder: KeyFolder { keys.map { KeyFolder($0) } ?? .ofUser }
}

/// `navsync keys owner`.
package struct OwnSpace: RunnableCommand {
  package static let configuration = CommandConfiguration(
    name: "owner", abstract: "Make the key that says who may write in a space, or show it.",
    discussion: """
      Its secret half stays in this user's folder of keys (mode 0600). Whoever has it decides who may write in the space: \
      keep a copy where no machine can lose it. What is printed is the public half, for 'navsync keys trust' on every \
      machine.
      """,
    examples: [CommandExample("navsync keys owner alice", "The owner's key of the space alice, made if there is none.")]
  )

  @Argument(help: "The space.") var space: Name
  @Flag(help: "Replace a key that is there. Its grants count no more where the new one is trusted.") var force: Bool
  @OptionGroup var folder: UserKeysOptions
  @OptionGroup var output: OutputOptions

  package init() {}

  private struct Row: Encodable {
    var space: String
    var owner: String
  }

  package func run(on console: Console) async throws {
    let folder = folder.folder
    try withKeyErrors {
      var key = force ? nil : try folder.owner(of: space)
      if key == nil {
        key = try folder.makeOwner(of: space, replaces: force)
        console.say("\(space) has a new owner's key; its secret half is in \(folder)")
      }
      guard let key else { return }
      if output.json {
        return try printJSON([Row(space: "\(space)", owner: "\(key.verifyingKey)")], on: console)
      }
      try console.print("\(key.verifyingKey)")
    }
  }
}

/// `navsync keys trust`.
package struct TrustOwner: RunnableCommand {
  package static let configuration = CommandConfiguration(
    name: "trust", abstract: "Say whose grants count in a space, and whether events there must be signed.",
    discussion: """
      off: nothing is signed or checked. optional: this user's devices sign, and 'navsync verify' says what nobody \
      vouches for. required: what nobody vouches for is held back and never shown, whatever a daemon sends. Use optional \
      until every device has a grant and has acted once, then required. It holds from the next opening of a stack on. \
      Without arguments it lists what is trusted.
      """,
    examples: [
      CommandExample("navsync keys trust alice --mode required", "Of a space that this user owns."),
      CommandExample(
        "navsync keys trust alice 3d0f…e2 --mode optional", "The owner's key as 'navsync keys owner' printed it."),
      CommandExample("navsync keys trust", "What is trusted on this machine."),
    ])

  @Argument(help: "The space.") var space: Name?
  @Argument(help: "The owner's public key; without it the one that is trusted, or this user's own.") var owner: String?
  @Option(placeholder: "MODE", help: "off, optional or required.") var mode = ModeArgument(mode: .required)
  @OptionGroup var folder: UserKeysOptions
  @OptionGroup var output: OutputOptions

  package init() {}

  package func run(on console: Console) async throws {
    let folder = folder.folder
    try withKeyErrors {
      guard let space else { return try print(try folder.trusts(), output, on: console) }
      let key: VerifyingKey
      if let owner {
        guard let named = VerifyingKey(owner) else {
          throw CommandError(.usage, "'\(owner)' is no owner's key; 'navsync keys owner \(space)' prints its 64 digits")
        }
        key = named
      } else if let known = try folder.trust(in: space)?.owner ?? folder.owner(of: space)?.verifyingKey {
        key = known
      } else {
        throw CommandError(
          .notFound, "no owner of \(space) is known here; give the key that 'navsync keys owner \(space)' prints there")
      }
      let trust = SpaceTrust(space: space, mode: mode.mode, owner: key)
      try folder.keep(trust)
      try print([trust], output, on: console)
    }
  }

  private struct Row: Encodable {
    var space: String
    var mode: String
    var owner: String
  }

  private func print(_ trusts: [SpaceTrust], _ output: OutputOptions, on console: Console) throws {
    let rows = trusts.map { Row(space: "\($0.space)", mode: $0.mode.rawValue, owner: "\($0.owner)") }
    if output.json { return try printJSON(rows, on: console) }
    if rows.isEmpty { console.say("no owner is trusted, so nothing is checked") }
    try printTable(rows.map { [$0.space, $0.mode, $0.owner] }, on: console)
  }
}

package struct ModeArgument: ArgumentValue, Hashable {
  var mode: SpaceTrust.Mode

  package init(argument: String) throws {
    guard let mode = SpaceTrust.Mode(rawValue: argument) else {
      throw ValueError("expected off, optional or required")
    }
    self.mode = mode
  }

  init(mode: SpaceTrust.Mode) { self.mode = mode }

  package var argumentText: String { mode.rawValue }
}

/// `navsync keys device`.
package struct DeviceKey: RunnableCommand {
  package static let configuration = CommandConfiguration(
    name: "device", abstract: "Show the key that a device signs with.",
    discussion: """
      For the owner of a space, who grants it to write. A device's id is made of its key, so another key is another id: a \
      device from before there were signatures needs --renew once, and a device that became a new incarnation needs a new \
      grant.
      """,
    examples: [
      CommandExample("navsync keys device --device phone", "Its key; the device is made if there is none."),
      CommandExample("navsync keys device --renew", "A new key and with it a new id, as after the key was lost."),
    ])

  @Option(
    placeholder: "NAME", environment: "NAVSYNC_DEVICE",
    help: "The device; without it the one named after this host.")
  var device: String?
  @Flag(help: "Make it a new incarnation with a new key. What it did stays.") var renew: Bool
  @OptionGroup var output: OutputOptions

  package init() {}

  private struct Row: Encodable {
    var name: String
    var device: String
    var key: String
  }

  package func run(on console: Console) async throws {
    let name = device ?? Device.defaultName
    let folder = try deviceFolder(named: name)
    do {
      // Opened as any program opens it: what isn't there is made, and nobody else has it meanwhile.
      let opened = try await Device.open(name: name, options: Device.Options(connects: false))
      await opened.close()
    } catch { throw commandError(error) }
    do {
      if renew {
        let log = try SQLiteLog.open(at: folder, program: "navsync", create: false)
        defer { try? log.close() }
        let id = try Device.renew(log, in: folder)
        console.say("\(name) has the new id \(id)")
      }
      guard let key = try Device.signingKey(in: folder)?.verifyingKey else {
        throw CommandError(
          .refused,
          "\(name) can't sign: it is from before there were signatures, or its key is gone; --renew gives it a "
            + "key and with it a new id")
      }
      if output.json {
        return try printJSON([Row(name: name, device: "\(key.device)", key: "\(key)")], on: console)
      }
      try console.print("\(key)")
    } catch let error as LogError { throw commandError(error) }
  }
}

/// `navsync keys grant`.
package struct SignGrant: RunnableCommand {
  package static let configuration = CommandConfiguration(
    name: "grant", abstract: "Let a device write in a space that this user owns.",
    discussion: """
      Prints a line that the device takes with 'navsync keys accept'; it is no secret. --until counts by the device's own \
      clock, as its events are stamped.
      """,
    examples: [
      CommandExample("navsync keys grant alice 9c1e…07 --name phone", "For ever."),
      CommandExample("navsync keys grant alice 9c1e…07 --name guest --until 2027-01-31", "Until then."),
    ])

  @Argument(help: "The space.") var space: Name
  @Argument(help: "The device's key, as 'navsync keys device' prints it there.") var key: String
  @Option(placeholder: "NAME", help: "What the owner calls the device.") var name: Name
  @Option(placeholder: "TIME", help: "Until when: RFC 3339, or a local date or time of day.") var until: WallTime?
  @OptionGroup var folder: UserKeysOptions
  @OptionGroup var output: OutputOptions

  package init() {}

  package func run(on console: Console) async throws {
    guard let device = VerifyingKey(key) else {
      throw CommandError(.usage, "'\(key)' is no device's key; 'navsync keys device' prints its 64 digits there")
    }
    let expires = until?.milliseconds(now: wallClockMilliseconds())
    if let expires, !Grant.endings.contains(expires) {
      throw CommandError(.usage, "--until is before 1970; name a later time")
    }
    let folder = folder.folder
    try withKeyErrors {
      guard let owner = try folder.owner(of: space) else {
        throw CommandError(
          .notFound,
          "this user doesn't own \(space): no key of it in \(folder); 'navsync keys owner \(space)' makes one")
      }
      let grant = Grant(space: space, key: device, name: name, expires: expires, by: owner)
      try folder.note(granted: grant)
      if output.json { return try printJSON([GrantRow(grant)], on: console) }
      try console.print("\(grant)")
    }
  }
}

/// `navsync keys accept`.
package struct AcceptGrant: RunnableCommand {
  package static let configuration = CommandConfiguration(
    name: "accept", abstract: "Take a grant that the owner of a space made for a device of this user.",
    discussion:
      "The device carries it in its next event of each stack of the space, which covers all that it did before.",
    examples: [
      CommandExample("navsync keys accept 'navsync-grant-1 alice phone …'", "The line that was printed there.")
    ])

  @Argument(help: "The line that 'navsync keys grant' printed.") var grant: String
  @OptionGroup var folder: UserKeysOptions
  @OptionGroup var output: OutputOptions

  package init() {}

  package func run(on console: Console) async throws {
    guard let grant = Grant(grant.trimmingCharacters(in: .whitespacesAndNewlines)) else {
      throw CommandError(.usage, "that is no grant; give the whole line that 'navsync keys grant' printed, in quotes")
    }
    let folder = folder.folder
    try withKeyErrors {
      if let trust = try folder.trust(in: grant.space), !grant.isSigned(by: trust.owner) {
        throw CommandError(
          .refused,
          "the grant isn't signed by the owner of \(grant.space) whom this machine trusts; ask for another, or "
            + "trust another with 'navsync keys trust'")
      }
      try folder.keep(grant)
    }
    if output.json { return try printJSON([GrantRow(grant)], on: console) }
    console.say("\(grant.name) may write in \(grant.space)\(grant.until)")
  }
}

/// `navsync keys grants`.
package struct ListGrants: RunnableCommand {
  package static let configuration = CommandConfiguration(
    name: "grants", abstract: "List the grants of this user's devices, and those that this user made.",
    examples: [CommandExample("navsync keys grants --json", "For a program.")])

  @Argument(help: "Only those of this space.") var space: Name?
  @OptionGroup var folder: UserKeysOptions
  @OptionGroup var output: OutputOptions

  package init() {}

  package func run(on console: Console) async throws {
    let folder = folder.folder
    try withKeyErrors {
      var rows = try folder.grants().map { GrantRow($0, "accepted") }
      for space in folder.ownedSpaces() { rows += try folder.granted(in: space).map { GrantRow($0, "made") } }
      if let space { rows.removeAll { $0.space != "\(space)" } }
      if output.json { return try printJSON(rows, on: console) }
      if rows.isEmpty { console.say("there are no grants") }
      try printTable(
        rows.map { [$0.space, $0.name, $0.side ?? "", $0.expires ?? "for ever", $0.device, $0.key] }, on: console)
    }
  }
}

private struct GrantRow: Encodable {
  var space: String
  var name: String
  var device: String
  var key: String
  var expires: String?
  var side: String?
  var grant: String

  init(_ grant: Grant, _ side: String? = nil) {
    space = "\(grant.space)"
    name = "\(grant.name)"
    device = "\(grant.key.device)"
    key = "\(grant.key)"
    expires = grant.expires.map { rfc3339(milliseconds: $0) }
    self.side = side
    self.grant = "\(grant)"
  }
}

extension Grant {
  fileprivate var until: String { expires.map { " until \(rfc3339(milliseconds: $0))" } ?? "" }
}
