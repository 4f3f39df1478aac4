import Foundation

/// Articles and the links between them.
///
/// The shipped ones are 2,500 of the 4,604 articles of Wikispeedia, those with the most links, and the 90,266 links
/// between them: Robert West and Jure Leskovec, Human Wayfinding in Information Networks, WWW 2012; Robert West, Joelle
/// Pineau and Doina Precup, Wikispeedia: An Online Game for Inferring Semantic Distances between Concepts, IJCAI 2009;
/// by way of the Stanford SNAP collection.
struct LinkGraph {
  /// By name.
  private let titles: [String]
  private let places: [String: Int]
  /// Of each article the articles that it links to.
  private let targets: [[Int]]

  var count: Int { titles.count }

  static let shipped: LinkGraph = {
    guard let file = Bundle.module.url(forResource: "links", withExtension: "tsv"),
      let text = try? String(contentsOf: file, encoding: .utf8)
    else { preconditionFailure("links.tsv is shipped with the program") }
    return LinkGraph(text)
  }()

  /// - Parameter text: a line an article: its title, a tab, the numbers of the lines that it links to. Lines that begin
  ///   with `#` don't count.
  init(_ text: String) {
    var titles: [String] = []
    var targets: [[Int]] = []
    for line in text.split(separator: "\n") where !line.hasPrefix("#") {
      let parts = line.split(separator: "\t", maxSplits: 1)
      titles.append(String(parts[0]))
      targets.append(parts.count > 1 ? parts[1].split(separator: " ").compactMap { Int($0) } : [])
    }
    self.titles = titles
    self.targets = targets.map { $0.filter(titles.indices.contains) }
    places = Dictionary(titles.enumerated().map { ($1, $0) }) { $1 }
  }

  func titles(matching search: String) -> [String] {
    search.isEmpty ? titles : titles.filter { $0.localizedCaseInsensitiveContains(search) }
  }

  func links(of title: String) -> [String] { (places[title].map { targets[$0] } ?? []).map { titles[$0] } }

  /// A race over three to five links, the same for the same number.
  func race(number: Int) -> Race {
    for attempt in 0..<titles.count {
      let start = (number &* 7919 &+ attempt) % titles.count
      let far = distances(from: start).enumerated().filter { (3...5).contains($0.element) }.map(\.offset)
      guard !far.isEmpty else { continue }
      return Race(number: number, start: titles[start], goal: titles[far[number % far.count]])
    }
    return Race(number: number, start: titles[0], goal: titles[titles.count - 1])
  }

  /// By the fewest links; `Int.max` for what can't be reached.
  private func distances(from start: Int) -> [Int] {
    var distances = [Int](repeating: .max, count: titles.count)
    distances[start] = 0
    var queue = [start]
    var next = 0
    while next < queue.count {
      let place = queue[next]
      next += 1
      for target in targets[place] where distances[target] == .max {
        distances[target] = distances[place] + 1
        queue.append(target)
      }
    }
    return distances
  }
}
