package import NavigationModel

/// Puts JSON together, compact; the caller puts the punctuation.
package struct JSONWriter {
  package private(set) var bytes: [UInt8] = []

  package init() {}

  package mutating func raw(_ text: String) { bytes.append(contentsOf: text.utf8) }
  package mutating func raw(_ json: [UInt8]) { bytes.append(contentsOf: json) }
  package mutating func string(_ text: String) { JSONText.append(text, to: &bytes) }

  /// Elements with commas between them.
  package mutating func list<Element>(_ elements: [Element], _ write: (inout JSONWriter, Element) -> Void) {
    for (place, element) in elements.enumerated() {
      if place > 0 { raw(",") }
      write(&self, element)
    }
  }

  /// A value: a string of type `String` as it is, any other with its type's name.
  package mutating func value(_ value: Value) {
    if value.type == EventCodec.shortType, value.payload.first == UInt8(ascii: "\"") {
      raw(value.payload)
    } else {
      raw(#"{"type":"#)
      string(value.type)
      raw(#","value":"#)
      raw(value.payload)
      raw("}")
    }
  }
}
