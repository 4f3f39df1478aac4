import NavigationModel

/// A scenario as text, a line each: comments, who is in it and how it is set, and what happens when (in seconds).
///
///     # The disk of the first device is full for a while.
///     seed 7
///     devices at 0 0
///     1.000 device-0 main: push 2
///     1.500 disk full: device-0 for 3.000
///     2.000 device-0 main: pop 1, id 1
///     2.010 device-0 again: id 1
///     5.000 end
extension Scenario: CustomStringConvertible {
  public var description: String {
    var lines = why.map { $0.isEmpty ? "#" : "# \($0)" }
    lines += ["seed \(seed)"] + setting.lines
    lines += steps.map { "\(Self.seconds($0.at)) \(text($0.what))" }
    return (lines + ["\(Self.seconds(end)) end"]).joined(separator: "\n") + "\n"
  }

  static func seconds(_ milliseconds: Int) -> String {
    let rest = String(milliseconds.magnitude % 1000)
    return (milliseconds < 0 ? "-" : "") + "\(milliseconds.magnitude / 1000)."
      + String(repeating: "0", count: 3 - rest.count) + rest
  }

  private func text(_ what: Step.What) -> String {
    switch what {
    case .act(let device, let stack, let doing, let id):
      "device-\(device) \(setting.stacks[stack].stack): \(Self.text(doing))" + (id.map { ", id \($0)" } ?? "")
    case .again(let device, let id): "device-\(device) again: id \(id)"
    case .fault(let fault): Self.text(fault)
    }
  }

  private static func text(_ doing: Step.Doing) -> String {
    switch doing {
    case .push(let count): "push \(count)"
    case .pushLong: "push long"
    case .pop(let count): "pop \(count)"
    case .close(let count): "close \(count)"
    case .popToRoot: "pop to root"
    case .set(let keep, let add, let home): "set keep \(keep) add \(add)" + (home ? " home" : "")
    case .replace: "replace"
    }
  }

  static func text(_ fault: Fault) -> String {
    let words = fault.kind.words
    var parts = fault.places.map(\.description)
    if let word = words.amount { parts += [word, "\(fault.amount)"] }
    if let word = words.other { parts += [word, "\(fault.other)"] }
    if fault.lasts > 0 { parts += ["for", seconds(fault.lasts)] }
    return "\(fault.kind.rawValue): \(parts.joined(separator: " "))"
  }

  // MARK: Reading

  /// Why a text isn't a scenario.
  public struct Malformed: Error, CustomStringConvertible {
    public var description: String

    public init(description: String) { self.description = description }
  }

  /// - Throws: what is wrong in which line.
  public init(_ text: String) throws {
    self.init(seed: 0)
    var isEnded = false
    for (number, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
      func wrong(_ what: String) -> Malformed { Malformed(description: "line \(number + 1): \(what): \(line)") }
      if line.isEmpty { continue }
      if line.hasPrefix("#") {
        why.append(String(line.dropFirst(line.hasPrefix("# ") ? 2 : 1)))
        continue
      }
      guard !isEnded else { throw wrong("something after the end") }
      guard let space = line.firstIndex(of: " ") else { throw wrong("a line has a word and what it is set to") }
      let (first, rest) = (line[..<space], line[line.index(after: space)...])
      guard let at = Self.milliseconds(first) else {
        if first == "seed", let number = UInt64(rest) {
          seed = number
        } else if !setting.read(first, rest) {
          throw wrong("not a setting")
        }
        continue
      }
      guard at >= steps.last?.at ?? 0 else { throw wrong("it is earlier than what is before it") }
      if rest == "end" {
        end = at
        isEnded = true
      } else if let what = read(rest), isPossible(what) {
        steps.append(Step(at: at, what: what))
      } else {
        throw wrong("not something that can happen")
      }
    }
    guard isEnded else { throw Malformed(description: "the end is missing: a last line such as '20.000 end'") }
    guard setting.isWhole else {
      throw Malformed(description: "a device or link is at a daemon that isn't there, or a daemon has no link")
    }
  }

  static func milliseconds(_ text: some StringProtocol) -> Int? {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 2, parts[1].count == 3, let seconds = Int(parts[0]), let rest = Int(parts[1]), rest >= 0,
      (0..<1_000_000).contains(seconds)
    else { return nil }
    return seconds * 1000 + rest
  }

  private func read(_ text: Substring) -> Step.What? {
    guard let colon = text.firstIndex(of: ":") else { return nil }
    let head = text[..<colon]
    let tail = text[text.index(after: colon)...]
    let words = tail.split(separator: " ")
    if let kind = FaultKind(rawValue: String(head)) { return Self.fault(kind, words).map { .fault($0) } }
    let heads = head.split(separator: " ")
    guard heads.count == 2, case .device(let device) = Place(heads[0]) else { return nil }
    if heads[1] == "again" {
      guard words.count == 2, words[0] == "id", let id = Int(words[1]) else { return nil }
      return .again(device: device, id: id)
    }
    guard let stack = setting.stacks.firstIndex(where: { $0.stack.description == heads[1] }) else { return nil }
    let halves = tail.split(separator: ",")
    let id = halves.count == 2 ? Int(halves[1].split(separator: " ").last ?? "") : nil
    guard let words = halves.first?.split(separator: " "), let doing = Self.doing(words) else { return nil }
    return .act(device: device, stack: stack, doing, id: id)
  }

  private static func doing(_ words: [Substring]) -> Step.Doing? {
    switch words.first {
    case "push" where words.count == 2:
      words[1] == "long" ? .pushLong : Int(words[1]).flatMap { (1...512).contains($0) ? .push($0) : nil }
    case "pop" where words.count == 2: Int(words[1]).map { .pop($0) }
    case "pop": .popToRoot
    case "close" where words.count == 2: Int(words[1]).map { .close($0) }
    case "set" where words.count >= 5:
      if let keep = Int(words[2]), let add = Int(words[4]), keep >= 0, (0...512).contains(add) {
        .set(keep: keep, add: add, home: words.last == "home")
      } else {
        nil
      }
    case "replace": .replace
    case _: nil
    }
  }

  private static func fault(_ kind: FaultKind, _ words: [Substring]) -> Fault? {
    var fault = Fault(kind: kind)
    var rest = words[...]
    while let word = rest.popFirst() {
      if let place = Place(word) {
        fault.places.append(place)
        continue
      }
      guard let value = rest.popFirst() else { return nil }
      if word == "for", let time = milliseconds(value) {
        fault.lasts = time
      } else if String(word) == kind.words.amount, let number = Int(value) {
        fault.amount = number
      } else if String(word) == kind.words.other, let number = Int(value) {
        fault.other = number
      } else {
        return nil
      }
    }
    return fault
  }

  /// Whether everybody who is named is there.
  func isPossible(_ what: Step.What) -> Bool {
    switch what {
    case .act(let device, _, _, _), .again(let device, _): device < setting.devices
    case .fault(let fault):
      fault.places.allSatisfy {
        switch $0 {
        case .device(let number): number < setting.devices
        case .daemon(let number): number < setting.daemons
        }
      } && (fault.kind != .moved || (0..<setting.daemons).contains(fault.amount))
        && fault.places.count >= (fault.kind == .cloned ? 2 : fault.kind.isOfOne || fault.kind == .backup ? 1 : 0)
    }
  }
}

extension Setting {
  private static let numbers: [(name: String, path: any WritableKeyPath<Setting, Int> & Sendable)] = [
    ("slowest-job", \.slowestJob), ("credit", \.credit), ("events-an-append", \.eventsAnAppend),
    ("batch-bytes", \.batchBytes), ("commit-bytes", \.commitBytes), ("backlog-bytes", \.maximumBacklog),
    ("idle-stacks", \.idleStacks), ("high-water-mark", \.highWaterMark),
  ]

  /// Those that aren't as they are when nothing is said.
  fileprivate var lines: [String] {
    let plain = Setting()
    var lines: [String] = []
    if daemons != plain.daemons { lines.append("daemons \(daemons)") }
    if !links.isEmpty { lines.append("links " + links.map { "\($0.from)>\($0.to)" }.joined(separator: " ")) }
    lines.append("devices at " + homes.map(String.init).joined(separator: " "))
    if stacks != plain.stacks { lines.append("stacks " + stacks.map(\.stack.description).joined(separator: " ")) }
    if policy != plain.policy { lines.append("policy \(policy.rawValue)") }
    if latency != plain.latency { lines.append("latency \(latency.lowerBound)..\(latency.upperBound)") }
    for (name, path) in Self.numbers where self[keyPath: path] != plain[keyPath: path] {
      lines.append("\(name) \(self[keyPath: path])")
    }
    return lines
  }

  fileprivate mutating func read(_ name: Substring, _ rest: Substring) -> Bool {
    let words = rest.split(separator: " ")
    if let (_, path) = Self.numbers.first(where: { $0.name == name }) {
      guard let number = Int(rest), number >= 0 else { return false }
      self[keyPath: path] = number
      return true
    }
    switch name {
    case "daemons":
      guard let number = Int(rest), (1...9).contains(number) else { return false }
      daemons = number
    case "links":
      links = words.compactMap { word in
        let ends = word.split(separator: ">").compactMap { Int($0) }
        return ends.count == 2 ? Link(from: ends[0], to: ends[1]) : nil
      }
      return links.count == words.count
    case "devices":
      homes = words.dropFirst().compactMap { Int($0) }
      return words.first == "at" && homes.count == words.count - 1 && !homes.isEmpty
    case "stacks":
      guard words.allSatisfy({ (try? Name(String($0))) != nil }), !words.isEmpty else { return false }
      stacks = words.map { Self.stack(String($0)) }
    case "policy":
      guard let policy = ScenarioPolicy(rawValue: String(rest)) else { return false }
      self.policy = policy
    case "latency":
      let ends = rest.split(separator: ".").compactMap { Int($0) }
      guard ends.count == 2, ends[0] >= 0, ends[0] <= ends[1] else { return false }
      latency = ends[0]...ends[1]
    case _: return false
    }
    return true
  }

  /// Whether everybody is at a daemon that is there, and all daemons hang together.
  var isWhole: Bool {
    var reached: Set = [0]
    for _ in 0..<daemons {
      for link in links where reached.contains(link.from) || reached.contains(link.to) {
        reached.formUnion([link.from, link.to])
      }
    }
    return reached.count == daemons && homes.allSatisfy { (0..<daemons).contains($0) }
      && links.allSatisfy { (0..<daemons).contains($0.from) && (0..<daemons).contains($0.to) && $0.from != $0.to }
  }
}
