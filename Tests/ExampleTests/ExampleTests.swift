import Foundation
import TerminalUI
import TestSupport
import Testing

@testable import colors_example
@testable import parks_example
@testable import shop_example
@testable import wikispeedia_example

/// The examples as one device's programs, which they are with `@State` for their path.
@MainActor @Suite struct ExampleTests {
  /// What stands in for the shared path.
  private final class Holder<Path>: ObservableObject {
    @Published var path: Path
    init(_ path: Path) { self.path = path }
  }

  private struct Holding<Path, Content: View>: View {
    @ObservedObject var holder: Holder<Path>
    let content: (Binding<Path>) -> Content
    var body: some View { content($holder.path) }
  }

  private func host<Path, Content: View>(
    _ holder: Holder<Path>, height: Int = 16, _ content: @escaping (Binding<Path>) -> Content
  ) -> TestHost {
    TestHost(width: 50, height: height) { Holding(holder: holder, content: content) }
  }

  @Test func colors() throws {
    let holder = Holder(NavigationPath())
    let host = host(holder) { ColorsView(path: $0) }
    try expectGolden(host.text + "\n", "colors-root.txt")
    host.press(.enter)
    host.type("dear")
    #expect(host.click("The same again"))
    #expect(holder.path.count == 2 && !host.text.contains("dear"))
    #expect(host.click("[Back]"))
    #expect(holder.path.count == 1 && host.text.contains("dear"))
    try expectGolden(host.text + "\n", "colors-mint.txt")
    #expect(host.click("First"))
    #expect(host.click("Four screens at once"))
    #expect(holder.path.count == 4)
    try expectGolden(host.text + "\n", "colors-four.txt")
    host.open(URL(string: "colors:Teal/Pink")!)
    #expect(holder.path == NavigationPath([Shade(name: "Teal"), Shade(name: "Pink")]))
    host.press(.tab, .character("g"))
    #expect(host.click("About"))
    #expect(holder.path.isEmpty && host.text.contains("the same on all of your devices"))
    #expect(host.click("Close"))
    #expect(host.click("Evening") && host.text.contains("Orange"))
    #expect(host.diagnostics.isEmpty)
  }

  @Test func parks() throws {
    let holder = Holder<[Park]>([])
    let host = host(holder) { ParksView(path: $0) }
    try expectGolden(host.text + "\n", "parks-root.txt")
    host.press(.character("/"))
    host.type("spain")
    #expect(host.text.contains("Teide") && !host.text.contains("Sarek"))
    host.press(.escape)
    #expect(host.click("Tour of Sweden"))
    #expect(holder.path.map(\.name) == ["Sarek", "Abisko"])
    #expect(host.click("How old is it?"))
    #expect(host.text.contains("A park since 1909.") && holder.path.count == 2)
    host.press(.escape)
    try expectGolden(host.text + "\n", "parks-abisko.txt")
    #expect(host.click("Back to the list"))
    #expect(holder.path.isEmpty)
    #expect(host.click("Why parks?"))
    #expect(host.text.contains("keeps a place as it is"))
    host.press(.escape)
    #expect(host.text.contains("Tour of Sweden"))
    #expect(host.diagnostics.isEmpty)
  }

  @Test func shop() throws {
    let holder = Holder<[Route]>([])
    let store = Store()
    let host = host(holder) { ShopView(path: $0).environment(store) }
    host.press(.enter, .enter)
    #expect(holder.path == [.shelf("Bakery"), .product(1)])
    #expect(host.click("Put one in the cart") && host.click("Put one in the cart"))
    #expect(host.click("To the cart"))
    try expectGolden(host.text + "\n", "shop-cart.txt")
    #expect(host.click("Check out") && host.text.contains("Pay 6.40?"))
    host.press(.enter)
    #expect(holder.path.isEmpty && store.cart.isEmpty)
    host.open(URL(string: "shop://product/3")!)
    #expect(holder.path == [.product(3)] && host.text.contains("Apples"))
    host.open(URL(string: "shop://shelf/Fruit/4")!)
    #expect(holder.path == [.shelf("Fruit"), .product(4)])
    // What no pattern fits, or no value, changes nothing, and is said each time.
    for link in ["shop://nothing", "shop://product/123456789012345678901234567890", "shop://nothing"] {
      host.open(URL(string: link)!)
      #expect(holder.path == [.shelf("Fruit"), .product(4)])
      #expect(host.text.contains("'\(link)'"))
      host.press(.character("j"))
    }
    #expect(host.diagnostics.isEmpty)
  }

  @Test func wikispeedia() throws {
    let holder = Holder(NavigationPath())
    let graph = LinkGraph.shipped
    #expect(graph.count == 2500)
    let host = host(holder) { WikispeediaView(path: $0, graph: graph, device: "phone", others: []) }
    #expect(host.text.contains("1/2501"))
    host.press(.character("/"))
    host.type("bee")
    try expectGolden(host.text + "\n", "wikispeedia-search.txt")
    host.press(.enter)
    #expect(host.click("Beer"))
    #expect(holder.path == NavigationPath([Article(title: "Beer")]))
    try expectGolden(host.text + "\n", "wikispeedia-beer.txt")
    #expect(host.diagnostics.isEmpty)
  }

  @Test func racesCanBeWon() {
    let graph = LinkGraph("# comment\nA\t1\nB\t2\nC\t3\nD\t0\nE\t")
    #expect(graph.links(of: "A") == ["B"] && graph.links(of: "E") == [] && graph.links(of: "?") == [])
    for number in 1...50 {
      let race = graph.race(number: number)
      #expect(race == graph.race(number: number))
      var (place, steps) = (race.start, 0)
      while place != race.goal, let next = graph.links(of: place).first, steps < 10 {
        place = next
        steps += 1
      }
      #expect(place == race.goal && steps == 3)
    }
  }
}
