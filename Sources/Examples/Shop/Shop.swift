import SharedNavigation
import TerminalUI

/// A shop in which one place knows the screens: links hold values of `Route`, and a navigator changes the path.
@main
struct Shop: App {
  // With `@State private var path: [Route] = []` in its place this is a program of one device.
  @SharedPath("alice/shop", name: "route") private var path: [Route]
  @State private var store = Store()

  var body: some Scene {
    WindowGroup { ShopView(path: $path).environment(store) }
  }
}

/// Every screen of the program.
enum Route: Codable, Hashable {
  case shelf(String)
  case product(Int)
  case cart
  case checkout
}

/// What the program knows; the cart is this device's own.
@MainActor @Observable
final class Store {
  struct Product: Identifiable {
    var id: Int
    var name: String
    var shelf: String
    var cents: Int
  }

  let products = [
    Product(id: 1, name: "Bread", shelf: "Bakery", cents: 320),
    Product(id: 2, name: "Rolls", shelf: "Bakery", cents: 90),
    Product(id: 3, name: "Apples", shelf: "Fruit", cents: 250),
    Product(id: 4, name: "Plums", shelf: "Fruit", cents: 410),
  ]
  var shelves: [String] { ["Bakery", "Fruit"] }
  var cart: [Int: Int] = [:]

  func product(_ id: Int) -> Product? { products.first { $0.id == id } }

  var total: String { price(cart.reduce(0) { $0 + (product($1.key)?.cents ?? 0) * $1.value }) }

  func price(_ cents: Int) -> String { "\(cents / 100).\(cents % 100 < 10 ? "0" : "")\(cents % 100)" }
}

/// Changes the path for screens that don't know it.
struct Navigator {
  let path: Binding<[Route]>

  func show(_ route: Route) { path.wrappedValue.append(route) }
  func toRoot() { path.wrappedValue = [] }
}

private struct NavigatorKey: EnvironmentKey {
  static var defaultValue: Navigator { Navigator(path: .constant([])) }
}

extension EnvironmentValues {
  var navigator: Navigator {
    get { self[NavigatorKey.self] }
    set { self[NavigatorKey.self] = newValue }
  }
}

struct ShopView: View {
  @Binding var path: [Route]
  @Environment(Store.self) private var store

  var body: some View {
    let navigator = Navigator(path: $path)
    NavigationStack(path: $path) {
      List {
        ForEach(store.shelves, id: \.self) { NavigationLink($0, value: Route.shelf($0)) }
        NavigationLink("Cart (\(store.cart.values.reduce(0, +)))", value: Route.cart)
      }
      .navigationTitle("Shop")
      .navigationDestination(for: Route.self) { route in
        switch route {
        case .shelf(let name): ShelfView(name: name)
        case .product(let id): ProductView(id: id)
        case .cart: CartView()
        case .checkout: CheckoutView()
        }
      }
    }
    .environment(\.navigator, navigator)
    .opensLinks(
      to: $path,
      """
      prefix shop://
      shelf/{name}            route {"shelf":{"_0":{name}}}
      shelf/{name}/{id:int}   route {"shelf":{"_0":{name}}} route {"product":{"_0":{id}}}
      product/{id:int}        route {"product":{"_0":{id}}}
      cart                    route {"cart":{}}
      """)
  }
}
