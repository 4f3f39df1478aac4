import Access
import NavigationModel
import TestSupport
import Testing

@Suite struct AccessRulesTests {
  static func key(_ number: UInt8) -> PublicKey { PublicKey(bytes: [number] + [UInt8](repeating: 7, count: 31))! }

  static func rule(_ number: UInt8, _ name: String, _ scope: String, _ verbs: String) throws -> AccessRule {
    AccessRule(key: key(number), name: try Name(name), scope: try Scope(scope), verbs: try #require(Verbs(verbs)))
  }

  @Test func onlyWhatARuleAllowsIsAllowed() throws {
    var rules = AccessRules()
    rules.allow(try Self.rule(1, "phone", "alice", "read,act"))
    rules.allow(try Self.rule(2, "kiosk", "*", "read"))
    let (phone, kiosk, stranger) = (
      Principal.key(Self.key(1)), Principal.key(Self.key(2)), Principal.key(Self.key(3))
    )
    #expect(rules.allows(phone, .act, in: "alice"))
    #expect(!rules.allows(phone, .read, in: "alice2"))
    #expect(!rules.allows(phone, .read, in: "alic"))
    #expect(!rules.allows(phone, .read, in: "*"))
    #expect(!rules.allows(phone, .admin, in: "alice"))
    #expect(rules.allows(kiosk, .read, in: "bob"))
    #expect(!rules.allows(kiosk, .act, in: "bob"))
    #expect(!rules.allows(stranger, .read, in: "alice"))
    #expect(!rules.knows(stranger) && rules.knows(phone))
    #expect(rules.allows(.local, [.read, .act, .admin], in: "alice"))
    #expect(rules.allowsEverywhere(kiosk, .read) && !rules.allowsEverywhere(phone, .read))
  }

  /// Rules for `*` and for a space add up, also within one question.
  @Test func rulesAddUp() throws {
    var rules = AccessRules()
    rules.allow(try Self.rule(1, "phone", "*", "read"))
    rules.allow(try Self.rule(1, "phone", "alice", "act"))
    #expect(rules.allows(.key(Self.key(1)), [.read, .act], in: "alice"))
    #expect(!rules.allows(.key(Self.key(1)), [.read, .act], in: "bob"))
    #expect(rules.revoke(Self.key(1), in: .everySpace).count == 1)
    #expect(!rules.allows(.key(Self.key(1)), .read, in: "alice") && rules.allows(.key(Self.key(1)), .act, in: "alice"))
    #expect(rules.revoke(Self.key(1)).count == 1 && !rules.knows(Self.key(1)))
  }

  /// Against the plainest reading of the rules: is there a rule for each verb?
  @Test func decisionsAreThoseOfTheRulesOneByOne() throws {
    var random = SeededGenerator(seed: 11)
    let spaces = ["alice", "bob", "carol"]
    for _ in 0..<300 {
      var rules = AccessRules()
      var plain: [AccessRule] = []
      for _ in 0..<Int.random(in: 0...12, using: &random) {
        let number = UInt8.random(in: 0...3, using: &random)
        if Int.random(in: 0...4, using: &random) == 0 {
          let scope: Scope? =
            Bool.random(using: &random) ? nil : try Scope(spaces.randomElement(using: &random)!)
          let gone = rules.revoke(Self.key(number), in: scope)
          let before = plain.count
          plain.removeAll { $0.key == Self.key(number) && (scope == nil || $0.scope == scope) }
          #expect((gone.isEmpty) == (plain.count == before))
        } else {
          let rule = AccessRule(
            key: Self.key(number), name: try Name("name\(number)"),
            scope: try Scope((spaces + ["*"]).randomElement(using: &random)!),
            verbs: Verbs(rawValue: UInt8.random(in: 1...7, using: &random)))
          rules.allow(rule)
          plain.append(rule)
        }
      }
      #expect(try AccessRules(text: Array(rules.text.utf8)) == rules, "what is written is read as it was")
      for number in UInt8(0)...3 {
        #expect(rules.knows(Self.key(number)) == plain.contains { $0.key == Self.key(number) })
        for space in spaces + ["dora"] {
          for raw in UInt8(1)...7 {
            let wanted = Verbs(rawValue: raw)
            let expected = [Verbs.read, .act, .admin].filter { wanted.contains($0) }.allSatisfy { verb in
              plain.contains {
                $0.key == Self.key(number) && $0.verbs.contains(verb)
                  && ($0.scope == .everySpace || $0.scope.description == space)
              }
            }
            #expect(rules.allows(.key(Self.key(number)), wanted, in: space) == expected)
          }
        }
      }
    }
  }

  @Test func differencesNameWhatChanged() throws {
    var before = AccessRules()
    before.allow(try Self.rule(1, "phone", "alice", "read"))
    before.allow(try Self.rule(2, "laptop", "*", "read,act"))
    var after = before
    after.allow(try Self.rule(1, "phone", "alice", "act"))
    after.revoke(Self.key(2))
    let (gone, new) = before.difference(to: after)
    #expect(gone == before.rules)
    #expect(new == [try Self.rule(1, "phone", "alice", "read,act")])
  }

  @Test(arguments: [
    ("permit x", "line 1: a rule is written"), ("allow a b c", "line 1: a rule is written"),
    ("# note\nallow short phone * read", "line 2: the key"),
    ("allow \(key(1)) Phone * read", "line 1: "), ("allow \(key(1)) phone Al/ice read", "line 1: "),
    ("allow \(key(1)) phone * write", "line 1: 'write'"), ("allow \(key(1)) phone * read,", "line 1: 'read,'"),
    ("allow \(key(1)) phone * read extra", "line 1: a rule is written"),
  ])
  func whatIsWrongIsSaid(text: String, problem: String) {
    do {
      _ = try AccessRules(text: Array(text.utf8))
      Issue.record("taken: \(text)")
    } catch { #expect(error.description.hasPrefix(problem), "\(error)") }
  }
}
