import Access
import NavigationModel

func takeCertificate(_ bytes: [UInt8]) throws(BrokenLaw) -> Bool {
  guard let certificate = try? Certificate(text: bytes) else { return false }
  let written = certificate.text(["A remark"])
  guard let read = try? Certificate(text: Array(written.utf8)) else {
    // What is written has lines and names of its own, and may be longer than what is read.
    try hold(written.utf8.count > Certificate.longestText || certificate.metadata.count > 200, "can't be read back")
    return true
  }
  try hold(read.publicKey == certificate.publicKey, "another public key")
  try hold(read.secretKey == certificate.secretKey, "another secret key")
  try hold(read.metadata.map(\.name) == certificate.metadata.map(\.name), "other metadata")
  return true
}

func takeRules(_ bytes: [UInt8]) throws(BrokenLaw) -> Bool {
  guard let rules = try? AccessRules(text: bytes) else { return false }
  guard let read = try? AccessRules(text: Array(rules.text.utf8)) else { throw BrokenLaw("rules can't be read back") }
  try hold(read == rules, "rules are read back as others: \(rules.text)")
  for rule in rules.rules {
    let space = rule.scope == .everySpace ? "any" : rule.scope.description
    try hold(rules.allows(.key(rule.key), rule.verbs, in: space), "a rule doesn't hold: \(rule)")
    try hold(rules.knows(rule.key), "a key of a rule isn't known: \(rule)")
  }
  return !rules.rules.isEmpty
}

func takeCode(_ bytes: [UInt8]) throws(BrokenLaw) -> Bool {
  guard let text = String(validating: bytes, as: UTF8.self), let code = try? PairingCode(text) else { return false }
  try hold(code.text == text.filter { !$0.isWhitespace }, "a code is written as another")
  return true
}
