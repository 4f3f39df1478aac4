extension Pair: FieldCodable {
  init(from fields: inout FieldReader) throws(DecodeError) {
    self.init(secret: [], name: "")
    while let field = try fields.next() {
      switch field {
      case 1: secret = try fields.run()
      case 2: name = try fields.text()
      case _: try fields.unknown(&unknown)
      }
    }
  }

  func write(to fields: inout FieldWriter) {
    fields.run(1, secret)
    fields.text(2, name)
    fields.unknown(unknown)
  }
}

extension Paired: FieldCodable {
  init(from fields: inout FieldReader) throws(DecodeError) {
    self.init(name: "", space: "", may: "")
    while let field = try fields.next() {
      switch field {
      case 1: name = try fields.text()
      case 2: space = try fields.text()
      case 3: may = try fields.text()
      case _: try fields.unknown(&unknown)
      }
    }
  }

  func write(to fields: inout FieldWriter) {
    fields.text(1, name)
    fields.text(2, space)
    fields.text(3, may)
    fields.unknown(unknown)
  }
}
