import Access
import Foundation
import KeyFiles
import NavigationModel
import SyncDaemon
import TestSupport
import Testing
import WireFormat

@testable import ZeroMQ

/// A daemon, and clients that are Python programs with pyzmq: keys of either's making.
@Suite(.enabled(if: Pyzmq.python != nil, "there is no Python with pyzmq: install python3-zmq"), .timeLimit(.minutes(5)))
struct PyzmqClientTests {
  /// Says Hello and prints the answer as hexadecimal; or what became of the handshake.
  static let client = """
    import sys, zmq, zmq.auth
    from zmq.utils.monitor import recv_monitor_message
    endpoint, own, server, hello = sys.argv[1:5]
    context = zmq.Context()
    socket = context.socket(zmq.DEALER)
    socket.linger = 0
    socket.curve_publickey, socket.curve_secretkey = zmq.auth.load_certificate(own)
    socket.curve_serverkey, _ = zmq.auth.load_certificate(server)
    monitor = socket.get_monitor_socket()
    socket.connect(endpoint)
    while True:
        event = recv_monitor_message(monitor)
        if event["event"] == zmq.EVENT_HANDSHAKE_FAILED_AUTH:
            print("refused", event["value"])
            break
        if event["event"] == zmq.EVENT_HANDSHAKE_SUCCEEDED:
            socket.send(bytes.fromhex(hello))
            print(socket.recv().hex())
            break
    socket.disable_monitor()
    socket.close()
    """

  static func hexadecimal(_ bytes: [UInt8]) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }

  @Test func aPythonProgramIsAClientLikeAnyOther() async throws {
    try await KeyTests.withPlace { place in
      let daemon = try place.start()
      defer { daemon.stop() }
      // One key that pyzmq made, and one of ours.
      let made = """
        import sys, zmq.auth
        zmq.auth.create_certificates(sys.argv[1], "python")
        """
      try Pyzmq.run(Pyzmq.python ?? "", made, [place.folder.path])
      let user = KeyFolder(place.folder.path + "/user")
      try user.makeKeys()
      for (number, files) in [
        (place.folder.path + "/python.key", place.folder.path + "/python.key_secret"),
        (user.publicPath(), user.secretPath()),
      ].enumerated() {
        let hello = Self.hexadecimal(Message.hello(Hello(software: "pyzmq")).encoded())
        let arguments = ["\(daemon.endpoints[0])", files.1, place.keys.publicPath(), hello]
        #expect(try Pyzmq.run(Pyzmq.python ?? "", Self.client, arguments) == "refused 400\n")
        let key = try #require(try KeyFolder.certificate(at: files.0)).publicKey
        try place.allow(key, "python\(number)")
        try place.reload(daemon)
        let answer = try Pyzmq.run(Pyzmq.python ?? "", Self.client, arguments).filter { !$0.isWhitespace }
        var digits = Array(answer)[...]
        var bytes: [UInt8] = []
        while digits.count >= 2 {
          bytes.append(try #require(UInt8(String(digits.prefix(2)), radix: 16)))
          digits = digits.dropFirst(2)
        }
        guard case .welcome(let welcome) = try Message(decoding: bytes) else {
          Issue.record("not welcome: \(answer)")
          continue
        }
        #expect(welcome.software == "navsyncd")
      }
    }
  }
}
