import Links
import NavigationModel
import Testing

@Suite struct RoutesTests {
  static let text = """
    # the shop
    prefix myapp://
    prefix https://example.com/
    shop                                   "shop"
    shop/product/{id:int}                  "shop" Product {"id":{id}}
    shop/product/{id:int}/photo/{n:int}    "shop" Product {"id":{id}}  Photo {"of":{id},"n":{n}}
    search?q={words}                       Search {"words":{words},"all":true}
    user/{name}                            {name}
    files/{path:path}                      File {"path":{path}}
    """

  private func routes() throws -> Routes { try Routes(parsing: Self.text) }

  private func spelled(_ values: [Value]) -> String {
    values.map { "\($0.type) \(String(decoding: $0.payload, as: UTF8.self))" }.joined(separator: " › ")
  }

  /// Each link shows its path, and each path gives its link.
  @Test(arguments: [
    ("myapp://shop", #"String "shop""#),
    ("myapp://shop/product/42", #"String "shop" › Product {"id":42}"#),
    ("myapp://shop/product/42/photo/3", #"String "shop" › Product {"id":42} › Photo {"n":3,"of":42}"#),
    ("myapp://search?q=red%20shoes%26more", #"Search {"all":true,"words":"red shoes&more"}"#),
    ("myapp://user/J%C3%BCrgen%2F2", #"String "Jürgen/2""#),
    ("myapp://files/a/b%20c/d.txt", #"File {"path":"a/b c/d.txt"}"#),
  ])
  func bothWays(link: String, path: String) throws {
    let values = try routes().values(of: link)
    #expect(spelled(values) == path)
    #expect(try routes().link(to: values) == link)
  }

  @Test func otherSpellingsOfALink() throws {
    let routes = try routes()
    let expected = try routes.values(of: "myapp://shop/product/42")
    for link in [
      "https://example.com/shop/product/42", "MYAPP://shop/product/42/", "myapp://shop/product/42?from=mail#top",
      "myapp:///shop//product/42",
    ] { #expect(try routes.values(of: link) == expected, "\(link)") }
    // The order of keys and the spelling of a number don't matter on the way back.
    let values = [Value(type: "Search", payload: Array(#"{ "words" : "a\u0062", "all":true}"#.utf8))]
    #expect(try routes.link(to: values) == "myapp://search?q=ab")
  }

  @Test(arguments: [
    ("myapp://shop/product/none", "no route fits"), ("myapp://nowhere", "shop/product/{id:int}"),
    ("other://shop", "doesn't begin with myapp:// or https://example.com/"), ("myapp://user/%zz", "two digits"),
    ("myapp://search", "no route fits"),
  ])
  func unknownLinks(link: String, message: String) throws {
    let error = #expect(throws: RoutesError.self) { try routes().values(of: link) }
    #expect(error?.description.contains(message) == true, "\(error?.description ?? "")")
  }

  @Test func aPathWithoutARoute() throws {
    let error = #expect(throws: RoutesError.self) {
      try routes().link(to: [Value(type: "Photo", payload: Array("{}".utf8))])
    }
    #expect(error?.description.contains("user/{name}") == true)
    // One parameter can't be two things.
    let photo = [
      Value(type: "String", payload: Array(#""shop""#.utf8)), Value(type: "Product", payload: Array(#"{"id":1}"#.utf8)),
      Value(type: "Photo", payload: Array(#"{"of":2,"n":1}"#.utf8)),
    ]
    #expect(throws: RoutesError.self) { try routes().link(to: photo) }
  }

  /// A line that makes no sense is named.
  @Test(arguments: [
    ("shop/{id:number} \"a\"", "line 2: 'shop/{id:number}': 'number' is not a type of parameter; there are int"),
    ("shop/{id} {other}", "line 2: 'shop/{id}' has no parameter {other}"),
    ("shop/{id} Product {\"id\":{other}}", "line 2: 'shop/{id}' has no parameter {other}"),
    ("shop/a{id} \"a\"", "a parameter is a whole part"), ("shop {\"a\":1}", "name the type of each value"),
    ("shop Product {\"a\":", "a value is missing"), ("prefix myapp", "not what a link begins with"),
    ("a/{x}/{x} \"a\"", "a parameter twice"), ("a/{x:path}/b \"a\"", "nothing can come after"),
    ("a?b=c \"a\"", "write the query as"),
  ])
  func badLines(line: String, message: String) {
    let error = #expect(throws: RoutesError.self) { try Routes(parsing: "# routes\n" + line) }
    #expect(error?.description.contains(message) == true, "\(error?.description ?? "")")
  }

  @Test func routesOfAProgram() throws {
    let routes = Routes(
      prefixes: ["app://"],
      [
        try Route("item/{id:int}") { parameters in
          guard case .int(let id)? = parameters["id"], id > 0 else { return nil }
          return [Value(type: "Item", payload: Array("\(id)".utf8))]
        } close: { values in
          guard values.count == 1, values[0].type == "Item",
            let id = Int(String(decoding: values[0].payload, as: UTF8.self))
          else { return nil }
          return ["id": .int(id)]
        }
      ])
    let values = try routes.values(of: "app://item/7")
    #expect(try routes.link(to: values) == "app://item/7")
    #expect(throws: RoutesError.self) { try routes.values(of: "app://item/-7") }
  }
}

@Suite struct SavedPathTests {
  private func value(_ type: String, _ json: String) -> Value { Value(type: type, payload: Array(json.utf8)) }

  /// The top comes first in the file; the standard library's types go without their module on a stack.
  @Test func topFirstAndBothKindsOfNames() throws {
    let values = [value("String", #""hello""#), value("Shop.Route", #"{"product":42}"#), value("Int", "7")]
    let path = SavedPath(values: values)
    let qualified = ["Swift.Int", "7", "Shop.Route", #"{"product":42}"#, "Swift.String", #""hello""#]
    #expect(path.strings() == qualified)
    #expect(path.strings(names: .mangled) == ["Si", "7", "Shop.Route", #"{"product":42}"#, "SS", #""hello""#])
    #expect(try SavedPath(strings: qualified) == path)
    #expect(try SavedPath(strings: path.strings(names: .mangled)) == path)
    #expect(try SavedPath(strings: ["$sSi", "7"]).values == [value("Int", "7")])
  }

  /// Mangled names as this toolchain gives them, on Linux too, where these types are of another module.
  @Test func namesOfFoundationsTypes() throws {
    for name in ["10Foundation4UUIDV", "20FoundationEssentials4UUIDV", "Foundation.UUID"] {
      #expect(try SavedPath(strings: [name, "\"x\""]).values[0].type == "Foundation.UUID")
    }
    #expect(SavedPath(values: [value("FoundationEssentials.UUID", "\"x\"")]).strings()[0] == "Foundation.UUID")
    #expect(_mangledTypeName(Int16.self) == SavedPath(values: [value("Int16", "1")]).strings(names: .mangled)[0])
  }

  @Test func aliases() throws {
    let path = try SavedPath(strings: ["Shop.Product", "{}"], aliases: ["Shop.Product": "product"])
    #expect(path.values == [value("product", "{}")])
    #expect(path.strings(aliases: ["product": "Shop.Product"]) == ["Shop.Product", "{}"])
  }

  @Test func whatIsNoSavedPath() {
    let odd = #expect(throws: SavedPath.Fault.self) { try SavedPath(strings: ["Swift.Int"]) }
    #expect(odd?.description.contains("1 strings") == true)
    let json = #expect(throws: SavedPath.Fault.self) { try SavedPath(strings: ["Swift.Int", "7", "Shop.Route", "{"]) }
    #expect(json?.description.contains("string 4") == true)
    #expect(throws: SavedPath.Fault.self) { try SavedPath(strings: ["", "7"]) }
  }
}

/// Names of types in saved paths that the fuzzer found to come back as others.
@Suite struct SavedNamesTests {
  @Test(arguments: [
    ("FoundationEssentials.UUID", "Foundation.UUID", "Foundation.UUID"),
    ("20FoundationEssentials4UUIDV", "Foundation.UUID", "Foundation.UUID"),
    ("Swift.String", "String", "Swift.String"), ("SS", "String", "Swift.String"),
    ("Swift.SS", "Swift.SS", "Swift.SS"),
    ("Swift.Array<Swift.Int>", "Swift.Array<Swift.Int>", "Swift.Array<Swift.Int>"),
    ("Shop.Route", "Shop.Route", "Shop.Route"),
  ])
  func aNameComesBack(read: String, onStack: String, written: String) throws {
    let path = try SavedPath(strings: [read, "1"])
    #expect(path.values.map(\.type) == [onStack])
    #expect(path.strings().first == written)
    #expect(try SavedPath(strings: path.strings()) == path)
  }
}
