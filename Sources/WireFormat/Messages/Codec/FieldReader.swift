import NavigationModel

/// Reads protobuf fields in place, each within the bounds of the message it stands in. A field that stands twice counts
/// as it stands last, as protobuf has it; an overlong varint is taken, too.
struct FieldReader {
  private let bytes: [UInt8]
  private var at: Int
  private let end: Int
  /// What is being read, for errors.
  let what: String
  /// Of the field that ``next()`` went to.
  private var type = FieldWriter.WireType.varint
  private var tagStart: Int
  private var hasValue = false

  init(_ bytes: [UInt8], in range: Range<Int>, what: String) {
    self.bytes = bytes
    at = range.lowerBound
    end = range.upperBound
    tagStart = at
    self.what = what
  }

  func fault(_ code: DecodeError.Code) -> DecodeError { DecodeError(code, at: tagStart, in: what) }

  /// The number of the next field, nil at the end. The value is taken by one of the calls below.
  mutating func next() throws(DecodeError) -> Int? {
    precondition(!hasValue, "a field's value was left")
    guard at < end else { return nil }
    tagStart = at
    let tag = try varint()
    guard tag >> 3 >= 1, tag >> 3 < 1 << 29 else { throw fault(.badNumber) }
    guard let type = FieldWriter.WireType(rawValue: tag & 7) else { throw fault(.unsupported) }
    self.type = type
    hasValue = true
    return Int(tag >> 3)
  }

  // MARK: Values

  /// A number that is exact everywhere.
  mutating func number(limit: Int = Dot.maximumSequence) throws(DecodeError) -> Int {
    try expect(.varint)
    let number = try varint()
    guard number <= UInt64(limit) else { throw fault(.badNumber) }
    return Int(number)
  }

  mutating func signed() throws(DecodeError) -> Int {
    try expect(.varint)
    let zigzag = try varint()
    let number = Int(bitPattern: UInt(zigzag >> 1)) ^ -Int(zigzag & 1)
    guard number.magnitude <= Timestamp.maximumMagnitude else { throw fault(.badNumber) }
    return number
  }

  mutating func flag() throws(DecodeError) -> Bool {
    try expect(.varint)
    return try varint() != 0
  }

  /// An enumeration's number; negative ones are refused.
  mutating func enumeration() throws(DecodeError) -> Int { try number(limit: Int(Int32.max)) }

  mutating func fixed() throws(DecodeError) -> UInt64 {
    try expect(.fixed64)
    return try word().byteSwapped
  }

  mutating func text() throws(DecodeError) -> String {
    let range = try range()
    guard let text = bytes.text(in: range) else { throw fault(.badText) }
    return text
  }

  mutating func run() throws(DecodeError) -> [UInt8] { Array(bytes[try range()]) }

  mutating func device() throws(DecodeError) -> DeviceID {
    let (high, low) = try halves()
    return DeviceID(high: high, low: low)
  }

  mutating func digest() throws(DecodeError) -> Digest {
    let (high, low) = try halves()
    return Digest(high: high, low: low)
  }

  mutating func policy() throws(DecodeError) -> Policy? {
    let text = try text()
    if text.isEmpty { return nil }
    guard let policy = Policy(text) else { throw fault(.unsupported) }
    return policy
  }

  mutating func message<Part: FieldCodable>(_: Part.Type = Part.self) throws(DecodeError) -> Part {
    var fields = FieldReader(bytes, in: try range(), what: what)
    return try Part(from: &fields)
  }

  /// One element of a version vector, to be put together by ``vector(_:)``.
  mutating func vectorElement() throws(DecodeError) -> VersionVector.Element {
    var fields = FieldReader(bytes, in: try range(), what: what)
    var device: DeviceID?
    var sequence = 0
    while let field = try fields.next() {
      switch field {
      case 1: device = try fields.device()
      case 2: sequence = try fields.number()
      case _: try fields.skip()
      }
    }
    return VersionVector.Element(device: try require(device), sequence: sequence)
  }

  func vector(_ elements: [VersionVector.Element]) throws(DecodeError) -> VersionVector {
    guard let vector = VersionVector(ascending: elements) else { throw fault(.notCanonical) }
    return vector
  }

  func require<Part>(_ part: Part?) throws(DecodeError) -> Part {
    guard let part else { throw fault(.missingField) }
    return part
  }

  /// Keeps a field that isn't known, tag and all.
  mutating func unknown(_ fields: inout UnknownFields) throws(DecodeError) {
    let start = tagStart
    try skip()
    fields.append(contentsOf: bytes[start..<at])
  }

  mutating func skip() throws(DecodeError) {
    hasValue = false
    switch type {
    case .varint: _ = try varint()
    case .fixed64: try pass(8)
    case .fixed32: try pass(4)
    case .run: try pass(try length())
    }
  }

  // MARK: Parts

  private mutating func expect(_ wanted: FieldWriter.WireType) throws(DecodeError) {
    guard type == wanted else { throw fault(.badLength) }
    hasValue = false
  }

  private mutating func range() throws(DecodeError) -> Range<Int> {
    try expect(.run)
    let length = try length()
    let start = at
    try pass(length)
    return start..<at
  }

  private mutating func length() throws(DecodeError) -> Int {
    let length = try varint()
    guard length <= UInt64(end - at) else { throw fault(.truncated) }
    return Int(length)
  }

  private mutating func pass(_ count: Int) throws(DecodeError) {
    guard count <= end - at else { throw fault(.truncated) }
    at += count
  }

  private mutating func halves() throws(DecodeError) -> (UInt64, UInt64) {
    let range = try range()
    guard range.count == 16 else { throw fault(.badLength) }
    at = range.lowerBound
    return (try word(), try word())
  }

  /// Eight bytes, the most significant first.
  private mutating func word() throws(DecodeError) -> UInt64 {
    guard end - at >= 8 else { throw fault(.truncated) }
    var result: UInt64 = 0
    for place in at..<at + 8 { result = result << 8 | UInt64(bytes[place]) }
    at += 8
    return result
  }

  private mutating func varint() throws(DecodeError) -> UInt64 {
    var result: UInt64 = 0
    var shift: UInt64 = 0
    while true {
      guard at < end else { throw fault(.truncated) }
      let byte = bytes[at]
      at += 1
      guard shift < 63 || byte <= 1 else { throw fault(.badNumber) }
      result |= UInt64(byte & 127) << shift
      if byte < 128 { return result }
      shift += 7
    }
  }
}
