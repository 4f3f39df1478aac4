/// A value of a command's or a group's type with all its properties filled.
///
/// The wrappers are found by reflection, each fills itself, and the synthesised `init(from:)` puts them back in place.
func fill<Options: ParsableOptions>(
  _ type: Options.Type, from matches: Matches
) throws(UsageError.Problem) -> Options {
  var wrappers: [String: any Declared] = [:]
  for (label, wrapper) in declaredProperties(of: type.init()) {
    wrappers[label] = try wrapper.filled(property: kebabCase(label), from: matches)
  }
  let options: Options
  do {
    options = try Options(from: WrapperDecoder(wrappers: wrappers))
  } catch {
    preconditionFailure("\(type) can't be filled: \(error)")
  }
  do {
    try options.validate()
  } catch {
    throw .invalid("\(error)")
  }
  return options
}

/// Hands out filled wrappers by the name of their property.
private struct WrapperDecoder: Decoder {
  let wrappers: [String: any Declared]
  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
    KeyedDecodingContainer(Container<Key>(wrappers: wrappers))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw notDecodable() }
  func singleValueContainer() throws -> any SingleValueDecodingContainer { throw notDecodable() }

  struct Container<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let wrappers: [String: any Declared]
    var codingPath: [any CodingKey] { [] }
    var allKeys: [Key] { wrappers.keys.compactMap(Key.init(stringValue:)) }

    func contains(_ key: Key) -> Bool { wrappers[key.stringValue] != nil }
    func decodeNil(forKey key: Key) -> Bool { false }

    func decode<Wrapper: Decodable>(_ type: Wrapper.Type, forKey key: Key) throws -> Wrapper {
      guard let wrapper = wrappers[key.stringValue] as? Wrapper else { throw notDecodable() }
      return wrapper
    }

    func nestedContainer<Nested: CodingKey>(
      keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> { throw notDecodable() }
    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer { throw notDecodable() }
    func superDecoder() throws -> any Decoder { throw notDecodable() }
    func superDecoder(forKey key: Key) throws -> any Decoder { throw notDecodable() }
  }
}

private func notDecodable() -> DecodingError {
  .dataCorrupted(
    DecodingError.Context(codingPath: [], debugDescription: "commands are made by the parser, never decoded from data"))
}

extension Option: Decodable {
  package init(from decoder: any Decoder) throws { throw notDecodable() }
}

extension Argument: Decodable {
  package init(from decoder: any Decoder) throws { throw notDecodable() }
}

extension Flag: Decodable {
  package init(from decoder: any Decoder) throws { throw notDecodable() }
}

extension OptionGroup: Decodable {
  package init(from decoder: any Decoder) throws { throw notDecodable() }
}
