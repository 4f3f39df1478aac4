/// A property that `--name` switches on.
@propertyWrapper
package struct Flag: Declared {
  private let name: String?
  private let template: OptionDescription
  package private(set) var wrappedValue: Bool

  /// - Parameters:
  ///   - wrappedValue: false; the property may spell it.
  ///   - long: the name without dashes; nil: the property's name in kebab case.
  ///   - environment: a variable that switches it on by `1`, `true`, `yes` or `on`, and leaves it off by `0`, `false`,
  ///     `no` or `off`.
  package init(
    wrappedValue: Bool = false, long: String? = nil, short: Character? = nil, environment: String? = nil,
    isHidden: Bool = false, help: String
  ) {
    precondition(!wrappedValue, "a flag that is on from the beginning can't be switched on")
    name = long
    self.wrappedValue = wrappedValue
    template = OptionDescription(
      name: "", short: short, kind: .flag, placeholder: "", help: help, environment: environment, isRequired: false,
      isHidden: isHidden, defaultText: nil, choices: [])
  }

  func declarations(property: String) -> [Declaration] { [.option(description(property))] }

  func filled(property: String, from matches: Matches) throws(UsageError.Problem) -> Self {
    var result = self
    guard let given = matches.given(description(property)).last else { return result }
    result.wrappedValue =
      switch given.text.lowercased() {
      case "1", "true", "yes", "on": true
      case "0", "false", "no", "off": false
      case _: throw .badValue(text: given.text, source: given.source, reason: "expected 1 or 0")
      }
    return result
  }

  private func description(_ property: String) -> OptionDescription {
    var description = template
    description.name = name ?? property
    return description
  }
}
