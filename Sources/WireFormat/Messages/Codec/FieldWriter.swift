import NavigationModel

/// Writes protobuf fields (protobuf.dev, "Encoding"). Fields with their default value are left out, as in proto3.
struct FieldWriter {
  private(set) var bytes: [UInt8] = []

  /// The kinds of field that are written and read.
  enum WireType: UInt64 {
    case varint = 0
    case fixed64 = 1
    case run = 2
    case fixed32 = 5
  }

  init(capacity: Int) { bytes.reserveCapacity(capacity) }

  /// A `uint64` or an enumeration's number. A number that no reader takes is a fault of the caller.
  mutating func number(_ field: Int, _ number: Int) {
    precondition((0...Dot.maximumSequence).contains(number), "field \(field) can't hold \(number)")
    guard number != 0 else { return }
    tag(field, .varint)
    bytes.append(number: number)
  }

  /// An `sint64`.
  mutating func signed(_ field: Int, _ number: Int) {
    precondition(number.magnitude <= Timestamp.maximumMagnitude, "field \(field) can't hold \(number)")
    guard number != 0 else { return }
    tag(field, .varint)
    bytes.append(signed: number)
  }

  mutating func flag(_ field: Int, _ flag: Bool) { number(field, flag ? 1 : 0) }

  /// A `fixed64`, least significant byte first; of an `optional` one zero is written, too.
  mutating func fixed(_ field: Int, _ word: UInt64, isOptional: Bool = false) {
    guard isOptional || word != 0 else { return }
    tag(field, .fixed64)
    bytes.append(word: word.byteSwapped)
  }

  mutating func text(_ field: Int, _ text: String) {
    guard !text.isEmpty else { return }
    element(field, text)
  }

  /// A member of a repeated `string`.
  mutating func element(_ field: Int, _ text: String) {
    tag(field, .run)
    bytes.append(number: text.utf8.count)
    bytes.append(contentsOf: text.utf8)
  }

  mutating func run(_ field: Int, _ run: [UInt8]) {
    guard !run.isEmpty else { return }
    element(field, run)
  }

  /// A member of a repeated `bytes`.
  mutating func element(_ field: Int, _ run: [UInt8]) {
    tag(field, .run)
    bytes.append(number: run.count)
    bytes.append(contentsOf: run)
  }

  mutating func device(_ field: Int, _ device: DeviceID?) {
    guard let device else { return }
    halves(field, device.high, device.low)
  }

  mutating func digest(_ field: Int, _ digest: Digest) {
    guard digest != .empty else { return }
    halves(field, digest.high, digest.low)
  }

  private mutating func halves(_ field: Int, _ high: UInt64, _ low: UInt64) {
    tag(field, .run)
    bytes.append(16)
    bytes.append(word: high)
    bytes.append(word: low)
  }

  mutating func policy(_ field: Int, _ policy: Policy?) {
    guard let policy else { return }
    element(field, policy.description)
  }

  mutating func vector(_ field: Int, _ vector: VersionVector) {
    for element in vector.elements {
      tag(field, .run)
      let start = bytes.count
      device(1, element.device)
      number(2, element.sequence)
      putLength(at: start)
    }
  }

  mutating func message(_ field: Int, _ message: some FieldCodable) {
    tag(field, .run)
    let start = bytes.count
    message.write(to: &self)
    putLength(at: start)
  }

  /// Fields of a newer protocol, as they came.
  mutating func unknown(_ fields: UnknownFields) { bytes.append(contentsOf: fields) }

  private mutating func tag(_ field: Int, _ type: WireType) { bytes.append(number: field << 3 | Int(type.rawValue)) }

  /// Puts the length of what was written since `start` before it.
  mutating func putLength(at start: Int) {
    let length = bytes.count - start
    if length < 128 {
      bytes.insert(UInt8(length), at: start)
    } else {
      var spelled: [UInt8] = []
      spelled.append(number: length)
      bytes.insert(contentsOf: spelled, at: start)
    }
  }
}

/// A message that is a run of fields.
protocol FieldCodable {
  init(from fields: inout FieldReader) throws(DecodeError)
  /// Writes the known fields by ascending number, then the unknown ones.
  func write(to fields: inout FieldWriter)
}
