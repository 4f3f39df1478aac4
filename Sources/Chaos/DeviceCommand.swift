package import ArgumentParsing
package import Commands
import Foundation
import NavigationClient
import NavigationModel
import Simulation

/// `navsync-chaos device`: a device that does what its driver tells it over the standard input, and ends with it.
package struct DeviceCommand: RunnableCommand {
  package static let configuration = CommandConfiguration(
    name: "device", abstract: "Be a device that acts at random; what the others start.",
    discussion:
      "Reads orders from the standard input and tells what happens on the standard output, a line of JSON each.")

  @Option(placeholder: "NAME", help: "The device's name.") var name: String
  @Option(placeholder: "PATH", help: "The device's folder.") var folder: String
  @Option(placeholder: "ENDPOINT", help: "Its daemon.") var daemon: String
  @Option(placeholder: "PATH", help: "Its user's keys.") var keys: String
  @Option(placeholder: "NUMBER", help: "What it does at random follows from it; another one at each start.")
  var seed: Int
  @Option(placeholder: "STACK", help: "A stack that it follows from the beginning. May be given again.")
  var stack: [String] = []

  package init() {}

  package func run(on console: Console) async throws {
    let device = try await Device.open(
      name: name,
      options: Device.Options(daemon: daemon, keys: keys, folder: folder, lockWait: .seconds(20), software: "chaos"))
    let person = Person(device, seed: seed, console)
    await person.tell(.opened(device: "\(device.id)", notices: device.notices))
    for name in stack { await person.follow(name) }
    for await line in Self.lines() {
      switch try Line.read(line, as: DeviceOrder.self) {
      case .act(let milliseconds): await person.act(every: milliseconds)
      case .pause: await person.pause()
      case .follow(let name): await person.follow(name)
      case .leave(let name): await person.leave(name)
      case .report: await person.report()
      }
    }
    await person.pause()
    await device.close()
  }

  /// The lines of the standard input, read on a thread of its own.
  private static func lines() -> AsyncStream<String> {
    AsyncStream { continuation in
      let thread = Thread {
        while let line = readLine() { continuation.yield(line) }
        continuation.finish()
      }
      thread.start()
    }
  }
}

/// Who uses the device.
private actor Person {
  private struct Open {
    var stack: NavigationClient.Stack
    /// Own events that a daemon is to accept, in order.
    var acted: AsyncStream<Dot>.Continuation
    var watch: Task<Void, Never>
  }

  private let device: Device
  private let console: Console
  private let label: String
  private var random: Randomness
  private var stacks: [String: Open] = [:]
  private var acting: Task<Void, Never>?
  private var count = 0

  init(_ device: Device, seed: Int, _ console: Console) {
    self.device = device
    self.console = console
    label = "\(device.name).\(seed)"
    random = Randomness(seed: UInt64(seed), device.name)
  }

  func tell(_ word: DeviceWord) {
    // Whoever drives it is gone: so is what it told.
    try? console.print(Line.text(word))
  }

  func follow(_ name: String) async {
    guard stacks[name] == nil else { return }
    do {
      let stack = try await device.stack(name)
      let (dots, acted) = AsyncStream<Dot>.makeStream()
      let watch = Task {
        for await dot in dots {
          do {
            try await stack.accepted(dot, within: .seconds(1_000_000))
            self.tell(.accepted(stack: name, device: "\(dot.device)", sequence: dot.sequence))
          } catch { self.refused(name, error) }
        }
      }
      stacks[name] = Open(stack: stack, acted: acted, watch: watch)
    } catch { refused(name, error) }
  }

  func leave(_ name: String) {
    stacks[name]?.acted.finish()
    stacks[name]?.watch.cancel()
    stacks[name] = nil
  }

  func act(every milliseconds: Int) {
    acting?.cancel()
    acting = Task {
      while !Task.isCancelled {
        try? await Task.sleep(for: .milliseconds(self.random.wait(mean: milliseconds)))
        if !Task.isCancelled { await self.actOnce() }
      }
    }
  }

  /// No action is under way when it returns.
  func pause() async {
    acting?.cancel()
    await acting?.value
    acting = nil
  }

  func report() {
    let reports = stacks.sorted { $0.key < $1.key }.map { name, open in
      let state = open.stack.state
      return DeviceWord.StackReport(
        stack: name, waiting: state.waiting, isLive: state.isLive, isConnected: state.connection == .connected,
        problem: state.problem.map { "\($0.code.rawValue): \($0)" }, vector: words(state.vector),
        entries: words(state.entries))
    }
    tell(.report(device: "\(device.id)", reports))
  }

  private func actOnce() async {
    guard !stacks.isEmpty else { return }
    let name = random.pick(stacks.keys.sorted())
    guard let open = stacks[name] else { return }
    let (intent, mark) = nextIntent(depth: open.stack.state.entries.count)
    do {
      let outcome = try await open.stack.act(intent)
      guard let dot = outcome.dot else { return }
      tell(.acted(DeviceWord.Act(stack: name, device: "\(dot.device)", sequence: dot.sequence, mark: mark)))
      open.acted.yield(dot)
    } catch { refused(name, error) }
  }

  private func nextIntent(depth: Int) -> (Intent, mark: String?) {
    count += 1
    let mark = Mark.payload("\(label).\(count)")
    let value = Value(type: "Mark", payload: Array(mark.utf8))
    let more = Value(type: "Screen", payload: Array("{\"id\":\(random.int(1...9999))}".utf8))
    // A person doesn't leave hundreds of screens open.
    guard depth < 24 else { return (.set([value, more]), mark) }
    switch random.int(1...100) {
    case ...45: return (.push([value]), mark)
    case ...60: return (.push([value, more]), mark)
    case ...70: return (.replace(value), mark)
    case ...76: return (.set([value, more]), mark)
    case ...95: return (.pop(random.int(1...3)), nil)
    case _: return (.popToRoot, nil)
    }
  }

  private func refused(_ stack: String, _ error: any Error) {
    let code = (error as? ClientError)?.code.rawValue ?? "unknown"
    tell(.refused(stack: stack, code: code, message: "\(error)"))
  }
}

/// A vector as it is told and compared.
func words(_ vector: VersionVector) -> [String: Int] {
  Dictionary(uniqueKeysWithValues: vector.elements.map { ("\($0.device)", $0.sequence) })
}

/// Shown entries as they are told and compared.
func words(_ entries: [Entry]) -> [String] {
  entries.map { entry in "\(entry.id) \(entry.value.type) \(String(decoding: entry.value.payload, as: UTF8.self))" }
}
