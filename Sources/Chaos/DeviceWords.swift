import Foundation

/// What a device's process tells its driver, a line each. What stands in the pipe outlives the process, so what was told
/// was told.
enum DeviceWord: Codable, Sendable {
  /// The device is open, under this id, with what opening its store found.
  case opened(device: String, notices: [String])
  /// An action is on the device's disk.
  case acted(Act)
  /// A daemon has this device's event, and those before it.
  case accepted(stack: String, device: String, sequence: Int)
  /// An action, or the opening of a stack, came to nothing.
  case refused(stack: String, code: String, message: String)
  /// The answer to ``DeviceOrder/report``.
  case report(device: String, [StackReport])

  /// An action that became an event.
  struct Act: Codable, Hashable, Sendable {
    var stack: String
    var device: String
    var sequence: Int
    /// Stands in the event, nowhere else and never again; nil for an action without a value.
    var mark: String?
  }

  /// How a stack stands on a device.
  struct StackReport: Codable, Sendable {
    var stack: String
    var waiting: Int
    var isLive: Bool
    var isConnected: Bool
    var problem: String?
    /// What is held, as `device: sequence`.
    var vector: [String: Int]
    /// The shown entries, bottom to top, as `device:sequence:place value`.
    var entries: [String]
  }
}

/// What a driver wants of a device's process, a line each.
enum DeviceOrder: Codable, Sendable {
  /// Act at random, with so many milliseconds from one action to the next on average.
  case act(milliseconds: Int)
  case pause
  case follow(String)
  case leave(String)
  case report
}

/// One value a line.
enum Line {
  static func text(_ value: some Encodable) -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    guard let data = try? encoder.encode(value) else { preconditionFailure("\(value) can't be written as JSON") }
    return String(decoding: data, as: UTF8.self)
  }

  static func read<Value: Decodable>(_ line: String, as value: Value.Type) throws -> Value {
    try JSONDecoder().decode(value, from: Data(line.utf8))
  }
}
