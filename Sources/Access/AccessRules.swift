public import NavigationModel

/// What may be done in a space.
public struct Verbs: OptionSet, Hashable, Sendable, CustomStringConvertible {
  public let rawValue: UInt8
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// List stacks, follow them, read their events, and show others which entry one is at.
  public static let read = Verbs(rawValue: 1)
  /// Append events.
  public static let act = Verbs(rawValue: 2)
  /// Ask for the daemon's status; of all spaces only.
  public static let admin = Verbs(rawValue: 4)

  private static let names: [(name: String, verb: Verbs)] = [("read", read), ("act", act), ("admin", admin)]

  /// Words with commas between them, as `read,act`; nil for none or another.
  public init?(_ text: some StringProtocol) {
    self = []
    for word in text.split(separator: ",", omittingEmptySubsequences: false) {
      guard let known = Self.names.first(where: { $0.name == word }) else { return nil }
      insert(known.verb)
    }
  }

  public var description: String {
    Self.names.filter { contains($0.verb) }.map(\.name).joined(separator: ",")
  }
}

/// Where a rule holds.
public enum Scope: Hashable, Sendable, CustomStringConvertible {
  case everySpace
  case space(Name)

  /// A space's name, or `*`.
  public init(_ text: some StringProtocol) throws(NameError) {
    self = text == "*" ? .everySpace : .space(try Name(String(text)))
  }

  public var description: String {
    switch self {
    case .everySpace: "*"
    case .space(let name): name.description
    }
  }
}

/// Who asks, as the connection shows it.
public enum Principal: Hashable, Sendable, CustomStringConvertible {
  /// Somebody on this machine: the file system, or whoever opened a port on loopback without keys, let them in.
  case local
  /// The holder of a key.
  case key(PublicKey)

  public var description: String {
    switch self {
    case .local: "local"
    case .key(let key): key.description
    }
  }
}

/// One line of the rules: a key, what it is called, and what it may do where.
public struct AccessRule: Hashable, Sendable, CustomStringConvertible {
  public var key: PublicKey
  /// What people call the key's holder; the same for all rules of a key.
  public var name: Name
  public var scope: Scope
  public var verbs: Verbs

  public init(key: PublicKey, name: Name, scope: Scope, verbs: Verbs) {
    self.key = key
    self.name = name
    self.scope = scope
    self.verbs = verbs
  }

  /// As a line of ``AccessRules/text``.
  public var description: String { "allow \(key) \(name) \(scope) \(verbs)" }
}

/// Who may do what: the daemon's rules, as a value. Nothing is allowed to a key but what a rule allows; rules only add
/// up, and their order is no matter. What is local may do everything.
public struct AccessRules: Hashable, Sendable {
  /// In the order in which they were added.
  public private(set) var rules: [AccessRule] = []
  private var index: [PublicKey: Allowed] = [:]

  private struct Allowed: Hashable, Sendable {
    var name: Name
    var everywhere: Verbs = []
    var bySpace: [String: Verbs] = [:]
  }

  public static let mostRules = 10_000
  /// The largest text that is read, in bytes.
  public static let longestText = 4 << 20

  /// Without rules: what is local, and nobody else.
  public init() {}

  /// Whether all of these may be done in a space. O(1).
  public func allows(_ principal: Principal, _ verbs: Verbs, in space: some StringProtocol) -> Bool {
    switch principal {
    case .local: return true
    case .key(let key):
      guard let allowed = index[key] else { return false }
      if allowed.everywhere.isSuperset(of: verbs) { return true }
      guard let here = allowed.bySpace[String(space)] else { return false }
      return allowed.everywhere.union(here).isSuperset(of: verbs)
    }
  }

  /// Whether all of these may be done in every space, also in those to come. O(1).
  public func allowsEverywhere(_ principal: Principal, _ verbs: Verbs) -> Bool {
    switch principal {
    case .local: true
    case .key(let key): index[key]?.everywhere.isSuperset(of: verbs) ?? false
    }
  }

  /// Whether there is any rule of a key: then it may connect. O(1).
  public func knows(_ key: PublicKey) -> Bool { index[key] != nil }

  /// Whether anybody like that may connect. O(1).
  public func knows(_ principal: Principal) -> Bool {
    if case .key(let key) = principal { knows(key) } else { true }
  }

  /// What a key is called; nil if there is no rule of it.
  public func name(of key: PublicKey) -> Name? { index[key]?.name }

  /// For a person: the name and the key, as far as they are known.
  public func label(_ principal: Principal) -> String {
    switch principal {
    case .local: "local"
    case .key(let key): name(of: key).map { "\($0) (\(key))" } ?? key.description
    }
  }

  /// The keys that may connect.
  public var keys: Set<PublicKey> { Set(index.keys) }

  /// The keys of that name, in the order of their first rules.
  public func keys(named name: String) -> [PublicKey] {
    var found: [PublicKey] = []
    for rule in rules where rule.name.description == name && !found.contains(rule.key) { found.append(rule.key) }
    return found
  }

  /// Adds a rule. One of the same key and space takes it in; the newest name stands for the key.
  public mutating func allow(_ rule: AccessRule) {
    for place in rules.indices where rules[place].key == rule.key { rules[place].name = rule.name }
    if let place = rules.firstIndex(where: { $0.key == rule.key && $0.scope == rule.scope }) {
      rules[place].verbs.formUnion(rule.verbs)
    } else {
      rules.append(rule)
    }
    reindex(rule.key)
  }

  /// Takes back all rules of a key, or those of one scope.
  ///
  /// - Returns: those that went.
  @discardableResult
  public mutating func revoke(_ key: PublicKey, in scope: Scope? = nil) -> [AccessRule] {
    let goes = { (rule: AccessRule) in rule.key == key && (scope == nil || rule.scope == scope) }
    let gone = rules.filter(goes)
    rules.removeAll(where: goes)
    reindex(key)
    return gone
  }

  private mutating func reindex(_ key: PublicKey) {
    var allowed: Allowed?
    for rule in rules where rule.key == key {
      var changed = allowed ?? Allowed(name: rule.name)
      switch rule.scope {
      case .everySpace: changed.everywhere.formUnion(rule.verbs)
      case .space(let space): changed.bySpace[space.description, default: []].formUnion(rule.verbs)
      }
      allowed = changed
    }
    index[key] = allowed
  }

  /// The rules that are only here, and those that are only in another: what changed between the two.
  public func difference(to other: AccessRules) -> (gone: [AccessRule], new: [AccessRule]) {
    let (here, there) = (Set(rules), Set(other.rules))
    return (rules.filter { !there.contains($0) }, other.rules.filter { !here.contains($0) })
  }
}

extension AccessRules {
  /// One rule a line: `allow KEY NAME SPACE VERBS`. Lines that begin with `#` are for people.
  ///
  /// - Throws: ``TextError`` with the line; nothing of such a text holds.
  public init(text: [UInt8]) throws(TextError) {
    guard text.count <= Self.longestText else {
      throw TextError(0, "\(text.count) bytes; rules have at most \(Self.longestText)")
    }
    self.init()
    for (number, bytes) in text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated() {
      guard let line = String(validating: bytes, as: UTF8.self) else { throw TextError(number + 1, "not UTF-8") }
      let words = line.split { " \t\r".contains($0) }
      guard let first = words.first, !first.hasPrefix("#") else { continue }
      guard first == "allow", words.count == 5 else {
        throw TextError(number + 1, "a rule is written: allow KEY NAME SPACE VERBS")
      }
      guard let key = PublicKey(String(words[1])) else {
        throw TextError(number + 1, "the key isn't 40 characters of Z85")
      }
      guard let verbs = Verbs(words[4]) else {
        throw TextError(number + 1, "'\(words[4])': verbs are read, act and admin, with commas between them")
      }
      guard rules.count < Self.mostRules else { throw TextError(number + 1, "more than \(Self.mostRules) rules") }
      do throws(NameError) {
        let rule = AccessRule(key: key, name: try Name(String(words[2])), scope: try Scope(words[3]), verbs: verbs)
        if index[key] != nil { allow(rule) } else { append(rule) }
      } catch { throw TextError(number + 1, "\(error)") }
    }
  }

  /// The first rule of a key, for which no other has to be looked for.
  private mutating func append(_ rule: AccessRule) {
    rules.append(rule)
    switch rule.scope {
    case .everySpace: index[rule.key] = Allowed(name: rule.name, everywhere: rule.verbs)
    case .space(let space):
      index[rule.key] = Allowed(name: rule.name, bySpace: [space.description: rule.verbs])
    }
  }

  /// As it is read.
  public var text: String {
    """
    # Who may do what at this daemon. 'navsync keys allow' and 'navsync keys revoke' change it; after another change send
    # the daemon a SIGHUP. One rule a line: allow KEY NAME SPACE VERBS, where SPACE may be *, and VERBS are read, act, admin.

    """ + rules.map { "\($0)\n" }.joined()
  }
}
