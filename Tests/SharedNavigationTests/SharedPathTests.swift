import Foundation
import NavigationClient
import NavigationModel
import TerminalUI
import TestSupport
import Testing

@testable import SharedNavigation

struct Park: Codable, Hashable {
  var name: String
}

private struct Program: View {
  @SharedPath var path: NavigationPath

  init(_ stack: SharedStack) { _path = SharedPath(stack) }

  var body: some View {
    NavigationStack(path: $path) {
      VStack(alignment: .leading) {
        NavigationLink("Open", value: Park(name: "Teide"))
        Button("Deep") { path = NavigationPath([Park(name: "a"), Park(name: "b"), Park(name: "c")]) }
        Button("Swap") {
          path.removeLast()
          path.append("text")
        }
        Button("Four") { path.removeLast(4) }
        Button("Secret") { path.append(Secret()) }
        Button("Hidden") { path.append(Hidden()) }
        Button("Root") { path = NavigationPath() }
      }
      .navigationDestination(for: Park.self, name: "park") { ParkPage(park: $0) }
      .navigationDestination(for: String.self) { Text("the text \($0)") }
    }
  }
}

private struct Secret: Hashable {}
private struct Hidden: Codable, Hashable {}

private struct ParkPage: View {
  let park: Park
  @State private var note = ""

  var body: some View {
    Text("park \(park.name), note \(note)")
    TextField("Note", text: $note)
    NavigationLink("Deeper", value: Park(name: park.name + "+"))
  }
}

private struct Typed: View {
  @SharedPath var path: [Park]

  init(_ stack: SharedStack) { _path = SharedPath(stack, name: "park") }

  var body: some View {
    NavigationStack(path: $path) {
      VStack(alignment: .leading) {
        NavigationLink("Open", value: Park(name: "Teide"))
        Button("Back to one") { path = Array(path.prefix(1)) }
      }
      .navigationDestination(for: Park.self) { ParkPage(park: $0) }
    }
  }
}

@MainActor @Suite(.timeLimit(.minutes(5))) struct SharedPathTests {
  private func alone(_ body: (Seat) async throws -> Void) async throws {
    try await withWorld(starts: false) { world in
      let seat = try await Seat(world.device("phone", connects: false), Program.init)
      try await body(seat)
      await seat.device.close()
    }
  }

  @Test func whatIsDoneShowsAtOnceAndIsOneActionEach() async throws {
    try await alone { seat in
      seat.host.press(.enter)
      // Before anything is on the disk.
      #expect(seat.host.text.contains("park Teide"))
      try await seat.settle()
      #expect(seat.sent == [#"park {"name":"Teide"}"#])
      #expect(seat.stack.state.lastChange?.action.values.count == 1)
      seat.host.press(.escape)
      #expect(seat.host.text.contains("Open"))
      try await seat.settle()
      guard case .pop = seat.stack.state.lastChange?.action else {
        return #expect(Bool(false), "\(String(describing: seat.stack.state.lastChange))")
      }
      #expect(seat.stack.state.eventCount == 2)
      #expect(seat.shared.othersChanges == 0)
    }
  }

  @Test func aPathIsSetAsOneAction() async throws {
    try await alone { seat in
      seat.host.click("Deep")
      #expect(seat.host.text.contains("park c"))
      try await seat.settle()
      #expect(seat.stack.state.eventCount == 1 && seat.stack.state.entries.count == 3)
      seat.host.press(.tab, .character("g"))
      try await seat.settle()
      #expect(seat.stack.state.lastChange?.action == .popToRoot)
      #expect(seat.stack.state.eventCount == 2)
      // The same path again is no action.
      seat.host.click("Root")
      try await seat.settle()
      #expect(seat.stack.state.eventCount == 2)
    }
  }

  @Test func aQuickHandIsNotFasterThanTheDisk() async throws {
    try await alone { seat in
      seat.host.press(.enter)
      for _ in 0..<5 {
        seat.host.press(.tab)
        seat.host.press(.enter)
        #expect(seat.host.text.contains("park Teide"))
      }
      #expect(!seat.shared.isSettled)
      // Closes what isn't on the disk when it is closed.
      seat.host.press(.escape)
      seat.host.press(.escape)
      #expect(seat.host.text.contains("park Teide+++,"))
      try await seat.settle()
      #expect(seat.stack.state.entries.count == 4)
      #expect(seat.stack.state.eventCount == 8)
      #expect(seat.host.text.contains("park Teide+++,"))
      #expect(seat.shared.othersChanges == 0)
    }
  }

  @Test func whatCanNotBeSentIsRefusedAndSaid() async throws {
    try await alone { seat in
      for _ in 0..<2 {
        seat.host.click("Secret")
        #expect(seat.host.text.contains("Secret: a value can't be shared: it isn't Codable"))
        #expect(seat.host.text.contains("Open"))
      }
      // The programmer is told once, with the place.
      #expect(seat.host.diagnostics.map(\.kind) == [.notCodable])
      #expect(seat.host.diagnostics.first?.message.contains("put there at SharedNavigationTests/SharedPath") == true)
      seat.host.click("Hidden")
      #expect(seat.host.diagnostics.map(\.kind) == [.notCodable, .unstableName])
      #expect(seat.host.diagnostics.last?.message.contains("navigationDestination(for: Hidden.self, name:") == true)
      seat.host.click("Four")
      try await seat.settle()
      #expect(seat.stack.state.eventCount == 0)
    }
  }

  @Test func moreThanThereAreAreAll() async throws {
    try await alone { seat in
      try await seat.stack.push(Value(type: "park", json: #"{"name":"x"}"#))
      try await seat.wait(for: "park x")
      seat.shared.assign(Array(seat.shared.elements.prefix(0)))
      try await seat.settle()
      #expect(seat.stack.state.isAtRoot)
      seat.host.click("Four")
      seat.host.click("Four")
      #expect(seat.host.diagnostics.map(\.kind) == [.removedTooMany])
      let message = seat.host.diagnostics.first?.message ?? ""
      #expect(message.contains("removeLast(4) at SharedNavigationTests/SharedPathTests.swift:"))
      #expect(message.contains("the path of alice/main had 0"))
    }
  }

  @Test func identityAndStateSurviveWhatOthersDo() async throws {
    try await withWorld { world in
      let seat = try await Seat(world.device("phone"), Program.init)
      let laptop = try await world.device("laptop")
      let other = try await laptop.stack("alice/main")
      seat.host.press(.enter)
      try await seat.settle()
      seat.host.type("mine")
      seat.host.press(.tab)
      try await other.live()
      try await other.push(Value(type: "park", json: #"{"name":"Teide"}"#))
      // An equal value, another entry: another screen.
      try await seat.wait { $0.contains("note") && !$0.contains("mine") }
      #expect(seat.host.text.contains("laptop opened Park(name: \"Teide\")"))
      #expect(seat.shared.othersChanges == 1)
      try await other.pop()
      try await seat.wait(for: "note mine")
      try await seat.wait(for: "laptop: Park(name: \"Teide\")")
      try await other.popToRoot()
      try await seat.wait(for: "Open")
      try await seat.wait(for: "laptop: root")
      await laptop.close()
      try await seat.wait { !$0.contains("laptop:") }
      await seat.device.close()
    }
  }

  /// What stands above a change in the middle is put on the stack anew, and keeps its screens all the same.
  @Test func aChangeBelowKeepsTheScreensAbove() async throws {
    try await alone { seat in
      seat.host.click("Deep")
      seat.host.type("mine")
      seat.host.press(.tab)
      try await seat.settle()
      var path = seat.shared.elements
      path.remove(at: 1)
      seat.shared.assign(path)
      #expect(seat.host.text.contains("park c, note mine"))
      try await seat.settle()
      #expect(seat.sent == [#"park {"name":"a"}"#, #"park {"name":"c"}"#])
      #expect(seat.host.text.contains("park c, note mine"))
      #expect(seat.shared.othersChanges == 0)
    }
  }

  @Test func withoutADaemonActionsWaitAndAreSentLater() async throws {
    try await withWorld(starts: false) { world in
      let seat = try await Seat(world.device("phone"), Program.init)
      #expect(seat.host.text.hasSuffix("alice/main · offline"))
      seat.host.press(.enter)
      try await seat.wait(for: "alice/main · offline, 1 waiting")
      try world.start()
      seat.device.connectNow()
      try await seat.wait { $0.hasSuffix("alice/main · connected") }
      world.stop()
      try await seat.wait(for: "reconnecting")
      seat.host.press(.escape)
      try await seat.wait(for: "1 waiting")
      try world.start()
      seat.device.connectNow()
      try await seat.wait { $0.hasSuffix("alice/main · connected") }
      await seat.device.close()
    }
  }

  @Test func conflictsAreCounted() async throws {
    try await withWorld { world in
      let laptop = try await world.device("laptop", connects: false)
      try await laptop.stack("alice/main").push("from the laptop")
      await laptop.close()
      let seat = try await Seat(world.device("phone"), Program.init)
      seat.host.press(.enter)
      try await seat.wait { $0.hasSuffix("alice/main · connected") }
      let again = try await world.device("laptop")
      _ = try await again.stack("alice/main")
      try await seat.wait(for: "1 conflict")
      #expect(seat.host.text.contains("laptop"))
      await again.close()
      await seat.device.close()
    }
  }

  @Test func aPathOfOneTypeLeavesOthersAlone() async throws {
    try await withWorld(starts: false) { world in
      let seat = try await Seat(world.device("phone", connects: false), Typed.init)
      try await seat.stack.push("a text")
      seat.host.press(.enter)
      try await seat.settle()
      try await seat.wait(for: "park Teide")
      seat.host.press(.down, .down, .enter)
      #expect(seat.host.text.contains("park Teide+"))
      try await seat.settle()
      #expect(seat.sent == [#"String "a text""#, #"park {"name":"Teide"}"#, #"park {"name":"Teide+"}"#])
      seat.host.press(.escape)
      try await seat.settle()
      #expect(seat.sent.count == 2)
      // An entry of another type on top goes with what is beneath it.
      try await seat.stack.push("above")
      try await seat.wait { _ in seat.shared.elements.count == 3 }
      seat.host.press(.escape)
      try await seat.settle()
      #expect(seat.sent == [#"String "a text""#])
      await seat.device.close()
    }
  }

  /// Cases 1 to 3: back at the root does nothing, and of two quick ones for a screen the second doesn't count.
  @Test func backThatIsTooMuch() async throws {
    try await alone { seat in
      seat.host.press(.escape, .escape)
      try await seat.settle()
      #expect(seat.stack.state.eventCount == 0)
      seat.host.click("Deep")
      seat.host.send(.key(KeyPress(.escape)), .key(KeyPress(.escape)))
      #expect(seat.host.text.contains("park b"))
      try await seat.settle()
      #expect(seat.stack.state.eventCount == 2 && seat.stack.state.entries.count == 2)
    }
  }

  /// Case 12: what was closed by another device before our back arrived is said, and nothing else is closed.
  @Test func backOfWhatIsGone() async throws {
    try await alone { seat in
      seat.host.click("Deep")
      try await seat.settle()
      // The device has it, the screen not yet: no turn of the main actor comes between.
      seat.stack.act(.pop(1)) { _ in }
      seat.host.press(.escape)
      #expect(seat.host.text.contains("park b"))
      try await seat.settle()
      #expect(seat.stack.state.entries.count == 2)
      #expect(seat.host.text.contains("park b"))
      #expect(seat.host.text.contains("Another device was quicker"))
    }
  }

  /// A link of the program's routes is one action; the same one again is none, and what fits no route is said.
  @Test func linksAreOpenedByRoutes() async throws {
    try await withWorld(starts: false) { world in
      let device = try await world.device("phone", connects: false)
      let seat = try await Seat(device, width: 90) { stack in
        Program(stack).opensLinks(
          to: SharedPath<NavigationPath>(stack).projectedValue,
          """
          prefix parks://
          {country}/{name}   {country} park {"name":{name}}
          """)
      }
      for _ in 0..<2 {
        seat.host.open(try #require(URL(string: "parks://Spain/Teide")))
        #expect(seat.host.text.contains("park Teide"))
        try await seat.settle()
        #expect(seat.sent == [#"String "Spain""#, #"park {"name":"Teide"}"#])
        #expect(seat.stack.state.eventCount == 1)
      }
      seat.host.open(try #require(URL(string: "parks://Spain")))
      #expect(seat.host.text.contains("no route fits 'parks://Spain'; there are {country}/{name}"))
      try await seat.settle()
      #expect(seat.stack.state.eventCount == 1)
      await device.close()
    }
  }

  /// The names on the stack are those of `navsync push` and of the client library.
  @Test func namesAreThoseOfTheClient() async throws {
    try await alone { seat in
      seat.shared.assign([
        NavigationPath.Element(value: PathValue("x")), NavigationPath.Element(value: PathValue(7)),
        NavigationPath.Element(value: PathValue([1, 2])), NavigationPath.Element(value: PathValue(Named(id: 1))),
      ])
      try await seat.settle()
      #expect(seat.sent == [#"String "x""#, "Int 7", "Array<Swift.Int> [1,2]", #"product {"id":1}"#])
      #expect(seat.stack.state.values.map(\.type)[..<3] == ["String", "Int", Value.typeName(of: [Int].self)][...])
      #expect(try seat.stack.state.values[3].decode(Named.self) == Named(id: 1))
    }
  }

  private struct Named: Codable, Hashable, NavigationValue {
    static let navigationTypeName = "product"
    var id: Int
  }
}
