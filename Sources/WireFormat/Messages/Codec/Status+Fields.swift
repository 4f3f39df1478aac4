import NavigationModel

extension List: FieldCodable {
  init(from fields: inout FieldReader) throws(DecodeError) {
    self.init()
    while let field = try fields.next() {
      switch field {
      case 1: space = try fields.text()
      case 2: devicesOnly = try fields.flag()
      case 3: follows = try fields.flag()
      case _: try fields.unknown(&unknown)
      }
    }
  }

  func write(to fields: inout FieldWriter) {
    fields.text(1, space)
    fields.flag(2, devicesOnly)
    fields.flag(3, follows)
    fields.unknown(unknown)
  }
}

extension Listing: FieldCodable {
  init(from fields: inout FieldReader) throws(DecodeError) {
    self.init(last: false)
    while let field = try fields.next() {
      switch field {
      case 1: stacks.append(try fields.message())
      case 2: devices.append(try fields.message())
      case 3: last = try fields.flag()
      case _: try fields.unknown(&unknown)
      }
    }
  }

  func write(to fields: inout FieldWriter) {
    for stack in stacks { fields.message(1, stack) }
    for device in devices { fields.message(2, device) }
    fields.flag(3, last)
    fields.unknown(unknown)
  }
}

extension Listing.Stack: FieldCodable {
  init(from fields: inout FieldReader) throws(DecodeError) {
    var policy: Policy?
    self.init(stack: "", policy: .merge, head: 0, devices: 0, lastStored: 0)
    while let field = try fields.next() {
      switch field {
      case 1: stack = try fields.text()
      case 2: policy = try fields.policy()
      case 3: head = try fields.number()
      case 4: devices = try fields.number()
      case 5: lastStored = try fields.number()
      case _: try fields.unknown(&unknown)
      }
    }
    self.policy = try fields.require(policy)
  }

  func write(to fields: inout FieldWriter) {
    fields.text(1, stack)
    fields.policy(2, policy)
    fields.number(3, head)
    fields.number(4, devices)
    fields.number(5, lastStored)
    fields.unknown(unknown)
  }
}

extension Listing.Device: FieldCodable {
  init(from fields: inout FieldReader) throws(DecodeError) {
    var device: DeviceID?
    self.init(device: DeviceID(high: 0, low: 0), name: "", connected: false, lastSeen: 0)
    while let field = try fields.next() {
      switch field {
      case 1: device = try fields.device()
      case 2: name = try fields.text()
      case 3: connected = try fields.flag()
      case 4: lastSeen = try fields.number()
      case _: try fields.unknown(&unknown)
      }
    }
    self.device = try fields.require(device)
  }

  func write(to fields: inout FieldWriter) {
    fields.device(1, device)
    fields.text(2, name)
    fields.flag(3, connected)
    fields.number(4, lastSeen)
    fields.unknown(unknown)
  }
}

extension StatusRequest: FieldCodable {
  init(from fields: inout FieldReader) throws(DecodeError) {
    self.init()
    while try fields.next() != nil { try fields.unknown(&unknown) }
  }

  func write(to fields: inout FieldWriter) { fields.unknown(unknown) }
}

extension StatusReport: FieldCodable {
  init(from fields: inout FieldReader) throws(DecodeError) {
    var daemon: DeviceID?
    self.init(
      software: "", daemon: DeviceID(high: 0, low: 0), epoch: 0, startedAt: 0, store: "", endpoints: [], counters: [])
    while let field = try fields.next() {
      switch field {
      case 1: software = try fields.text()
      case 2: daemon = try fields.device()
      case 3: epoch = try fields.fixed()
      case 4: startedAt = try fields.number()
      case 5: store = try fields.text()
      case 6: endpoints.append(try fields.text())
      case 7: counters.append(try fields.message())
      case 8: peers.append(try fields.message())
      case _: try fields.unknown(&unknown)
      }
    }
    self.daemon = try fields.require(daemon)
  }

  func write(to fields: inout FieldWriter) {
    fields.text(1, software)
    fields.device(2, daemon)
    fields.fixed(3, epoch)
    fields.number(4, startedAt)
    fields.text(5, store)
    for endpoint in endpoints { fields.element(6, endpoint) }
    for counter in counters { fields.message(7, counter) }
    for peer in peers { fields.message(8, peer) }
    fields.unknown(unknown)
  }
}

extension StatusReport.Counter: FieldCodable {
  init(from fields: inout FieldReader) throws(DecodeError) {
    self.init(name: "", value: 0)
    while let field = try fields.next() {
      switch field {
      case 1: name = try fields.text()
      case 2: value = try fields.number()
      case _: try fields.unknown(&unknown)
      }
    }
  }

  func write(to fields: inout FieldWriter) {
    fields.text(1, name)
    fields.number(2, value)
    fields.unknown(unknown)
  }
}

extension StatusReport.Peer: FieldCodable {
  init(from fields: inout FieldReader) throws(DecodeError) {
    self.init(endpoint: "", connected: false, since: 0)
    while let field = try fields.next() {
      switch field {
      case 1: endpoint = try fields.text()
      case 2: daemon = try fields.device()
      case 3: connected = try fields.flag()
      case 4: since = try fields.number()
      case 5: stacks = try fields.number()
      case 6: behind = try fields.number()
      case 7: ahead = try fields.number()
      case 8: forked = try fields.number()
      case 9: heldBack = try fields.number()
      case 10: problem = try fields.text()
      case _: try fields.unknown(&unknown)
      }
    }
  }

  func write(to fields: inout FieldWriter) {
    fields.text(1, endpoint)
    fields.device(2, daemon)
    fields.flag(3, connected)
    fields.number(4, since)
    fields.number(5, stacks)
    fields.number(6, behind)
    fields.number(7, ahead)
    fields.number(8, forked)
    fields.number(9, heldBack)
    fields.text(10, problem)
    fields.unknown(unknown)
  }
}
