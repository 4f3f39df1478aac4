import Exhaustive
import Testing

/// The small bound; `deploy/exhaustive` goes through the full one.
@Suite struct ExhaustiveTests {
  @Test(arguments: ExhaustiveSearch.small)
  func everySmallHistoryFoldsAsTheSpecificationSays(search: ExhaustiveSearch) throws {
    var counts = ExhaustiveSearch.Counts()
    for part in 0..<search.parts { counts += try search.run(part: part) }
    let moves = search.parts
    #expect(counts.sequences == (0..<search.steps).reduce(1) { product, _ in product * moves })
    #expect(counts.histories > 50 && counts.orders > counts.histories && counts.cutShort == 0)
  }
}
