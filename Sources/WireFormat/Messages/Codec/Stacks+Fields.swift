import NavigationModel

extension DeviceHead: FieldCodable {
  init(from fields: inout FieldReader) throws(DecodeError) {
    var device: DeviceID?
    self.init(device: DeviceID(high: 0, low: 0), sequence: 0, digest: .empty)
    while let field = try fields.next() {
      switch field {
      case 1: device = try fields.device()
      case 2: sequence = try fields.number()
      case 3: digest = try fields.digest()
      case _: try fields.unknown(&unknown)
      }
    }
    self.device = try fields.require(device)
  }

  func write(to fields: inout FieldWriter) {
    fields.device(1, device)
    fields.number(2, sequence)
    fields.digest(3, digest)
    fields.unknown(unknown)
  }
}

extension Follow: FieldCodable {
  init(from fields: inout FieldReader) throws(DecodeError) {
    self.init(stack: "")
    var have: [DeviceHead] = []
    var offset = 0
    var epoch: UInt64?
    while let field = try fields.next() {
      switch field {
      case 1: stack = try fields.text()
      case 2: policy = try fields.policy()
      case 3: have.append(try fields.message())
      case 4: offset = try fields.number()
      case 5: epoch = try fields.fixed()
      case 6: wantsAuthorStates = try fields.flag()
      case 7: policySince.milliseconds = try fields.signed()
      case 8: policySince.counter = try fields.signed()
      case _: try fields.unknown(&unknown)
      }
    }
    guard let epoch else {
      guard offset == 0 else { throw fields.fault(.missingField) }
      start = .vector(have)
      return
    }
    guard have.isEmpty else { throw fields.fault(.notCanonical) }
    start = .offset(offset, epoch: epoch)
  }

  func write(to fields: inout FieldWriter) {
    fields.text(1, stack)
    fields.policy(2, policy)
    switch start {
    case .vector(let have):
      for head in have { fields.message(3, head) }
    case .offset(let offset, let epoch):
      fields.number(4, offset)
      fields.fixed(5, epoch, isOptional: true)
    }
    fields.flag(6, wantsAuthorStates)
    fields.signed(7, policySince.milliseconds)
    fields.signed(8, policySince.counter)
    fields.unknown(unknown)
  }
}

extension Following: FieldCodable {
  init(from fields: inout FieldReader) throws(DecodeError) {
    self.init(stack: "", exists: false, policy: nil, head: 0, heads: [])
    while let field = try fields.next() {
      switch field {
      case 1: stack = try fields.text()
      case 2: exists = try fields.flag()
      case 3: policy = try fields.policy()
      case 4: head = try fields.number()
      case 5: heads.append(try fields.message())
      case 6: policySince.milliseconds = try fields.signed()
      case 7: policySince.counter = try fields.signed()
      case _: try fields.unknown(&unknown)
      }
    }
  }

  func write(to fields: inout FieldWriter) {
    fields.text(1, stack)
    fields.flag(2, exists)
    fields.policy(3, policy)
    fields.number(4, head)
    for head in heads { fields.message(5, head) }
    fields.signed(6, policySince.milliseconds)
    fields.signed(7, policySince.counter)
    fields.unknown(unknown)
  }
}

extension EventsMessage: FieldCodable {
  init(from fields: inout FieldReader) throws(DecodeError) {
    self.init(stack: "", epoch: 0, previousOffset: 0, firstOffset: 0, batch: [])
    while let field = try fields.next() {
      switch field {
      case 1: stack = try fields.text()
      case 2: epoch = try fields.fixed()
      case 3: previousOffset = try fields.number()
      case 4: firstOffset = try fields.number()
      case 5: batch = try fields.run()
      case 6: authorStates.append(try fields.message())
      case _: try fields.unknown(&unknown)
      }
    }
  }

  func write(to fields: inout FieldWriter) {
    fields.text(1, stack)
    fields.fixed(2, epoch)
    fields.number(3, previousOffset)
    fields.number(4, firstOffset)
    fields.run(5, batch)
    for state in authorStates { fields.message(6, state) }
    fields.unknown(unknown)
  }
}

extension AuthorState: FieldCodable {
  init(from fields: inout FieldReader) throws(DecodeError) {
    var device: DeviceID?
    var context: [VersionVector.Element] = []
    var others: [DeviceID] = []
    var topSequence = 0
    var topIndex = 0
    self.init(device: DeviceID(high: 0, low: 0))
    while let field = try fields.next() {
      switch field {
      case 1: device = try fields.device()
      case 2: sequence = try fields.number()
      case 3: timestamp.milliseconds = try fields.signed()
      case 4: timestamp.counter = try fields.signed()
      case 5: context.append(try fields.vectorElement())
      case 6: others.append(try fields.device())
      case 7: topSequence = try fields.number()
      case 8: topIndex = try fields.number()
      case _: try fields.unknown(&unknown)
      }
    }
    self.device = try fields.require(device)
    self.context = try fields.vector(context)
    table = [self.device] + others
    if topSequence != 0 { top = EntryID(Dot(self.device, topSequence), topIndex) }
    guard table.count <= Self.maximumDevices else { throw fields.fault(.tooLarge) }
    // What no chain leads to is refused: a device in two places, a context that names the author or one not mentioned.
    let mentioned = Set(table)
    guard mentioned.count == table.count, topSequence == 0 || topSequence == sequence,
      self.context.elements.allSatisfy({ $0.device != self.device && mentioned.contains($0.device) })
    else { throw fields.fault(.notCanonical) }
  }

  func write(to fields: inout FieldWriter) {
    fields.device(1, device)
    fields.number(2, sequence)
    fields.signed(3, timestamp.milliseconds)
    fields.signed(4, timestamp.counter)
    fields.vector(5, context)
    for other in table.dropFirst() { fields.device(6, other) }
    if let top {
      fields.number(7, top.dot.sequence)
      fields.number(8, top.index)
    }
    fields.unknown(unknown)
  }
}

extension Live: FieldCodable {
  init(from fields: inout FieldReader) throws(DecodeError) {
    self.init(stack: "", offset: 0)
    while let field = try fields.next() {
      switch field {
      case 1: stack = try fields.text()
      case 2: offset = try fields.number()
      case _: try fields.unknown(&unknown)
      }
    }
  }

  func write(to fields: inout FieldWriter) {
    fields.text(1, stack)
    fields.number(2, offset)
    fields.unknown(unknown)
  }
}

extension Unfollow: FieldCodable {
  init(from fields: inout FieldReader) throws(DecodeError) {
    self.init(stack: "")
    while let field = try fields.next() {
      switch field {
      case 1: stack = try fields.text()
      case _: try fields.unknown(&unknown)
      }
    }
  }

  func write(to fields: inout FieldWriter) {
    fields.text(1, stack)
    fields.unknown(unknown)
  }
}

extension RangeRequest: FieldCodable {
  init(from fields: inout FieldReader) throws(DecodeError) {
    self.init(stack: "", epoch: 0, from: 0, to: 0)
    while let field = try fields.next() {
      switch field {
      case 1: stack = try fields.text()
      case 2: epoch = try fields.fixed()
      case 3: from = try fields.number()
      case 4: to = try fields.number()
      case _: try fields.unknown(&unknown)
      }
    }
  }

  func write(to fields: inout FieldWriter) {
    fields.text(1, stack)
    fields.fixed(2, epoch)
    fields.number(3, from)
    fields.number(4, to)
    fields.unknown(unknown)
  }
}

extension Append: FieldCodable {
  init(from fields: inout FieldReader) throws(DecodeError) {
    var device: DeviceID?
    self.init(stack: "", device: DeviceID(high: 0, low: 0), firstSequence: 0, previous: .empty, events: [])
    while let field = try fields.next() {
      switch field {
      case 1: stack = try fields.text()
      case 2: policy = try fields.policy()
      case 3: device = try fields.device()
      case 4: firstSequence = try fields.number()
      case 5: previous = try fields.digest()
      case 6: events.append(try fields.run())
      case _: try fields.unknown(&unknown)
      }
    }
    self.device = try fields.require(device)
  }

  func write(to fields: inout FieldWriter) {
    fields.text(1, stack)
    fields.policy(2, policy)
    fields.device(3, device)
    fields.number(4, firstSequence)
    fields.digest(5, previous)
    for event in events { fields.element(6, event) }
    fields.unknown(unknown)
  }
}

extension Accepted: FieldCodable {
  init(from fields: inout FieldReader) throws(DecodeError) {
    var device: DeviceID?
    self.init(stack: "", device: DeviceID(high: 0, low: 0), throughSequence: 0, offset: 0)
    while let field = try fields.next() {
      switch field {
      case 1: stack = try fields.text()
      case 2: device = try fields.device()
      case 3: throughSequence = try fields.number()
      case 4: offset = try fields.number()
      case _: try fields.unknown(&unknown)
      }
    }
    self.device = try fields.require(device)
  }

  func write(to fields: inout FieldWriter) {
    fields.text(1, stack)
    fields.device(2, device)
    fields.number(3, throughSequence)
    fields.number(4, offset)
    fields.unknown(unknown)
  }
}

extension Rejected: FieldCodable {
  init(from fields: inout FieldReader) throws(DecodeError) {
    var device: DeviceID?
    var missing: [VersionVector.Element] = []
    self.init(stack: "", dot: Dot(DeviceID(high: 0, low: 0), 0), code: RefusalCode(rawValue: 0), detail: "")
    while let field = try fields.next() {
      switch field {
      case 1: stack = try fields.text()
      case 2: device = try fields.device()
      case 3: dot.sequence = try fields.number()
      case 4: code = RefusalCode(rawValue: try fields.enumeration())
      case 5: detail = try fields.text()
      case 6: expectedSequence = try fields.number()
      case 7: missing.append(try fields.vectorElement())
      case 8: serverTime = try fields.number()
      case _: try fields.unknown(&unknown)
      }
    }
    dot.device = try fields.require(device)
    self.missing = try fields.vector(missing)
  }

  func write(to fields: inout FieldWriter) {
    fields.text(1, stack)
    fields.device(2, dot.device)
    fields.number(3, dot.sequence)
    fields.number(4, code.rawValue)
    fields.text(5, detail)
    fields.number(6, expectedSequence)
    fields.vector(7, missing)
    fields.number(8, serverTime)
    fields.unknown(unknown)
  }
}
