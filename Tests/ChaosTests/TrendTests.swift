import Chaos
import Testing

@Suite struct TrendTests {
  private func trend(_ values: [Double]) -> Trend {
    Trend("figure", values.enumerated().map { (Double($0.offset), $0.element) }) { $0 * 0.1 }
  }

  @Test func aLeakIsOneAndNoiseIsNot() {
    #expect(trend([100, 101, 99, 100, 101, 99]).isFlat)
    #expect(trend([100, 104, 99, 103, 98, 102]).isFlat)
    #expect(!trend([100, 104, 108, 112, 116, 120]).isFlat)
    let leak = trend([100, 104, 108, 112, 116, 120])
    #expect(leak.begin == 100 && leak.end == 120 && leak.allowed == 10)
    // What gets less doesn't grow.
    #expect(trend([100, 80, 60]).isFlat)
  }

  @Test func fewPointsAreNoTrend() {
    #expect(trend([]).isFlat)
    #expect(trend([5]).begin == 5)
  }
}
