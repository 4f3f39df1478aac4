import TerminalUI

struct ShelfView: View {
  let name: String
  @Environment(Store.self) private var store

  var body: some View {
    List(store.products.filter { $0.shelf == name }) { product in
      NavigationLink(value: Route.product(product.id)) {
        HStack {
          Text(product.name)
          Spacer()
          Text(store.price(product.cents))
        }
      }
    }
    .navigationTitle(name)
  }
}

struct ProductView: View {
  let id: Int
  @Environment(Store.self) private var store
  @Environment(\.navigator) private var navigator

  var body: some View {
    VStack(alignment: .leading) {
      if let product = store.product(id) {
        Text(product.name).bold()
        Text("\(store.price(product.cents)) each; \(store.cart[id, default: 0]) in the cart")
        Button("Put one in the cart") { store.cart[id, default: 0] += 1 }
        Button("To the cart") { navigator.show(.cart) }
      } else {
        Text("There is no product \(id).")
      }
    }
    .navigationTitle(store.product(id)?.name ?? "Product \(id)")
  }
}

struct CartView: View {
  @Environment(Store.self) private var store
  @Environment(\.navigator) private var navigator

  var body: some View {
    VStack(alignment: .leading) {
      ForEach(store.products.filter { store.cart[$0.id, default: 0] > 0 }) { product in
        Text("\(store.cart[product.id, default: 0]) × \(product.name)")
      }
      Text("Together \(store.total)")
      Button("Check out") { navigator.show(.checkout) }.disabled(store.cart.isEmpty)
      Button("Go on shopping") { navigator.toRoot() }
    }
    .navigationTitle("Cart")
  }
}

struct CheckoutView: View {
  @Environment(Store.self) private var store
  @Environment(\.navigator) private var navigator

  var body: some View {
    VStack(alignment: .leading) {
      Text("Pay \(store.total)?")
      Button("Pay") {
        store.cart = [:]
        navigator.toRoot()
      }
    }
    .navigationTitle("Checkout")
  }
}
