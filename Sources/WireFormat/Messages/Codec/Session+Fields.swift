import NavigationModel

extension Hello: FieldCodable {
  init(from fields: inout FieldReader) throws(DecodeError) {
    self.init(protocolVersion: 0)
    while let field = try fields.next() {
      switch field {
      case 1: protocolVersion = try fields.number()
      case 2: device = try fields.device()
      case 3: name = try fields.text()
      case 4: software = try fields.text()
      case _: try fields.unknown(&unknown)
      }
    }
  }

  func write(to fields: inout FieldWriter) {
    fields.number(1, protocolVersion)
    fields.device(2, device)
    fields.text(3, name)
    fields.text(4, software)
    fields.unknown(unknown)
  }
}

extension Welcome: FieldCodable {
  init(from fields: inout FieldReader) throws(DecodeError) {
    var daemon: DeviceID?
    self.init(daemon: DeviceID(high: 0, low: 0), epoch: 0, serverTime: 0)
    while let field = try fields.next() {
      switch field {
      case 1: daemon = try fields.device()
      case 2: epoch = try fields.fixed()
      case 3: serverTime = try fields.number()
      case 4: limits = try fields.message()
      case 5: feedEndpoint = try fields.text()
      case 6: software = try fields.text()
      case 7: nextKey = try fields.run()
      case _: try fields.unknown(&unknown)
      }
    }
    self.daemon = try fields.require(daemon)
  }

  func write(to fields: inout FieldWriter) {
    fields.device(1, daemon)
    fields.fixed(2, epoch)
    fields.number(3, serverTime)
    fields.message(4, limits)
    fields.text(5, feedEndpoint)
    fields.text(6, software)
    fields.run(7, nextKey)
    fields.unknown(unknown)
  }
}

extension Limits: FieldCodable {
  init(from fields: inout FieldReader) throws(DecodeError) {
    self.init()
    (message, event, value, eventsAnAppend, devicesAStack, follows, credit) = (0, 0, 0, 0, 0, 0, 0)
    while let field = try fields.next() {
      switch field {
      case 1: message = try fields.number()
      case 2: event = try fields.number()
      case 3: value = try fields.number()
      case 4: eventsAnAppend = try fields.number()
      case 5: devicesAStack = try fields.number()
      case 6: follows = try fields.number()
      case 7: credit = try fields.number()
      case _: try fields.unknown(&unknown)
      }
    }
  }

  func write(to fields: inout FieldWriter) {
    fields.number(1, message)
    fields.number(2, event)
    fields.number(3, value)
    fields.number(4, eventsAnAppend)
    fields.number(5, devicesAStack)
    fields.number(6, follows)
    fields.number(7, credit)
    fields.unknown(unknown)
  }
}

extension Refused: FieldCodable {
  init(from fields: inout FieldReader) throws(DecodeError) {
    self.init(about: Subject(rawValue: 0), code: RefusalCode(rawValue: 0), reason: "")
    while let field = try fields.next() {
      switch field {
      case 1: about = Subject(rawValue: try fields.enumeration())
      case 2: stack = try fields.text()
      case 3: code = RefusalCode(rawValue: try fields.enumeration())
      case 4: reason = try fields.text()
      case _: try fields.unknown(&unknown)
      }
    }
  }

  func write(to fields: inout FieldWriter) {
    fields.number(1, about.rawValue)
    fields.text(2, stack)
    fields.number(3, code.rawValue)
    fields.text(4, reason)
    fields.unknown(unknown)
  }
}

extension Credit: FieldCodable {
  init(from fields: inout FieldReader) throws(DecodeError) {
    self.init(bytes: 0)
    while let field = try fields.next() {
      switch field {
      case 1: bytes = try fields.number()
      case _: try fields.unknown(&unknown)
      }
    }
  }

  func write(to fields: inout FieldWriter) {
    fields.number(1, bytes)
    fields.unknown(unknown)
  }
}

extension StackHead: FieldCodable {
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

extension Ping: FieldCodable {
  init(from fields: inout FieldReader) throws(DecodeError) {
    self.init(heads: [])
    while let field = try fields.next() {
      switch field {
      case 1: heads.append(try fields.message())
      case _: try fields.unknown(&unknown)
      }
    }
  }

  func write(to fields: inout FieldWriter) {
    for head in heads { fields.message(1, head) }
    fields.unknown(unknown)
  }
}

extension Pong: FieldCodable {
  init(from fields: inout FieldReader) throws(DecodeError) {
    self.init(serverTime: 0, heads: [])
    while let field = try fields.next() {
      switch field {
      case 1: serverTime = try fields.number()
      case 2: heads.append(try fields.message())
      case _: try fields.unknown(&unknown)
      }
    }
  }

  func write(to fields: inout FieldWriter) {
    fields.number(1, serverTime)
    for head in heads { fields.message(2, head) }
    fields.unknown(unknown)
  }
}

extension Presence: FieldCodable {
  init(from fields: inout FieldReader) throws(DecodeError) {
    self.init(stack: "")
    var state: State?
    while let field = try fields.next() {
      switch field {
      case 1: stack = try fields.text()
      case 2: device = try fields.device()
      case 3: name = try fields.text()
      case 4:
        guard let known = State(rawValue: try fields.enumeration()) else { throw fields.fault(.unsupported) }
        state = known
      case 5: top = try fields.message(EntryID.self)
      case _: try fields.unknown(&unknown)
      }
    }
    self.state = try fields.require(state)
  }

  func write(to fields: inout FieldWriter) {
    fields.text(1, stack)
    fields.device(2, device)
    fields.text(3, name)
    fields.number(4, state.rawValue)
    if let top { fields.message(5, top) }
    fields.unknown(unknown)
  }
}

extension EntryID: FieldCodable {
  init(from fields: inout FieldReader) throws(DecodeError) {
    var device: DeviceID?
    var sequence = 0
    var index = 0
    while let field = try fields.next() {
      switch field {
      case 1: device = try fields.device()
      case 2: sequence = try fields.number()
      case 3: index = try fields.number()
      case _: try fields.skip()
      }
    }
    guard sequence >= 1 else { throw fields.fault(.missingField) }
    self.init(Dot(try fields.require(device), sequence), index)
  }

  func write(to fields: inout FieldWriter) {
    fields.device(1, dot.device)
    fields.number(2, dot.sequence)
    fields.number(3, index)
  }
}
