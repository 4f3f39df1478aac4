/// A property that is known by its place on the command line.
///
/// A property without an initial value is required, unless its type is optional. An array takes all that is left.
@propertyWrapper
package struct Argument<Value: Sendable>: Declared {
  private let name: String?
  private let template: ArgumentDescription
  private let initial: Value?
  private let read: @Sendable ([Matches.Given]) throws -> Value
  private var value: Value?

  package var wrappedValue: Value {
    guard let value = value ?? initial else {
      preconditionFailure("the value of a required argument is read before parsing")
    }
    return value
  }

  private init(
    name: String?, template: ArgumentDescription, initial: Value?,
    read: @escaping @Sendable ([Matches.Given]) throws -> Value
  ) {
    self.name = name
    self.template = template
    self.initial = initial
    self.read = read
  }

  func declarations(property: String) -> [Declaration] { [.argument(description(property))] }

  func filled(property: String, from matches: Matches) throws(UsageError.Problem) -> Self {
    let description = description(property)
    let typed = matches.arguments[description.name] ?? []
    var result = self
    if typed.isEmpty {
      if description.isRequired { throw .missingArgument(description) }
      return result
    }
    do {
      result.value = try read(typed.map { Matches.Given(text: $0, source: "<\(description.name)>") })
    } catch let problem as UsageError.Problem {
      throw problem
    } catch {
      preconditionFailure("reading a value throws only usage problems, but threw \(error)")
    }
    return result
  }

  private func description(_ property: String) -> ArgumentDescription {
    var description = template
    description.name = name ?? property
    return description
  }
}

extension Argument where Value: ArgumentValue {
  /// An argument with a default.
  package init(wrappedValue: Value, name: String? = nil, help: String) {
    let template = ArgumentDescription(
      name: "", help: help, isRequired: false, isRest: false, defaultText: wrappedValue.argumentText,
      choices: Value.argumentChoices)
    self.init(name: name, template: template, initial: wrappedValue) { try readOne($0[0]) }
  }

  /// A required argument.
  ///
  /// - Parameter name: as shown between `<` and `>`; nil: the property's name in kebab case.
  package init(name: String? = nil, help: String) {
    let template = ArgumentDescription(
      name: "", help: help, isRequired: true, isRest: false, defaultText: nil, choices: Value.argumentChoices)
    self.init(name: name, template: template, initial: nil) { try readOne($0[0]) }
  }
}

extension Argument {
  /// An argument that may be left out: nil.
  package init<Wrapped: ArgumentValue>(name: String? = nil, help: String) where Value == Wrapped? {
    let template = ArgumentDescription(
      name: "", help: help, isRequired: false, isRest: false, defaultText: nil, choices: Wrapped.argumentChoices)
    self.init(name: name, template: template, initial: .some(nil)) { given -> Wrapped? in try readOne(given[0]) }
  }

  /// All that is left.
  ///
  /// - Parameter isRequired: whether there must be at least one.
  package init<Element: ArgumentValue>(name: String? = nil, isRequired: Bool = true, help: String)
  where Value == [Element] {
    let template = ArgumentDescription(
      name: "", help: help, isRequired: isRequired, isRest: true, defaultText: nil, choices: Element.argumentChoices)
    self.init(name: name, template: template, initial: []) { given in try given.map(readOne) }
  }
}
