import Commands
import Foundation
import NavigationModel
import WireFormat
import ZeroMQ

func takeLine(_ bytes: [UInt8]) throws(BrokenLaw) -> Bool {
  guard let line = try? JSONLine(parsing: bytes) else { return false }
  let written = line.bytes
  guard let read = try? JSONLine(parsing: written) else {
    throw BrokenLaw("a line can't be read back: \(String(decoding: written, as: UTF8.self))")
  }
  try hold(read == line, "a line is read back as another: \(String(decoding: written, as: UTF8.self))")
  try hold(read.bytes == written, "a line is written in two ways")
  try hold(!written.contains(UInt8(ascii: "\n")), "a line has a line break in it")
  guard case .event(let named) = line else { return true }
  var ids: [String: DeviceID] = [:]
  for (place, text) in named.devices.enumerated() { ids[text] = DeviceID(high: 0, low: UInt64(place)) }
  guard let event = try? named.event(resolving: { ids[$0] }) else { return true }
  try takeLine(of: event)
  return true
}

func takeNames(_ bytes: [UInt8]) throws(BrokenLaw) -> Bool {
  guard let text = String(validating: bytes, as: UTF8.self) else { return false }
  var isTaken = false
  func same(_ description: String?) throws(BrokenLaw) {
    guard let description else { return }
    isTaken = true
    try hold(description.utf8.elementsEqual(bytes), "\(text) is written as \(description)")
  }
  try same((try? Name(text))?.description)
  try same((try? StackName(text))?.description)
  try same(DeviceID(text)?.description)
  try same(Digest(text)?.description)
  try same(Policy(text)?.description)
  try same(EventLine.EntryName(text)?.description)
  if let time = try? WallTime(argument: text) {
    isTaken = true
    _ = time.milliseconds(now: 1_700_000_000_000)
  }
  if let text = JSONText.unquoted(bytes) {
    isTaken = true
    try hold(JSONText.unquoted(JSONText.quoted(text)) == text, "a text is another after it was quoted")
  }
  return isTaken
}

func takeEndpoint(_ bytes: [UInt8]) throws(BrokenLaw) -> Bool {
  guard let text = String(validating: bytes, as: UTF8.self), let endpoint = try? Endpoint(text) else { return false }
  guard let read = try? Endpoint(endpoint.description) else { throw BrokenLaw("\(endpoint) can't be read back") }
  try hold(read == endpoint, "\(endpoint) is read back as \(read)")
  _ = endpoint.isLoopback
  try hold((endpoint.path == nil) == !text.hasPrefix("ipc://"), "\(endpoint) has a path, or lacks one")
  return true
}

/// Everything that a file of recorded paths goes through, up to the canonical events.
func takeWikispeedia(_ bytes: [UInt8]) throws(BrokenLaw) -> Bool {
  guard let temporary = tmpfile() else { preconditionFailure("no temporary file: \(errno)") }
  defer { fclose(temporary) }
  let file = fileno(temporary)
  precondition(write(file, bytes, bytes.count) == bytes.count && lseek(file, 0, SEEK_SET) == 0, "\(errno)")
  let console = Console(input: file, output: file, error: file, environment: [:])
  var chains: [StackName: StackChains] = [:]
  do {
    var reader = WikispeediaReader(try LineReader(path: "-", on: console, maximumLineLength: 1 << 16))
    while let session = try reader.next() {
      for event in session.events {
        let written = try? chains[session.stack, default: StackChains(stack: session.stack)].append(event)
        try hold(written != nil, "\(event) can't be written")
      }
    }
  } catch let error as BrokenLaw { throw error } catch { return false }
  return !chains.isEmpty
}
