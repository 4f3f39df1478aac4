import Access
import Foundation
import KeyFiles
import TestSupport
import Testing
import ZeroMQ

/// Certificates against pyzmq, both ways.
@Suite(.enabled(if: Pyzmq.python != nil, "there is no Python with pyzmq: install python3-zmq"))
struct PyzmqTests {
  @Test func pyzmqReadsOurs() async throws {
    try await withTemporaryFolder { place in
      let folder = KeyFolder(place.appendingPathComponent("keys").path)
      let keys = try folder.makeKeys(metadata: [.init("name", "phone")])
      let program = "import sys, zmq.auth; print(*[k.decode() for k in zmq.auth.load_certificate(sys.argv[1]) if k])"
      let both = try Pyzmq.run(Pyzmq.python ?? "", program, [folder.secretPath()])
      #expect(both == "\(keys.publicKey) \(keys.secretKey.text)\n")
      let handedOut = try Pyzmq.run(Pyzmq.python ?? "", program, [folder.publicPath()])
      #expect(handedOut == "\(keys.publicKey)\n")
    }
  }

  @Test func weReadPyzmqs() async throws {
    try await withTemporaryFolder { place in
      let program = """
        import sys, zmq.auth
        public, secret = zmq.auth.create_certificates(sys.argv[1], "phone", {"name": "of Alice"})
        print(*[k.decode() for k in zmq.auth.load_certificate(secret)])
        """
      let words = try Pyzmq.run(Pyzmq.python ?? "", program, [place.path]).split { $0.isWhitespace }.map(String.init)
      let secretFile = place.appendingPathComponent("phone.key_secret").path
      try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: secretFile)
      let secret = try #require(try KeyFolder.certificate(at: secretFile, isSecret: true))
      #expect([secret.publicKey.description, secret.secretKey?.text] == words)
      let handedOut = try #require(
        try KeyFolder.certificate(at: place.appendingPathComponent("phone.key").path))
      #expect(handedOut.publicKey == secret.publicKey && handedOut.secretKey == nil)
    }
  }
}
