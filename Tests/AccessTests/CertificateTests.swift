import Access
import TestSupport
import Testing

@Suite struct CertificateTests {
  static let publicText = "Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hID"
  static let secretText = "D:)Q[IlAW!ahhC2ac:9*A}h:p?([4%wOTJ%JR%cs"

  /// The keys of RFC 26's own example, and the text of RFC 32.
  @Test func z85IsThatOfItsSpecification() throws {
    #expect(Z85.encode([0x86, 0x4F, 0xD2, 0x6F, 0xB5, 0x59, 0xF7, 0x5B]) == "HelloWorld")
    #expect(Z85.decode("HelloWorld".utf8) == [0x86, 0x4F, 0xD2, 0x6F, 0xB5, 0x59, 0xF7, 0x5B])
    let key = try #require(PublicKey(Self.publicText))
    #expect(key.bytes.prefix(4) == [0xBB, 0x88, 0x47, 0x1D])
    #expect(key.description == Self.publicText)
  }

  @Test func z85GoesBothWaysAndTakesNothingElse() throws {
    var random = SeededGenerator(seed: 32)
    for _ in 0..<500 {
      let bytes = (0..<32).map { _ in UInt8.random(in: 0...255, using: &random) }
      let key = try #require(PublicKey(bytes: bytes))
      #expect(key.bytes == bytes)
      #expect(PublicKey(key.description) == key)
      #expect(Array(key.description.utf8).withUnsafeBufferPointer { PublicKey(z85: $0.span) } == key)
    }
    for wrong in ["HelloWorl", "Hello World", "#####", "Hell\"", "HellÄ"] { #expect(Z85.decode(wrong.utf8) == nil) }
    #expect(PublicKey(String(repeating: "#", count: 40)) == nil)
    #expect(PublicKey(Self.publicText + "00000") == nil)
    let over = Array(("#####" + Self.publicText.dropFirst(5)).utf8)
    #expect(over.withUnsafeBufferPointer { PublicKey(z85: $0.span) } == nil)
  }

  static let czmq = """
    #   ****  Generated on 2026-03-01 09:30:00 by CZMQ  ****
    #   ZeroMQ CURVE **Secret** Certificate
    #   DO NOT PROVIDE THIS FILE TO OTHER USERS nor change its permissions.

    metadata
        name = "phone of Alice"
        email = alice@example.org   # unquoted
    curve
        public-key = "\(publicText)"
        secret-key = "\(secretText)"

    """

  @Test func readsWhatCzmqWrites() throws {
    let certificate = try Certificate(text: Array(Self.czmq.utf8))
    #expect(certificate.publicKey.description == Self.publicText)
    #expect(certificate.secretKey?.text == Self.secretText)
    #expect(certificate["name"] == "phone of Alice")
    #expect(certificate["email"] == "alice@example.org")
    #expect(try Certificate(text: Array(certificate.text(["A remark"]).utf8)) == certificate)
  }

  @Test func aSecretIsNeverDescribed() throws {
    let certificate = try Certificate(text: Array(Self.czmq.utf8))
    let secret = try #require(certificate.secretKey)
    #expect(!"\(certificate) \(secret) \(String(reflecting: secret))".contains(Self.secretText.prefix(8)))
  }

  @Test(arguments: [
    ("", "there is no public-key"), ("curve\n", "there is no public-key"),
    ("curve\n    public-key = \"short\"\n", "line 2: the public-key isn't 40 characters"),
    ("curve\n  public-key = x\n", "line 2: indented by 2 spaces"),
    ("curve\n\tpublic-key = x\n", "line 2: indented by a tab"),
    ("curve\n        public-key = x\n", "line 2: it is indented by more than one step"),
    ("curve\n    public-key = \"\(publicText)\n", "line 2: the quote isn't closed"),
    ("curve\n    public-key = \"\(publicText)\" x\n", "line 2: something follows"),
    ("curve\n    public-key \"\(publicText)\"\n", "line 2: '=' is missing"),
    ("curve\n    = \"\(publicText)\"\n", "line 2: a name is missing"),
    ("curve\n    public-key = \"\(publicText)\"\n    public-key = \"\(publicText)\"\n", "line 3: a second public-key"),
    ("curve\n    public-key = \"\(publicText)\"\n    secret-key = \"\(publicText)#\"\n", "line 3: the secret-key"),
    (String(repeating: "x\n", count: 300), "line 257: too many lines"),
    (String(repeating: "x", count: 20_000), "20000 bytes"),
  ])
  func whatIsWrongIsSaid(text: String, problem: String) {
    do {
      _ = try Certificate(text: Array(text.utf8))
      Issue.record("taken: \(text.prefix(100))")
    } catch { #expect(error.description.contains(problem), "\(error)") }
  }

  @Test func anyBytesAreReadOrRefused() {
    var random = SeededGenerator(seed: 5)
    let whole = Array(Self.czmq.utf8)
    for _ in 0..<3000 {
      var bytes = whole
      for _ in 0..<Int.random(in: 1...6, using: &random) {
        let place = Int.random(in: 0..<bytes.count, using: &random)
        switch Int.random(in: 0...3, using: &random) {
        case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
        case 1: bytes.remove(at: place)
        case 2: bytes.insert(bytes[Int.random(in: 0..<bytes.count, using: &random)], at: place)
        case _: bytes.removeSubrange(place...)
        }
        if bytes.isEmpty { bytes = [0] }
      }
      // What is read is written and read again as the same.
      guard let certificate = try? Certificate(text: bytes) else { continue }
      let again = try? Certificate(text: Array(certificate.text([]).utf8))
      #expect(again?.publicKey == certificate.publicKey)
      #expect(again?.secretKey == certificate.secretKey)
    }
  }
}
