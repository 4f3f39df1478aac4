import CZeroMQ

/// One frame of bytes, an owner of libzmq's `zmq_msg_t`.
///
/// A copy shares the bytes (a counted reference, safe across threads), so one frame goes to many peers without copying
/// them. Frames of at most 33 bytes are kept inline. The bytes are not changed after the initializer.
public struct Frame: ~Copyable {
  // libzmq itself moves this struct bit by bit through its pipes, so Swift may move it too.
  var raw = zmq_msg_t()

  /// An empty frame.
  public init() { zmq_msg_init(&raw) }

  /// Copies the bytes, once.
  public init(_ bytes: [UInt8]) {
    self.init(count: bytes.count) { target in
      bytes.withUnsafeBytes { target.copyMemory(from: $0) }
    }
  }

  /// A frame of a size that the body fills: encode straight into it.
  public init(count: Int, _ fill: (UnsafeMutableRawBufferPointer) -> Void) {
    precondition(zmq_msg_init_size(&raw, count) == 0, "no memory for a frame of \(count) bytes")
    fill(UnsafeMutableRawBufferPointer(start: zmq_msg_data(&raw), count: count))
  }

  deinit {
    // `deinit` may not change the struct, and closing writes into it: close a bitwise copy, which owns the same.
    var ending = raw
    zmq_msg_close(&ending)
  }

  /// Another owner of the same bytes. Marks the frame as shared, which is why it is mutating.
  public mutating func copy() -> Frame {
    var result = Frame()
    precondition(zmq_msg_copy(&result.raw, &raw) == 0, "a frame's reference can't be copied")
    return result
  }

  public var count: Int {
    withUnsafePointer(to: raw) { zmq_msg_size($0) }
  }

  /// Of the connection that it came over (zmq_msg_get(3), `ZMQ_SRCFD`); nil of a frame that didn't come.
  var descriptor: Int32? {
    let number = withUnsafePointer(to: raw) { zmq_msg_get($0, ZMQ_SRCFD) }
    return number >= 0 ? number : nil
  }

  /// Whether another frame of the same message follows.
  var hasMore: Bool {
    withUnsafePointer(to: raw) { zmq_msg_more($0) != 0 }
  }

  /// The bytes, valid during the body only.
  public mutating func withBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
    // The bytes of small frames lie in the struct, so it has to stay where it is meanwhile.
    try withUnsafeMutablePointer(to: &raw) { pointer in
      try body(UnsafeRawBufferPointer(start: zmq_msg_data(pointer), count: zmq_msg_size(pointer)))
    }
  }

  /// A copy of the bytes.
  public mutating func bytes() -> [UInt8] { withBytes { [UInt8]($0) } }
}
