import Access
package import ArgumentParsing
import KeyFiles
import NavigationClient
import NavigationModel

/// `navsync keys`.
package struct Keys: ParsableCommand {
  package static let configuration = CommandConfiguration(
    name: "keys", abstract: "Make keys, say whose may do what at a daemon, and who may write in a space.",
    discussion: """
      A key stands for whoever holds its secret half: a person's machine, or another daemon. 'navsyncd pair' and 'navsync \
      pair' make and exchange keys in one go; new, show, allow, revoke and rotate do it by hand.

      Against the daemon itself there are signatures: device, owner, grant, accept and trust say which devices may write \
      in a space, and every replica checks it for itself.
      """,
    subcommands: [
      NewKeys.self, ShowKeys.self, AllowKey.self, RevokeKey.self, RotateKeys.self,
      DeviceKey.self, OwnSpace.self, SignGrant.self, AcceptGrant.self, ListGrants.self, TrustOwner.self,
    ])

  package init() {}
}

/// `navsync keys new`.
package struct NewKeys: RunnableCommand {
  package static let configuration = CommandConfiguration(
    name: "new", abstract: "Make keys.",
    discussion: """
      Two files in the form of ZeroMQ's certificates, which czmq and pyzmq read too: own.key may be handed out; \
      own.key_secret is for its owner alone (mode 0600).
      """,
    examples: [
      CommandExample("navsync keys new", "Keys of this user on this machine."),
      CommandExample(
        "navsync keys new --for-daemon", "Keys of this user's daemon, which it needs beyond this machine."),
    ])

  @OptionGroup var folder: EitherKeysOptions
  @Option(placeholder: "NAME", help: "What the file says the keys are called; without it this host's name.")
  var name: Name?
  @Flag(help: "Replace keys that are there. Who knows them doesn't know the new ones: pair again.") var force: Bool
  @OptionGroup var output: OutputOptions

  package init() {}

  package func run(on console: Console) async throws {
    let folder = folder.folder
    let name = name?.description ?? Device.defaultName
    try withKeyErrors {
      do {
        try folder.makeKeys(metadata: [.init("name", name)], replaces: force)
      } catch let error as KeyFileError where error.code == .exists {
        throw CommandError(
          .refused, "there are keys in \(folder) already; 'navsync keys show' shows them, and --force replaces them")
      }
      try print(folder, output, on: console)
    }
  }
}

/// `navsync keys show`.
package struct ShowKeys: RunnableCommand {
  package static let configuration = CommandConfiguration(
    name: "show", abstract: "Show the public key, and at a daemon who may do what.",
    examples: [
      CommandExample("navsync keys show", "This user's key, for 'navsync keys allow' at a daemon."),
      CommandExample("navsync keys show --for-daemon --json", "The daemon's key and its rules, for a program."),
    ])

  @OptionGroup var folder: EitherKeysOptions
  @OptionGroup var output: OutputOptions

  package init() {}

  package func run(on console: Console) async throws {
    try withKeyErrors { try print(folder.folder, output, on: console) }
  }
}

/// `navsync keys allow`.
package struct AllowKey: RunnableCommand {
  package static let configuration = CommandConfiguration(
    name: "allow", abstract: "Let the holder of a key do something at a daemon.",
    discussion: "A daemon that runs knows it at once. Run again it adds to what was allowed before.",
    examples: [
      CommandExample("navsync keys allow phone.key --name phone", "All stacks, to read and to act on."),
      CommandExample(
        "navsync keys allow 'rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7' --name kiosk --space shop --may read",
        "A key as text; one space, to look at only."),
    ])

  @Argument(help: "A public key: 40 characters, or a certificate's file.") var key: String
  @Option(placeholder: "NAME", help: "What the key's holder is called in rules and logs.") var name: Name
  @OptionGroup var grant: GrantOptions
  @OptionGroup var daemon: DaemonKeysOptions
  @OptionGroup var output: OutputOptions

  package init() {}

  package func run(on console: Console) async throws {
    let folder = daemon.folder
    let rule = AccessRule(
      key: try publicKey(key, refusesSecret: true), name: name, scope: grant.space.scope, verbs: grant.may.verbs)
    var former: Name?
    try withKeyErrors {
      try folder.changeRules { (rules) throws(KeyFileError) in
        former = rules.name(of: rule.key)
        if let other = rules.keys(named: name.description).first(where: { $0 != rule.key }) {
          throw KeyFileError(
            .refused, folder.rulesPath,
            "\(name) is the name of another key, \(other); choose another, or revoke that one")
        }
        guard rules.rules.count < AccessRules.mostRules else {
          throw KeyFileError(
            .refused, folder.rulesPath, "\(rules.rules.count) rules, which is the most that there can be")
        }
        rules.allow(rule)
      }
    }
    if let former, former != name { console.say("the key was called \(former); it is \(name) in all of its rules now") }
    try print([rule], output, on: console)
    try tellDaemon(of: folder, on: console)
  }
}

/// `navsync keys revoke`.
package struct RevokeKey: RunnableCommand {
  package static let configuration = CommandConfiguration(
    name: "revoke", abstract: "Take back what a key was allowed at a daemon.",
    discussion: """
      A daemon that runs knows it at once: requests of that key are refused, and its connections are cut, as are those of \
      others, who connect again by themselves.
      """,
    examples: [
      CommandExample("navsync keys revoke phone", "Everything, as of a phone that was lost."),
      CommandExample("navsync keys revoke kiosk --space shop", "What it was allowed in one space."),
    ])

  @Argument(help: "A name in the rules, a public key, or a certificate's file.") var who: String
  @Option(placeholder: "SPACE", help: "Only what holds in this space; * is the rule for every space.")
  var space: ScopeArgument?
  @OptionGroup var daemon: DaemonKeysOptions
  @OptionGroup var output: OutputOptions

  package init() {}

  package func run(on console: Console) async throws {
    let folder = daemon.folder
    var gone: [AccessRule] = []
    try withKeyErrors {
      let rules = try folder.rules()
      let named = rules.keys(named: who)
      let keys = named.isEmpty ? [try publicKey(who, orName: true)] : named
      try folder.changeRules { (rules) throws(KeyFileError) in
        for key in keys { gone += rules.revoke(key, in: space?.scope) }
      }
    }
    guard !gone.isEmpty else {
      throw CommandError(
        .notFound,
        "\(folder.rulesPath) allows nothing to '\(who)'\(space.map { " in \($0.scope)" } ?? ""); 'navsync keys show "
          + "--for-daemon' lists who may do what")
    }
    try print(gone, output, on: console)
    try tellDaemon(of: folder, on: console)
  }
}

/// A key as text, or from a certificate's file.
///
/// - Parameter refusesSecret: whether a file that has the secret half, too, is refused: it came from another machine, and
///   shouldn't have.
private func publicKey(_ text: String, orName: Bool = false, refusesSecret: Bool = false) throws -> PublicKey {
  if let key = PublicKey(text) { return key }
  let certificate = try withKeyErrors { try KeyFolder.certificate(at: text) }
  guard let certificate else {
    throw CommandError(
      .notFound,
      "'\(text)' is no \(orName ? "name in the rules, no " : "")key of 40 characters, and no file; 'navsync keys show' shows "
        + "a key")
  }
  guard certificate.secretKey == nil || !refusesSecret else {
    throw CommandError(
      .refused,
      "\(text) has the secret key, too, which never leaves its machine; take 'own.key' from there, and if others may have "
        + "read this file, make new keys there ('navsync keys new --force')")
  }
  return certificate.publicKey
}

// MARK: Printing

private struct FolderRow: Encodable {
  var key: String
  var name: String?
  var publicFile: String
  var secretFile: String
  /// What a daemon's keys change to, and when.
  var nextKey: String?
  var changes: String?
  var rules: [RuleRow]
}

private struct RuleRow: Encodable {
  var key: String
  var name: String
  var space: String
  var may: String

  init(_ rule: AccessRule) {
    key = rule.key.description
    name = rule.name.description
    space = rule.scope.description
    may = rule.verbs.description
  }
}

private func print(_ folder: KeyFolder, _ output: OutputOptions, on console: Console) throws {
  guard let certificate = try folder.certificate() else {
    throw CommandError(.notFound, "there are no keys in \(folder); 'navsync keys new' makes some")
  }
  let rules = try folder.rules().rules
  let change = try folder.change()
  let row = FolderRow(
    key: certificate.publicKey.description, name: certificate["name"], publicFile: folder.publicPath(),
    secretFile: folder.secretPath(), nextKey: change?.key.description,
    changes: change.map { rfc3339(milliseconds: $0.at) }, rules: rules.map(RuleRow.init))
  if output.json { return try printJSON([row], on: console) }
  try printTable(
    [
      ["key", row.key], ["name", row.name ?? "-"], ["public", row.publicFile], ["secret", row.secretFile],
    ] + (row.nextKey.map { [["next key", $0], ["from", row.changes ?? ""]] } ?? []), on: console)
  if !rules.isEmpty { try print(rules, output, on: console) }
}

private func print(_ rules: [AccessRule], _ output: OutputOptions, on console: Console) throws {
  if output.json { return try printJSON(rules.map(RuleRow.init), on: console) }
  try printTable(
    rules.map { [$0.name.description, $0.scope.description, $0.verbs.description, $0.key.description] }, on: console)
}

/// Has a daemon that runs take notice, and says what became of it.
func tellDaemon(of folder: KeyFolder, on console: Console) throws {
  try withKeyErrors {
    switch try folder.tellServer() {
    case .nobody: console.say("no daemon serves with \(folder) now; the next one will go by it")
    case .applied(let process): console.say("the daemon (process \(process)) goes by it now")
    case .failed(let process, let problem):
      throw CommandError(.failed, "it is written, but the daemon (process \(process)) doesn't go by it: \(problem)")
    }
  }
}
