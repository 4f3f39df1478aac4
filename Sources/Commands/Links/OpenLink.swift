package import ArgumentParsing
import Foundation
import Links
import NavigationModel
import StackHistory

/// Where the routes are.
package struct RouteOptions: ParsableOptions {
  @Option(
    placeholder: "FILE", environment: "NAVSYNC_ROUTES",
    help: "The routes file; without it navsync/routes in the user's configuration folder.")
  var routes: String?

  package init() {}

  func read(on console: Console) throws -> Routes {
    let home = console.environment["HOME"] ?? ""
    let configuration = console.environment["XDG_CONFIG_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
    let path = routes ?? (configuration ?? home + "/.config") + "/navsync/routes"
    let (name, bytes): (String, [UInt8])
    do { (name, bytes) = try readWhole(path, atMost: 1 << 20, on: console) } catch let error as CommandError {
      guard error.code == .notFound, routes == nil else { throw error }
      throw CommandError(.notFound, "there are no routes at \(path); write some there, or name a file with --routes")
    }
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw CommandError(.damage, "\(name) is not UTF-8")
    }
    do {
      let routes = try Routes(parsing: text)
      guard !routes.routes.isEmpty else { throw CommandError(.notFound, "\(name) has no routes in it") }
      return routes
    } catch let error as RoutesError { throw CommandError(.damage, "\(name), \(error)") }
  }
}

/// `navsync open`.
package struct OpenLink: RunnableCommand {
  package static let configuration = CommandConfiguration(
    name: "open", abstract: "Open a deep link: show the path that the routes give for it.",
    discussion: """
      A routes file has a line a route: a pattern, then the values shown one above the other. A value is a type's name \
      and JSON in which {name} stands for a parameter; a string needs no type. Kinds of parameters are int, double, bool, \
      string and path (all that is left). 'prefix' lines say what links begin with, # begins a comment:

      prefix myapp://

      shop/product/{id:int} "shop" Product {"id":{id}}

      search?q={words} Search {"words":{words}}

      The same link twice in a row is one entry. A link that no route fits changes nothing.
      """,
    examples: [
      CommandExample("navsync open alice/main myapp://shop/product/42", "On every device of the stack."),
      CommandExample("navsync open alice/main myapp://shop --routes shop.routes --dry-run", "Only what it comes to."),
    ])

  @Argument(help: "The stack, as space/stack.") var stack: StackName
  @Argument(help: "The link.") var link: String
  @Flag(short: "n", help: "Only show what the stack would be.") var dryRun: Bool
  @OptionGroup var routes: RouteOptions
  @OptionGroup var options: ActOptions

  package init() {}

  package func run(on console: Console) async throws {
    let routes = try routes.read(on: console)
    let values: [Value]
    do { values = try routes.values(of: link) } catch {
      throw CommandError(.refused, "\(error); nothing was changed")
    }
    if dryRun { return try console.print(breadcrumbs(values)) }
    try await options.act(on: stack, .set(values), console: console)
  }
}

/// `navsync link`.
package struct LinkTo: RunnableCommand {
  package static let configuration = CommandConfiguration(
    name: "link", abstract: "Print the deep link that shows what a stack shows.",
    examples: [
      CommandExample("navsync link alice/main", "To be opened elsewhere."),
      CommandExample("navsync link alice/main --at 14:03 --routes shop.routes", "What was shown then."),
    ])

  @Argument(help: "A stack as space/stack, or a file of JSON lines; - for the standard input.") var what: String
  @Option(placeholder: "N|TIME|DEVICE:N", help: "The stack as it was then.") var at: HistoryPlace?
  @OptionGroup var routes: RouteOptions
  @OptionGroup var looking: LookingBackOptions

  package init() {}

  package func run(on console: Console) async throws {
    let routes = try routes.read(on: console)
    let loaded = try await looking.load(what, on: console)
    try loaded.finish()
    let entries = try loaded.entries(at: at)
    do { try console.print(try routes.link(to: entries.map(\.value))) } catch {
      throw CommandError(.notFound, "\(breadcrumbs(entries)): \(error)")
    }
  }
}
