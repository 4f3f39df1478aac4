import NavigationModel
import TestSupport
import Testing

/// The 2,000 histories of the reference model.
@Suite struct FoldVectorTests {
  @Test func foldAgreesWithTheReference() throws {
    let vectors = try Vector.all()
    #expect(vectors.count == 2000)
    for vector in vectors {
      let admission = Admission(unchained: vector.arrivals)
      #expect(admission.held.isEmpty && admission.forks.isEmpty, "seed \(vector.seed)")
      var generator = SeededGenerator(seed: UInt64(vector.seed))
      for order in 0..<4 {
        let events = order == 0 ? admission.events : causalShuffle(admission.events, using: &generator)
        var fold = StackFold(policy: vector.policy)
        for event in events {
          fold.apply(event)
          if order == 3 { _ = fold.entries() }  // looking in between changes nothing
        }
        #expect(fold.entries() == vector.stack, "seed \(vector.seed), order \(order)")
        let conflicts = fold.conflicts()
        #expect(Set(conflicts) == vector.conflicts, "seed \(vector.seed), order \(order)")
        #expect(conflicts.count == vector.conflicts.count && conflicts == conflicts.sorted())
      }
    }
  }
}
