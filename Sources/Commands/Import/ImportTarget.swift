import NavigationModel
import WireFormat

/// Where imported entries go. Importing what is there already changes nothing.
protocol ImportTarget: AnyObject {
  /// What a person calls it.
  var name: String { get }
  /// How far it holds a stack's chains. Throws if it has the stack under another policy.
  func held(_ stack: ImportedStack) async throws -> [DeviceHead]
  /// Whether it has just these bytes under that name; nil if it can't be asked, and compares them when they are taken.
  func has(_ entry: ImportedEntry, of stack: ImportedStack) throws -> Bool?
  /// Takes the next entry of a stack, one that it doesn't hold or must compare. It is safe when ``finish()`` has
  /// returned; what came before may be safe earlier.
  func take(_ entry: ImportedEntry, of stack: ImportedStack) async throws
  /// Waits until everything is on stable storage.
  func finish() async throws
  /// How many entries were new, if that is only known when it is done; nil: those that it was said to lack.
  var added: Int? { get }
}

/// What going through a source before anything is written found.
struct ImportCheck {
  private(set) var stacks = 0
  private(set) var entries = 0
  /// How many entries the target lacks.
  private(set) var fresh = 0
  /// How far chains of the target were found to be the same: those entries are passed over.
  private var same: [Key: Int] = [:]
  /// The target's chains.
  private var held: [Key: DeviceHead] = [:]
  /// Chains of the target that are longer, or other ones: their entries are compared one by one where that can be done.
  private var doubtful: Set<Key> = []

  private struct Key: Hashable {
    var stack: StackName
    var chain: DeviceID
  }

  /// Goes through all of a source, and compares it with what the target has.
  ///
  /// - Parameter target: nil if there is none to compare with.
  init(_ source: ImportSource, _ target: (any ImportTarget)?, _ console: Console) async throws {
    var progress = ProgressLine(on: console)
    defer { progress.clear() }
    var seen: Set<StackName> = []
    var other: CommandError?
    try await source.forEach(tell: console.say) { stack, entry in
      if seen.insert(stack.stack).inserted {
        for head in try await target?.held(stack) ?? [] {
          held[Key(stack: stack.stack, chain: head.device)] = head
        }
      }
      entries += 1
      progress.update("\(entries) events checked")
      let key = Key(stack: stack.stack, chain: entry.dot.device)
      guard let head = held[key], entry.dot.sequence <= head.sequence else {
        fresh += 1
        return
      }
      if entry.dot.sequence < head.sequence {
        doubtful.insert(key)
      } else if stack.digest(of: entry.dot.device) == head.digest {
        doubtful.remove(key)
        same[key] = head.sequence
      } else {
        doubtful.insert(key)
        other =
          other
          ?? CommandError(
            .refused,
            "\(stack.stack): \(target?.name ?? "") has another history of the device of \(stack.text(entry.dot))")
      }
    }
    stacks = seen.count
    guard !doubtful.isEmpty, let target else { return }
    try await source.forEach { stack, entry in
      let key = Key(stack: stack.stack, chain: entry.dot.device)
      guard doubtful.contains(key), let head = held[key], entry.dot.sequence <= head.sequence else { return }
      guard let isSame = try target.has(entry, of: stack) else { return }
      guard isSame else {
        throw CommandError(
          .refused, "\(stack.stack): \(target.name) has another event called \(stack.text(entry.dot))")
      }
      same[key] = head.sequence
    }
    if let other { throw other }
  }

  /// Whether the target has that entry, as is known already.
  func isKnown(_ entry: ImportedEntry, of stack: ImportedStack) -> Bool {
    entry.dot.sequence <= same[Key(stack: stack.stack, chain: entry.dot.device)] ?? 0
  }
}
