/// One thing that a property declares.
enum Declaration {
  case argument(ArgumentDescription)
  case option(OptionDescription)
}

/// What a property wrapper of this module is: it says what it declares, and fills itself from what was typed.
protocol Declared: Sendable {
  /// - Parameter property: the property's name in kebab case.
  func declarations(property: String) -> [Declaration]
  /// The wrapper with its value. Throws ``UsageError/Problem``.
  func filled(property: String, from matches: Matches) throws(UsageError.Problem) -> Self
}

/// The wrappers of a command or group with their property's names, in the order of the source.
func declaredProperties(of options: any ParsableOptions) -> [(label: String, wrapper: any Declared)] {
  Mirror(reflecting: options).children.map { label, child in
    guard let label, label.hasPrefix("_"), let wrapper = child as? any Declared else {
      preconditionFailure("\(type(of: options)).\(label ?? "?") isn't an argument, option, flag or group")
    }
    return (String(label.dropFirst()), wrapper)
  }
}

func declarations(of options: any ParsableOptions) -> [Declaration] {
  declaredProperties(of: options).flatMap { $0.wrapper.declarations(property: kebabCase($0.label)) }
}

/// `dryRun` as `dry-run`.
func kebabCase(_ name: String) -> String {
  var result = ""
  for letter in name {
    if letter.isUppercase, !result.isEmpty { result.append("-") }
    result += letter.lowercased()
  }
  return result
}

/// What was typed, sorted by what it is for; values are not looked at yet.
struct Matches {
  /// The texts of each option's values by the option's long name, in the order typed.
  var options: [String: [Given]] = [:]
  /// The texts of each argument by its name.
  var arguments: [String: [String]] = [:]
  var environment: [String: String] = [:]

  /// A value and how it got here, as a person would name it.
  struct Given {
    var text: String
    var source: String
  }

  /// What is given for an option: on the command line, or else by its environment variable. An empty variable counts as
  /// not set.
  func given(_ option: OptionDescription) -> [Given] {
    if let typed = options[option.name] { return typed }
    guard let variable = option.environment, let text = environment[variable], !text.isEmpty else { return [] }
    return [Given(text: text, source: variable)]
  }
}
