/// A property that is given as `--name value` or `--name=value`.
///
/// A property without an initial value is required, unless its type is optional. An array takes the option many times.
/// An option that isn't given takes its environment variable, then its initial value.
@propertyWrapper
package struct Option<Value: Sendable>: Declared {
  private let name: String?
  private let template: OptionDescription
  private let initial: Value?
  private let read: @Sendable ([Matches.Given]) throws -> Value
  private var value: Value?

  package var wrappedValue: Value {
    guard let value = value ?? initial else {
      preconditionFailure("the value of a required option is read before parsing")
    }
    return value
  }

  private init(
    long: String?, template: OptionDescription, initial: Value?,
    read: @escaping @Sendable ([Matches.Given]) throws -> Value
  ) {
    name = long
    self.template = template
    self.initial = initial
    self.read = read
  }

  func declarations(property: String) -> [Declaration] { [.option(description(property))] }

  func filled(property: String, from matches: Matches) throws(UsageError.Problem) -> Self {
    let description = description(property)
    let given = matches.given(description)
    var result = self
    if given.isEmpty {
      if initial == nil { throw .missingOption(description) }
      return result
    }
    do {
      result.value = try read(given)
    } catch let problem as UsageError.Problem {
      throw problem
    } catch {
      preconditionFailure("reading a value throws only usage problems, but threw \(error)")
    }
    return result
  }

  private func description(_ property: String) -> OptionDescription {
    var description = template
    description.name = name ?? property
    if description.placeholder.isEmpty { description.placeholder = property.uppercased() }
    return description
  }
}

extension Option where Value: ArgumentValue {
  /// An option with a default.
  ///
  /// - Parameters:
  ///   - long: the name without dashes; nil: the property's name in kebab case.
  ///   - placeholder: what stands for the value on help screens; nil: the property's name in capitals.
  ///   - environment: the variable that is asked when the option isn't given.
  package init(
    wrappedValue: Value, long: String? = nil, short: Character? = nil, placeholder: String = "",
    environment: String? = nil, isHidden: Bool = false, help: String
  ) {
    let template = OptionDescription(
      name: "", short: short, kind: .value, placeholder: placeholder, help: help, environment: environment,
      isRequired: false, isHidden: isHidden, defaultText: wrappedValue.argumentText, choices: Value.argumentChoices)
    self.init(long: long, template: template, initial: wrappedValue, read: readLast)
  }

  /// A required option.
  package init(
    long: String? = nil, short: Character? = nil, placeholder: String = "", environment: String? = nil,
    isHidden: Bool = false, help: String
  ) {
    let template = OptionDescription(
      name: "", short: short, kind: .value, placeholder: placeholder, help: help, environment: environment,
      isRequired: true, isHidden: isHidden, defaultText: nil, choices: Value.argumentChoices)
    self.init(long: long, template: template, initial: nil, read: readLast)
  }
}

extension Option {
  /// An option that may be left out: nil.
  package init<Wrapped: ArgumentValue>(
    long: String? = nil, short: Character? = nil, placeholder: String = "", environment: String? = nil,
    isHidden: Bool = false, help: String
  ) where Value == Wrapped? {
    let template = OptionDescription(
      name: "", short: short, kind: .value, placeholder: placeholder, help: help, environment: environment,
      isRequired: false, isHidden: isHidden, defaultText: nil, choices: Wrapped.argumentChoices)
    self.init(long: long, template: template, initial: .some(nil)) { given -> Wrapped? in try readLast(given) }
  }

  /// An option that may be given many times.
  package init<Element: ArgumentValue>(
    wrappedValue: [Element] = [], long: String? = nil, short: Character? = nil, placeholder: String = "",
    environment: String? = nil, isHidden: Bool = false, help: String
  ) where Value == [Element] {
    let defaultText = wrappedValue.isEmpty ? nil : wrappedValue.map(\.argumentText).joined(separator: " ")
    let template = OptionDescription(
      name: "", short: short, kind: .repeated, placeholder: placeholder, help: help, environment: environment,
      isRequired: false, isHidden: isHidden, defaultText: defaultText, choices: Element.argumentChoices)
    self.init(long: long, template: template, initial: wrappedValue) { given in try given.map(readOne) }
  }
}

/// The last value given counts, as a later `--name` overrides one from an alias.
private func readLast<Value: ArgumentValue>(_ given: [Matches.Given]) throws -> Value {
  guard let last = given.last else { preconditionFailure("an option is read only when it is given") }
  return try readOne(last)
}

/// Reads one word, and says where a wrong one stands.
func readOne<Value: ArgumentValue>(_ given: Matches.Given) throws -> Value {
  do {
    return try Value(argument: given.text)
  } catch {
    throw UsageError.Problem.badValue(text: given.text, source: given.source, reason: "\(error)")
  }
}
