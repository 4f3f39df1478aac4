package import ZeroMQ

/// What an engine needs of the loop that it lives on: sockets. A ``ZeroMQ/Loop``, or a simulated network.
package protocol EngineLink {
  /// Opens a socket that connects, and connects again, until it is closed.
  func dealer(connect endpoint: Endpoint, _ options: SocketOptions) throws(ZeroMQError) -> SocketID
  /// Closes a socket; what is queued is lost.
  func close(_ socket: SocketID)
  /// Never waits.
  func send(_ body: [UInt8], on dealer: SocketID) -> SendResult
  /// Has the engine told, once, when a socket that was full has room.
  func notifyWhenWritable(_ socket: SocketID)
  /// Ends the engine after this turn.
  func stop()
}

extension Loop: EngineLink {}
