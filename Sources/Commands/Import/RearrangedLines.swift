import NavigationModel
import WireFormat

/// Puts the events of JSON lines from any source into the form of an export, in a temporary file: whatever their order,
/// and however often they are there.
///
/// An event stands where its line stands as far as causality allows it: lines in the order of a log keep it. Lines that
/// come too early wait for what they rest on, so they are sorted by chain (``LineSorter``), and the chains are merged.
/// Memory doesn't grow with the lines; the disk has to hold them.
///
/// - Parameter chosen: which stack's lines to take; nil: there must be one only.
/// - Throws: a ``CommandError`` that names the line of what can't be imported.
func rearranged(_ input: RereadableInput, stack chosen: StackName?, on console: Console) throws -> ExportFile {
  var progress = ProgressLine(on: console)
  defer { progress.clear() }
  let reader = try input.lines()
  var lines = EventLines(reader, stack: chosen, hint: "; --format names what else can be imported")
  var sorter = try LineSorter(for: input.name)
  while let line = try lines.next() {
    guard let device = DeviceID(line.device) else {
      throw reader.error("its devices are not ids, so it can't be imported, only folded")
    }
    try sorter.add(Dot(device, line.sequence), number: reader.lineNumber, lines.bytes)
    progress.update("\(sorter.count) events read")
  }
  func refuse(_ problem: String) -> CommandError { CommandError(.damage, "\(input.name): \(problem)") }
  if lines.header != nil, lines.trailer == nil { throw refuse("the trailer is missing, so the file was cut") }
  guard sorter.count > 0 else {
    guard let chosen else { throw refuse("it has no events") }
    throw CommandError(.notFound, "\(input.name): it has no events of \(chosen)")
  }
  guard let stack = try lines.stack() else { throw refuse("it doesn't say of which stack it is; use --stack") }
  var names = DeviceNames()
  for device in lines.header?.devices ?? [] { if let id = DeviceID(device.id) { names.note(device.name, of: id) } }
  let policy = try lines.headerPolicy()?.policy(among: names) ?? .merge

  let file = try TemporaryFile(for: input.name)
  let header = ExportHeader(
    stack: stack.description, policy: policy.description, devices: lines.header?.devices ?? [])
  var writer = ExportWriter(.binary, file.output)
  try writer.begin(header)
  var merge = try CausalMerge(of: try sorter.finish(), stack, named: input.name)
  var count = 0
  while let (event, bytes) = try merge.next() {
    count += 1
    try writer.write(event.dot, bytes, event, .empty, of: stack)
    progress.update("\(count) of \(sorter.count) events put in order")
  }
  if let wrong = lines.trailer.flatMap(merge.chains.wrongHead) {
    throw refuse("the trailer's head of \(wrong.device) is not what the events come to")
  }
  let heads = merge.chains.heads.map {
    ExportTrailer.Head(device: $0.device.description, sequence: $0.sequence, digest: $0.digest)
  }
  try writer.end(ExportTrailer(count: count, heads: heads))
  try file.output.flush()
  return ExportFile(RereadableInput(file, name: input.name), header, of: stack, policy, names)
}
