/// A property that brings in the options of another type, so that commands share them.
@propertyWrapper
package struct OptionGroup<Group: ParsableOptions>: Declared {
  package private(set) var wrappedValue: Group

  package init() { wrappedValue = Group() }

  func declarations(property: String) -> [Declaration] { ArgumentParsing.declarations(of: wrappedValue) }

  func filled(property: String, from matches: Matches) throws(UsageError.Problem) -> Self {
    var result = self
    result.wrappedValue = try fill(Group.self, from: matches)
    return result
  }
}
