import Foundation
import TestSupport
import Testing

@testable import TerminalUI

@MainActor @Suite struct LayoutTests {
  private func text<V: View>(width: Int = 20, height: Int = 6, @ViewBuilder _ view: () -> V) -> String {
    TestHost(width: width, height: height, view).text
  }

  @Test func rowsAndColumns() {
    #expect(
      text {
        HStack {
          Text("a")
          Text("b")
        }
      } == "a b")
    #expect(
      text {
        HStack(spacing: 0) {
          Text("a")
          Spacer()
          Text("b")
        }
      } == "a                  b")
    #expect(
      text {
        VStack(alignment: .trailing) {
          Text("a")
          Text("long")
        }
      } == "   a\nlong")
    #expect(
      text {
        VStack {
          Text("a")
          Text("long")
          Text("abc")
        }
      } == " a\nlong\nabc")
    #expect(
      text(height: 3) {
        VStack {
          Text("a")
          Spacer()
          Text("b")
        }
      } == "a\n\nb")
    #expect(
      text {
        VStack(spacing: 1) {
          Text("a")
          Text("b")
        }
      } == "a\n\nb")
  }

  @Test func textWrapsAndIsCut() {
    #expect(text(width: 9) { Text("one two three") } == "one two\nthree")
    #expect(text(width: 9) { Text("one two three").lineLimit(1) } == "one two …")
    #expect(text(width: 9) { Text("one two three four five").frame(height: 2) } == "one two\nthree …")
    #expect(text(width: 9) { Text("a\nbcd").multilineTextAlignment(.trailing) } == "  a\nbcd")
    // The shorter one keeps its length, the longer one wraps.
    #expect(
      text(width: 10) {
        HStack {
          Text("ab")
          Text("one two three")
        }
      } == "ab one two\n   three")
  }

  @Test func wideCharactersKeepTheirColumns() {
    #expect(
      text {
        HStack {
          Text("日本")
          Text("|")
        }
      } == "日本 |")
    #expect(
      text {
        HStack {
          Text("👨‍👩‍👧‍👦")
          Text("|")
        }
      } == "👨‍👩‍👧‍👦 |")
    let host = TestHost(width: 8, height: 2) {
      HStack(spacing: 0) {
        Text("日本語")
        Spacer()
        Text("x")
      }
    }
    #expect(host.grid[7, 0].character == "x")
  }

  @Test func framesAndPadding() {
    #expect(text { Text("a").padding() } == "\n  a")
    #expect(text { Text("a").padding(.leading, 3) } == "   a")
    #expect(text { Text("a").frame(width: 5).border() } == "┌─────┐\n│  a  │\n└─────┘")
    #expect(
      text {
        HStack(spacing: 0) {
          Text("a").frame(maxWidth: .infinity, alignment: .trailing)
          Text("|")
        }
      }
        == String(repeating: " ", count: 18) + "a|")
    #expect(text { Text("abcdef").frame(width: 3, height: 1, alignment: .leading) } == "ab…")
    #expect(text { Text("a").frame(minWidth: 4, alignment: .trailing).border() } == "┌────┐\n│   a│\n└────┘")
    #expect(
      text {
        HStack {
          Text("a").hidden()
          Text("b")
        }
      } == "  b")
    #expect(
      text(width: 6) {
        HStack {
          Text("abcd").lineLimit(1)
          Text("efgh").lineLimit(1).fixedSize()
        }
      } == "… efgh")
  }

  /// Lengths that make no sense do no harm.
  @Test func senselessLengths() {
    #expect(text { Text("one\ntwo").lineLimit(0) } == "one …")
    _ = text { Text("a").frame(maxWidth: .nan) }
    #expect(text { Text("a").frame(minWidth: -.infinity, maxWidth: -1) } == "")
    #expect(text { Text("a").frame(width: -3) } == "")
    _ = text { Text("a").padding(-2) }
    #expect(text { ProgressView(value: 0, total: 0) }.hasSuffix("0 %"))
    #expect(text { ProgressView(value: .nan) }.hasSuffix("0 %"))
    #expect(text { Slider(value: .constant(1), in: 1...1) }.hasSuffix("0 %"))
    #expect(
      text {
        VStack(spacing: -1) {
          Text("a")
          Text("b")
        }
      } == "b")
  }

  @Test func layers() {
    #expect(
      text {
        ZStack(alignment: .topLeading) {
          Text("aaa")
          Text("b")
        }
      } == "baa")
    #expect(text { Text("abc").overlay(alignment: .trailing) { Text("X") } } == "abX")
  }

  @Test func priorities() {
    #expect(
      text(width: 10) {
        HStack {
          Text("abcdefgh").lineLimit(1)
          Text("ijklmn").lineLimit(1).layoutPriority(1)
        }
      }
        == "ab… ijklmn")
  }

  @Test func dividers() {
    #expect(
      text(width: 5) {
        VStack {
          Text("a")
          Divider()
          Text("b")
        }
      } == "  a\n─────\n  b")
    #expect(
      text(width: 5, height: 2) {
        HStack {
          Text("a\nb")
          Divider()
          Text("c")
        }
      } == "a │ c\nb │")
  }

  @Test func looks() throws {
    let host = TestHost(width: 24, height: 8) {
      VStack(alignment: .leading) {
        Text("bold ").bold() + Text("red").foregroundStyle(.red)
        Text("inherits").underline()
        VStack(alignment: .leading) {
          Text("green")
          Text("own").foregroundStyle(.blue).italic()
        }
        .foregroundStyle(.green)
        Text("second").foregroundStyle(.secondary)
        Text("on yellow").background(Color.yellow)
        Button("off") {}.disabled(true)
        Color.red.frame(width: 3, height: 1)
      }
    }
    try expectGolden(host.grid.styledText + "\n", "looks.txt")
  }

  @Test func aScreenThatIsTooSmallFollowsTheFocus() {
    struct Many: View {
      var body: some View {
        NavigationStack {
          VStack(alignment: .leading) { ForEach(0..<20) { Button("button \($0)") {} } }.navigationTitle("Many")
        }
      }
    }
    let host = TestHost(width: 24, height: 5) { Many() }
    #expect(host.text.hasPrefix("Many                4/20"))
    for _ in 0..<10 { host.press(.down) }
    #expect(host.focusedLine == "button 10")
    host.press(.tab, modifiers: .shift)
    #expect(host.focusedLine == "button 9")
  }

  @Test func scrollViews() {
    let host = TestHost(width: 20, height: 4) {
      ScrollView { VStack(alignment: .leading) { ForEach(0..<30) { Text("line \($0)") } } }
    }
    #expect(host.lines == ["line 0", "line 1", "line 2", "line 3"])
    host.press(.down)
    #expect(host.lines.first == "line 1")
    host.press(.pageDown, .end)
    #expect(host.lines.last == "line 29")
    host.press(.home)
    #expect(host.lines.first == "line 0")
    let controls = TestHost(width: 20, height: 4) {
      ScrollView { ForEach(0..<30) { Button("button \($0)") {} } }
      Text("below")
    }
    for _ in 0..<7 { controls.press(.down) }
    #expect(controls.focusedLine == "button 7")
    #expect(controls.text.hasSuffix("below"))
    controls.send(.mouse(MouseEvent(.wheelDown, at: CellPosition(column: 1, row: 1))))
    #expect(!controls.text.contains("button 7"))
  }

  /// Resize, also of height alone.
  @Test func resizing() {
    let host = TestHost(width: 30, height: 6) {
      NavigationStack { List(0..<20) { Text("row \($0)") }.navigationTitle("Rows") }
    }
    host.press(.end)
    host.resize(width: 30, height: 3)
    #expect(host.text == "Rows                     20/20\n  row 18\n▸ row 19")
    host.resize(width: 12, height: 4)
    #expect(host.text == "Rows   20/20\n  row 17\n  row 18\n▸ row 19")
    host.resize(width: 1, height: 1)
    host.resize(width: 0, height: 0)
    #expect(host.text == "")
    host.resize(width: 30, height: 3)
    #expect(host.text.hasSuffix("▸ row 19"))
  }

  @Test func longTitlesAreCut() {
    struct Deep: View {
      @State var path = NavigationPath(["a rather long title", "another long one", "last"])
      var body: some View {
        NavigationStack(path: $path) {
          Text("root").navigationTitle("Home").navigationDestination(for: String.self) { Text("x").navigationTitle($0) }
        }
      }
    }
    #expect(text(width: 60) { Deep() }.hasPrefix("‹ Home › a rather long title › another long one › last"))
    #expect(text(width: 40) { Deep() }.hasPrefix("‹ … › another long one › last"))
    #expect(text(width: 12) { Deep() }.hasPrefix("‹ last"))
    #expect(text(width: 5) { Deep() }.hasPrefix("‹ la…"))
  }
}
