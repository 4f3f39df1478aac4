import Commands
import Foundation
import Links
import NavigationModel
import WireFormat

/// Routes, a line of `=`, and the link.
func takeLink(_ bytes: [UInt8]) throws(BrokenLaw) -> Bool {
  guard let text = String(validating: bytes, as: UTF8.self) else { return false }
  let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
  guard let border = lines.lastIndex(of: "="), let link = lines[(border + 1)...].first,
    let routes = try? Routes(parsing: lines[..<border].joined(separator: "\n"))
  else { return false }
  guard let values = try? routes.values(of: String(link)) else { return false }
  // A path's link shows that path, though it may be spelled otherwise.
  guard let spelled = try? routes.link(to: values) else { return true }
  let read = try? routes.values(of: spelled)
  try hold(read == values, "\(link) shows \(values), whose link \(spelled) shows \(String(describing: read))")
  return true
}

func takePath(_ bytes: [UInt8]) throws(BrokenLaw) -> Bool {
  guard let strings = try? JSONDecoder().decode([String].self, from: Data(bytes)),
    let path = try? SavedPath(strings: strings)
  else { return false }
  for names in SavedPath.Names.allCases {
    let written = path.strings(names: names)
    let read = try? SavedPath(strings: written)
    try hold(read == path, "\(path) is written as \(written) and read back as \(String(describing: read))")
    try hold(read?.strings(names: names) == written, "\(path) is written in two ways")
  }
  return true
}

/// The first byte says what the rest is: a whole file, or the events of a binary export, which its checksums would keep
/// from any change.
func takeExport(_ bytes: [UInt8]) throws(BrokenLaw) -> Bool {
  guard let kind = bytes.first else { return false }
  var file = Array(bytes.dropFirst())
  if kind % 2 == 1 {
    let header = ExportHeader(stack: "a/b", policy: "merge", format: 2)
    file =
      BinaryExport.magic + BinaryExport.block(.header, header.bytes, number: 0)
      + BinaryExport.block(.events, file, number: 1)
  }
  guard let temporary = tmpfile() else { preconditionFailure("no temporary file: \(errno)") }
  defer { fclose(temporary) }
  let descriptor = fileno(temporary)
  precondition(write(descriptor, file, file.count) == file.count && lseek(descriptor, 0, SEEK_SET) == 0, "\(errno)")
  let console = Console(input: descriptor, output: descriptor, error: descriptor, environment: [:])
  // The entries up to a place that is wrong, and the chains that they come to.
  guard let read = try? entries(on: console), !read.entries.isEmpty else { return false }
  var chains = StackChains(stack: read.stack)
  for (dot, bytes) in read.entries {
    let taken: Void? = try? { _ = try chains.receive(dot, bytes) }()
    try hold(taken != nil, "\(dot) was taken from an export, and can't be taken again")
  }
  try hold(chains.heads == read.heads, "an export's entries come to \(chains.heads) and not to \(read.heads)")
  return true
}
