import Commands
import Foundation
import TestSupport
import Testing

/// The pages and drawings of `log` and `stats`: well-formed, whole by themselves, and with all that they promise. That
/// they work in a browser was looked at in one.
@Suite struct PageTests {
  private func picture(_ words: String...) async throws -> String {
    let result = try await withCapturedConsole(input: Array(LookingBackTests.history.utf8)) { console, _ in
      await run(Navsync.self, arguments: words, on: console)
    }
    // A cut file is drawn as far as it is good.
    #expect(result.code == .damage)
    return result.output
  }

  /// Nothing is fetched: no address but the names of XML.
  private func expectSelfContained(_ page: String) {
    for word in ["src=", "href=", "@import", "url(", "https://", "fetch("] { #expect(!page.contains(word), "\(word)") }
    #expect(page.components(separatedBy: "http://").count == page.components(separatedBy: "http://www.w3.org").count)
  }

  /// Every element ends where it should, and an ampersand begins an entity.
  private func expectWellFormed(_ drawing: String) {
    var open: [Substring] = []
    for tag in drawing.matches(of: /<(\/?)([a-z]+)((?:\s+[a-zA-Z0-9:-]+="[^"<]*")*)\s*(\/?)>/) {
      if tag.1 == "/" {
        #expect(open.popLast() == tag.2, "\(tag.0)")
      } else if tag.4.isEmpty {
        open.append(tag.2)
      }
    }
    #expect(open.isEmpty)
    #expect(drawing.components(separatedBy: "<").count == drawing.matches(of: /<\/?[a-z]+[\s\/>]/).count + 1)
    #expect(drawing.components(separatedBy: "&").count == drawing.matches(of: /&(amp|lt|gt|quot);/).count + 1)
  }

  private func part(_ page: String) throws -> String {
    let start = try #require(page.range(of: "<svg"))
    let end = try #require(page.range(of: "</svg>"))
    return String(page[start.lowerBound..<end.upperBound])
  }

  @Test func aLogAsDrawingAndPage() async throws {
    let svg = try await picture("log", "-", "--svg", "-")
    expectWellFormed(svg)
    #expect(svg.components(separatedBy: #"class="event""#).count == 6)
    let page = try await picture("log", "-", "--html", "-")
    expectSelfContained(page)
    expectWellFormed(try part(page))
    for id in ["back", "play", "on", "conflict", "slider", "stack", "told"] {
      #expect(page.contains("id=\"\(id)\""), "\(id)")
    }
    #expect(page.contains(#"min="1" max="5" value="5""#))
    #expect(page.contains(#"["reviews","laptop:1"]"#), "an entry and who put it there")
  }

  @Test func figuresAsDrawingAndPage() async throws {
    let svg = try await picture("stats", "-", "--svg", "-")
    expectWellFormed(svg)
    let page = try await picture("stats", "-", "--html", "-")
    expectSelfContained(page)
    expectWellFormed(try part(page))
    for plot in [
      "Events over time", "Ways back over time", "Conflicts over time", "Depth over time", "Depth of the stack",
      "Devices",
      "Most visited", "Actions",
    ] {
      #expect(page.contains(plot) && svg.contains(plot), "\(plot)")
    }
    #expect(page.contains(#"data-text="Actions: back: 2""#) && page.contains(#"data-text="Devices: phone: 3""#))
    #expect(page.contains("5 events of 2 devices; depth now 4, deepest 4"))
  }

  /// What people name is text and never markup, also in the script.
  @Test func namesAreText() async throws {
    let evil = #"</script><b onclick='x'>&\"\u2028"#
    let history = LookingBackTests.history.replacing("\"reviews\"", with: "\"\(evil)\"")
    for words in [["log", "-", "--html", "-"], ["stats", "-", "--html", "-"], ["log", "-", "--svg", "-"]] {
      let page = try await withCapturedConsole(input: Array(history.utf8)) { console, _ in
        await run(Navsync.self, arguments: words, on: console)
      }.output
      #expect(!page.contains("<b onclick") && page.contains("onclick"), "\(words)")
      if words[2] == "--html" { #expect(page.components(separatedBy: "</script>").count == 2, "\(words)") }
    }
  }

  @Test func picturesGoAlone() async throws {
    for words in [
      ["stats", "a/b", "--svg", "x", "--html", "y"], ["stats", "a/b", "--html", "x", "--json"],
      ["log", "a/b", "--html", "x", "--graph"],
    ] {
      let result = try await withCapturedConsole { console, _ in await run(Navsync.self, arguments: words, on: console)
      }
      #expect(result.code == .usage, "\(words)")
    }
  }
}
