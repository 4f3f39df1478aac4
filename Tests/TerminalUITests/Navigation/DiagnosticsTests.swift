import Foundation
import TerminalUI
import Testing

/// What SwiftUI does without a word, or not at all: told once, with its place.
@MainActor @Suite struct DiagnosticsTests {
  private func place(_ line: UInt = #line, _ file: String = #fileID) -> String { "\(file):\(line)" }

  /// Rule 4.
  @Test func aValueWithoutADestination() {
    let host = TestHost {
      NavigationStack {
        NavigationLink("Go", value: Mint(name: "fresh"))
      }
    }
    host.press(.enter)
    #expect(host.text.contains("‹ Mint"))
    #expect(host.text.contains("no screen for values of type Mint"))
    #expect(host.text.contains(#"Mint(name: "fresh")"#))
    #expect(host.diagnostics.map(\.kind) == [.valueWithoutDestination])
    #expect(host.diagnostics[0].message.contains("type Mint, put there at \(place(#line - 8)), is on the path"))
    #expect(host.diagnostics[0].message.contains("navigationDestination(for: Mint.self)"))
    host.press(.escape)
    #expect(host.text == "▸Go ›")
    host.press(.enter)
    #expect(host.diagnostics.count == 1)
  }

  /// Rule 5.
  @Test func aDestinationInALazyContainer() {
    let list = place(#line + 3)
    let host = TestHost {
      NavigationStack {
        List {
          NavigationLink("Go", value: 1)
            .navigationDestination(for: Int.self) { Text("number \($0)") }
        }
      }
    }
    #expect(host.diagnostics.map(\.kind) == [.destinationInLazyContainer])
    let message = host.diagnostics.first?.message ?? ""
    #expect(message.contains("Int"))
    #expect(message.contains("List at \(list)"))
    #expect(message.contains("DiagnosticsTests.swift"))
    host.press(.enter)
    #expect(host.text.contains("no screen for values of type Int"))
  }

  @Test func aDestinationInAScrollViewAndALazyStack() {
    let host = TestHost {
      NavigationStack {
        ScrollView { Text("x").navigationDestination(for: Int.self) { Text("number \($0)") } }
      }
    }
    #expect(host.diagnostics.map(\.kind) == [.destinationInLazyContainer])
    let lazy = TestHost {
      NavigationStack {
        LazyVStack { Text("x").navigationDestination(isPresented: .constant(true)) { Text("y") } }
      }
    }
    #expect(lazy.diagnostics.map(\.kind) == [.destinationInLazyContainer])
    #expect(lazy.diagnostics.first?.message.contains("LazyVStack at ") == true)
  }

  /// A stack in a list is a stack of its own.
  @Test func aStackInAListMayHaveDestinations() {
    let host = TestHost {
      List {
        NavigationStack {
          NavigationLink("Go", value: 1).navigationDestination(for: Int.self) { Text("number \($0)") }
        }
      }
    }
    #expect(host.diagnostics == [])
  }

  /// Rule 6.
  @Test func twoDestinationsForOneType() {
    let host = TestHost {
      NavigationStack {
        NavigationLink("Go", value: 1)
          .navigationDestination(for: Int.self) { Text("inner \($0)") }
          .navigationDestination(for: Int.self) { Text("outer \($0)") }
      }
    }
    let (first, second) = (place(#line - 3), place(#line - 4))
    #expect(host.diagnostics.map(\.kind) == [.duplicateDestination])
    #expect(host.diagnostics.first?.message.contains("the one at \(first) is nearer the root") == true)
    #expect(host.diagnostics.first?.message.contains(second) == true)
    host.press(.enter)
    #expect(host.text.contains("outer 1"))
  }

  /// Inside a destination another link may push more; the same modifier met twice isn't two.
  @Test func aDestinationInADestination() {
    let host = TestHost {
      NavigationStack {
        NavigationLink("Go", value: 1)
          .navigationDestination(for: Int.self) { number in
            NavigationLink("Text \(number)", value: "t\(number)")
              .navigationDestination(for: String.self) { text in
                VStack {
                  Text("text \(text)")
                  NavigationLink("More", value: text.count)
                }
              }
          }
      }
    }
    host.press(.enter, .enter, .enter, .enter)
    #expect(host.text.contains("text t2"))
    #expect(host.diagnostics == [])
  }

  @Test func outsideAnyStack() {
    let host = TestHost {
      VStack {
        Text("x").navigationDestination(for: Int.self) { Text("\($0)") }
        NavigationLink("Go", value: 1)
        NavigationLink("View") { Text("y") }
        Text("z").navigationDestination(isPresented: .constant(true)) { Text("y") }
      }
    }
    #expect(host.diagnostics.map(\.kind) == Array(repeating: .outsideStack, count: 4))
    #expect(host.diagnostics[1].message.contains(place(#line - 6)))
    host.press(.enter)
    #expect(host.text.contains("Go"))
  }

  /// Rule 3.
  @Test func aLinkOfAnotherTypeThanThePath() {
    let routes = Binding<[Shade]>.constant([])
    let host = TestHost {
      NavigationStack(path: routes) {
        NavigationLink("Go", value: Mint(name: "fresh"))
          .navigationDestination(for: Mint.self) { Text($0.name) }
      }
    }
    #expect(host.diagnostics.map(\.kind) == [.wrongType])
    #expect(host.diagnostics.first?.message.contains("type Mint") == true)
    #expect(host.diagnostics.first?.message.contains("Shade") == true)
    #expect(host.diagnostics.first?.message.contains(place(#line - 7)) == true)
    host.press(.enter)
    #expect(host.text.contains("Go"))
  }

  private struct Saving: View {
    @State var path = NavigationPath()
    @Binding var saved: [Bool]

    var body: some View {
      NavigationStack(path: $path) {
        NavigationLink("Go", value: Unstorable(name: "x"))
          .navigationDestination(for: Unstorable.self) { Text($0.name) }
      }
      .onChange(of: path.count) { saved.append(path.codable != nil) }
    }
  }

  private struct Unstorable: Hashable { var name: String }

  /// Case 15: told when the path is to be stored, and once; a program that doesn't store its path may push anything.
  @Test func aValueThatCannotBeStored() {
    var saved: [Bool] = []
    let link = place(#line - 12)
    let host = TestHost { Saving(saved: Binding(get: { saved }, set: { saved = $0 })) }
    host.press(.enter, .escape, .enter)
    #expect(saved == [false, true, false])
    #expect(host.diagnostics.map(\.kind) == [.notCodable])
    #expect(host.diagnostics.first?.message.contains("type Unstorable, put there at \(link),") == true)
  }

  @Test func twoRowsWithOneIdentity() {
    let host = TestHost {
      List(["a", "a"], id: \.self) { Text($0) }
    }
    #expect(host.diagnostics.map(\.kind) == [.sameIdentity])
    _ = host.text
  }

  private struct Endless: View {
    @State var count = 0
    var body: some View {
      Text("count \(count)").onChange(of: count, initial: true) { count += 1 }
    }
  }

  @Test func viewsThatChangeThemselvesForEver() {
    let host = TestHost { Endless() }
    #expect(host.diagnostics.map(\.kind) == [.endlessUpdate])
  }
}
