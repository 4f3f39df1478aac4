import Foundation
import TestSupport
import Testing

@testable import TerminalUI

enum ShopRoute: Hashable, Codable {
  case product(Int)
  case cart
}

@Suite struct NavigationPathTests {
  private struct Plain: Hashable {}

  private func encode(_ path: NavigationPath) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.withoutEscapingSlashes]
    return String(decoding: try encoder.encode(try #require(path.codable)), as: UTF8.self)
  }

  private func decode(_ json: String) throws -> NavigationPath {
    NavigationPath(try JSONDecoder().decode(NavigationPath.CodableRepresentation.self, from: Data(json.utf8)))
  }

  @Test func appendRemoveCompare() {
    var path = NavigationPath()
    #expect(path.isEmpty)
    path.append(1)
    path.append("two")
    #expect(path.count == 2 && path != NavigationPath())
    var other = NavigationPath([1])
    #expect(other != path)
    other.append("two")
    #expect(other == path)
    path.removeLast()
    #expect(path == NavigationPath([1]))
    path.removeLast(0)
    #expect(path.count == 1)
    path.removeLast(1)
    #expect(path.isEmpty)
  }

  @Test func typeIsPartOfEquality() {
    #expect(NavigationPath([1]) != NavigationPath([Int8(1)]))
    #expect(NavigationPath([Shade(name: "x")]) != NavigationPath([Mint(name: "x")]))
  }

  @Test func removingTooManyTraps() async {
    await #expect(processExitsWith: .failure) {
      var path = NavigationPath([1])
      path.removeLast(2)
    }
  }

  /// A remote action may have come between.
  @Test func removingTooManyFromASharedPathClamps() {
    let path = NavigationPath(elements: NavigationPath([1, 2]).elements, sharedName: "alice/main")
    let sink = DiagnosticSink()
    DiagnosticSink.$current.withValue(sink) {
      for _ in 0..<2 {
        var copy = path
        copy.removeLast(5)
        #expect(copy.isEmpty)
      }
    }
    let told = sink.take()
    #expect(told.map(\.kind) == [.removedTooMany])
    #expect(told[0].message.contains("removeLast(5) at \(#fileID):\(#line - 6): the path of alice/main had 2"))
  }

  /// SwiftUI's form: flat, name then value, the top first.
  @Test func theStoredForm() throws {
    var path = NavigationPath()
    path.append("he/llo")
    path.append(ShopRoute.product(42))
    #expect(
      try encode(path)
        == #"["TerminalUITests.ShopRoute","{\"product\":{\"_0\":42}}","Swift.String","\"he/llo\""]"#)
    let again = try decode(try encode(path))
    #expect(again == path)
    #expect(try encode(again) == encode(path))
  }

  @Test func dictionariesAreStoredInOrder() throws {
    let path = NavigationPath([["b": 2, "a": 1]])
    TypeNames.shared.register([String: Int].self, name: "Counts", aliases: [])
    #expect(try encode(path) == #"["Counts","{\"a\":1,\"b\":2}"]"#)
  }

  /// Case 15.
  @Test func aValueThatCannotBeCodedIsNamed() {
    var path = NavigationPath([1])
    path.append(Plain())
    let place = "\(#fileID):\(#line - 1)"
    #expect(path.codable == nil)
    let diagnostics = told { _ = path.codable }
    #expect(diagnostics.map(\.kind) == [.notCodable])
    let message = diagnostics.first?.message ?? ""
    #expect(message.contains("type Plain, put there at \(place),") && message.contains("isn't Codable; make it so"))
    #expect(path.uncodableTypes == ["Plain isn't Codable"])
  }

  /// What is told while a body runs.
  private func told(_ body: () -> Void) -> [Diagnostic] {
    let sink = DiagnosticSink()
    DiagnosticSink.$current.withValue(sink, operation: body)
    return sink.take()
  }

  /// A `Codable` type has values that JSON has no form for.
  @Test func aValueThatCannotBeEncodedIsNamed() {
    let path = NavigationPath([Double.nan])
    let place = "\(#fileID):\(#line - 1)"
    #expect(path.codable == nil)
    let diagnostics = told { _ = path.codable }
    #expect(diagnostics.map(\.kind) == [.notCodable])
    #expect(diagnostics.first?.message.contains("type Double, put there at \(place), can't be stored") == true)
    #expect(diagnostics.first?.message.contains("it can't be encoded: ") == true)
    #expect(path.uncodableTypes.first?.hasPrefix("Double can't be encoded: ") == true)
  }

  @Test func aLocalTypeNeedsAName() {
    struct Local: Hashable, Codable {}
    let path = NavigationPath([Local()])
    let place = "\(#fileID):\(#line - 1)"
    #expect(path.codable == nil)
    let diagnostics = told { _ = path.codable }
    #expect(diagnostics.map(\.kind) == [.unstableName])
    #expect(diagnostics.first?.message.contains("type Local, put there at \(place),") == true)
    #expect(diagnostics.first?.message.contains("navigationDestination(for: Local.self, name:") == true)
    #expect(path.uncodableTypes.first?.contains("register a name") == true)
  }

  /// Case 16.
  @Test func whatCannotBeDecodedIsKeptAsItCame() throws {
    let json = #"["Swift.Int","\"no number\"","Gone.Type","{\"x\":1}","Swift.Int","7"]"#
    let path = try decode(json)
    #expect(path.count == 3)
    #expect(try encode(path) == json)
  }

  @MainActor @Test func whatCannotBeDecodedIsShown() throws {
    let path = try decode(#"["Swift.Int","\"no number\"","Gone.Type","{\"x\":1}"]"#)
    let host = TestHost { Restored(path: path) }
    #expect(host.text.contains("no screen for values of type Swift.Int") && host.text.contains("\"no number\""))
    #expect(host.diagnostics.map(\.kind) == [.valueWithoutDestination, .notDecodable])
    host.press(.escape)
    #expect(host.text.contains("no screen for values of type Gone.Type") && host.text.contains(#"{"x":1}"#))
    host.press(.escape)
    #expect(host.text.contains("root"))
  }

  private struct Restored: View {
    @State var path: NavigationPath
    var body: some View {
      NavigationStack(path: $path) {
        Text("root")
          .navigationDestination(for: Int.self) { Text("number \($0)") }
          .navigationDestination(for: Renamed.self, name: "renamed", aliases: ["Old.Name"]) { Text("renamed \($0.id)") }
      }
    }
  }

  fileprivate struct Renamed: Hashable, Codable { var id: Int }

  /// Case 17, and decoding that comes before registering.
  @MainActor @Test func aliasesOfRenamedTypes() throws {
    let path = try decode(#"["Old.Name","{\"id\":5}"]"#)
    let host = TestHost { Restored(path: path) }
    #expect(host.text.contains("renamed 5"))
    #expect(host.diagnostics == [])
    #expect(try encode(path) == #"["renamed","{\"id\":5}"]"#)
    #expect(path == NavigationPath([Renamed(id: 5)]))
  }

  /// Case 18.
  @Test func datesComeBackAsDates() throws {
    let date = Date(timeIntervalSince1970: 1_000_000.25)
    #expect(try decode(encode(NavigationPath([date]))) == NavigationPath([date]))
  }

  /// Case 58 on this side: large numbers.
  @Test func largeNumbersStayExact() throws {
    let json = #"["Swift.UInt64","18446744073709551615"]"#
    #expect(try decode(json) == NavigationPath([UInt64.max]))
    #expect(try encode(decode(json)) == json)
  }

  @Test func halfAPairIsRefused() {
    #expect(throws: DecodingError.self) { try decode(#"["Swift.Int"]"#) }
    #expect(throws: DecodingError.self) { try decode(#"{"a":1}"#) }
  }

  /// Case 19.
  @Test func aDamagedFileStartsAtTheRootAndIsKept() async throws {
    try await withTemporaryFolder { folder in
      let file = folder.appendingPathComponent("path.json")
      var warnings: [String] = []
      #expect(NavigationPath(restoring: file) { warnings.append($0) }.isEmpty)
      #expect(warnings == [])
      try NavigationPath([1, 2]).save(to: file)
      #expect(NavigationPath(restoring: file) { warnings.append($0) } == NavigationPath([1, 2]))
      try Data("[not json".utf8).write(to: file)
      #expect(NavigationPath(restoring: file) { warnings.append($0) }.isEmpty)
      #expect(warnings.count == 1)
      #expect(warnings[0].contains("path.json.damaged"))
      let kept = try Data(contentsOf: file.appendingPathExtension("damaged"))
      #expect(kept == Data("[not json".utf8))
      #expect(throws: PathSavingError.self) { try NavigationPath([Plain()]).save(to: file) }
    }
  }
}
