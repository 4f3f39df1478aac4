import Foundation
import Glibc
import Simulation

extension Round {
  /// More connections than the daemon may have files: it serves those that it has, doesn't burn the processor, and lets
  /// others in when there is room.
  mutating func descriptors() async throws {
    try await fleet.stopDaemon()
    let files = random.int(64...160)
    try await fleet.startDaemon(wrapper: ["prlimit", "--nofile=\(files):\(files)"])
    fleet.note("the daemon may have \(files) open files")
    try await pause(300...800)
    let flood = Flood(at: fleet.place.folder + "/sync", connections: 2 * files)
    fleet.note("\(flood.count) connections are made")
    guard let daemon = fleet.daemon else { return }
    let before = ProcessSample(daemon.identifier)
    let victim = random.pick(fleet.devices)
    try await victim.kill()
    try start(victim)
    fleet.note("\(victim.name) is killed and started")
    fleet.pause()
    try await pause(1000...2500)
    if let before, let after = ProcessSample(daemon.identifier) {
      let share = after.processorShare(since: before)
      fleet.note(String(format: "the daemon took %.0f %% of a processor meanwhile", share * 100))
      guard share < 0.8 else {
        throw Failure("out of descriptors the daemon took \(Int(share * 100)) % of a processor")
      }
    }
    try await waitForLine("a connection could not be accepted")
    flood.end()
    fleet.note("the connections are closed")
    fleet.act(milliseconds: Self.pace)
  }

  /// A clock is set forward or back under a running process, and later put right.
  mutating func clock() async throws {
    let clock = try FakeClock(file: "\(fleet.place.folder)/clock")
    let device = random.chance(0.5) ? random.pick(fleet.devices) : nil
    let offset = random.pick([-86_400, -3_600, -90, -5, 5, 50, 90, 3_600, 86_400])
    if let device {
      try await device.stop()
      try start(device, environment: clock.environment)
    } else {
      try await fleet.stopDaemon()
      try await fleet.startDaemon(environment: clock.environment)
    }
    let who = device?.name ?? "the daemon"
    try await pause(300...1200)
    try clock.set(seconds: offset)
    fleet.note("the clock of \(who) is set by \(offset) s")
    try await pause(1200...3000)
    // Some are put right while they run, some by a start.
    if random.chance(0.5) {
      try clock.set(seconds: 0)
      fleet.note("the clock of \(who) is put right")
      try await pause(1200...2000)
    }
    if let device {
      try await device.stop()
      try start(device)
    } else {
      try await fleet.stopDaemon()
      try await fleet.startDaemon()
    }
    fleet.note("\(who) goes by the real clock again")
  }
}

/// Connections to a socket in the file system, by somebody who says nothing.
private final class Flood {
  private var descriptors: [Int32] = []

  var count: Int { descriptors.count }

  init(at path: String, connections: Int) {
    for _ in 0..<connections {
      let descriptor = socket(
        AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
      guard descriptor >= 0 else { return }
      var address = sockaddr_un()
      address.sun_family = sa_family_t(AF_UNIX)
      withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
      let status = withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
        }
      }
      // A full queue of connections is as good.
      guard status == 0 else {
        close(descriptor)
        return
      }
      descriptors.append(descriptor)
    }
  }

  deinit { end() }

  func end() {
    for descriptor in descriptors { close(descriptor) }
    descriptors = []
  }
}
