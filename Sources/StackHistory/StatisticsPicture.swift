/// The figures of a history as plots.
package struct StatisticsPicture {
  private let figures: Statistics
  private let title: String
  private let texts: PictureTexts
  private var y = 60
  private var body = ""

  private static let width = 820
  private static let plotHeight = 120
  private static let blue = "#2563eb"
  private static let orange = "#d97706"
  private static let green = "#15803d"
  private static let violet = "#7c3aed"

  package init(of figures: Statistics, title: String, texts: PictureTexts) {
    self.figures = figures
    self.title = title
    self.texts = texts
    plotTime("Events over time", figures.spans.map(\.events), Self.blue)
    plotTime("Ways back over time", figures.spans.map(\.backs), Self.violet)
    plotTime(
      "Conflicts over time: events at which something had to be decided", figures.spans.map(\.conflicts), Self.orange)
    plotTime("Depth over time: the deepest of each span", figures.spans.map(\.deepest), Self.green)
    plotBars("Depth of the stack after an event", depthRows, Self.green)
    plotBars("Actions", actionRows, Self.violet)
    plotBars("Devices", figures.devices.prefix(20).map { (texts.device($0.device), $0.events) }, Self.blue)
    plotBars("Most visited", figures.visits.map { (texts.value($0.value), $0.count) }, "#0e7490")
  }

  private var depthRows: [(label: String, count: Int)] {
    figures.depths.enumerated().map { ($0 == 19 ? "19 and more" : "\($0)", $1) }
  }

  private var actionRows: [(label: String, count: Int)] {
    [
      ("push", figures.pushes), ("back", figures.backs), ("to the root", figures.toRoot), ("deep link", figures.sets),
      ("replace", figures.replaces), ("void", figures.void), ("concurrent", figures.concurrent),
    ]
  }

  private mutating func heading(_ text: String) {
    body += "<text x=\"20\" y=\"\(y)\" font-size=\"14\" font-weight=\"bold\" class=\"ink\">\(escaped(text))</text>\n"
    y += 14
  }

  /// A column a span of time. Its mark says it in words.
  private mutating func plotTime(_ name: String, _ counts: [Int], _ colour: String) {
    heading(name)
    let most = counts.max() ?? 0
    let step = max(2, 760 / max(1, counts.count))
    for (place, count) in counts.enumerated() {
      let height = most == 0 ? 0 : (count * Self.plotHeight + most - 1) / most
      let text = "\(texts.time(figures.spans[place].start)): \(count)"
      body += "<g class=\"mark\" tabindex=\"0\" data-text=\"\(escaped(name)): \(escaped(text))\">"
      body += "<title>\(escaped(text))</title>"
      let x = 20 + place * step
      body += "<rect x=\"\(x)\" y=\"\(y)\" width=\"\(step)\" height=\"\(Self.plotHeight)\" fill=\"transparent\"/>"
      body += "<rect x=\"\(x)\" y=\"\(y + Self.plotHeight - height)\" width=\"\(step - 1)\" height=\"\(height)\" "
      body += "fill=\"\(colour)\"/></g>\n"
    }
    body += "<text x=\"800\" y=\"\(y - 2)\" text-anchor=\"end\" class=\"ink\">most: \(most)</text>"
    y += Self.plotHeight
    body += "<line x1=\"20\" y1=\"\(y)\" x2=\"\(20 + step * counts.count)\" y2=\"\(y)\" stroke=\"#888\"/>"
    y += 16
    if let first = figures.spans.first, let last = figures.spans.last {
      body += "<text x=\"20\" y=\"\(y)\" class=\"ink\">\(escaped(texts.time(first.start)))</text>"
      body += "<text x=\"800\" y=\"\(y)\" text-anchor=\"end\" class=\"ink\">"
      body += "\(escaped(texts.time(last.start + figures.spanLength)))</text>\n"
    }
    y += 34
  }

  private mutating func plotBars(_ name: String, _ rows: [(label: String, count: Int)], _ colour: String) {
    heading(name)
    let most = max(1, rows.map(\.count).max() ?? 1)
    for row in rows {
      let label = row.label.count > 40 ? row.label.prefix(39) + "…" : row.label[...]
      let length = row.count * 440 / most
      body += "<g class=\"mark\" tabindex=\"0\" data-text=\"\(escaped(name)): \(escaped(row.label)): \(row.count)\">"
      body += "<text x=\"300\" y=\"\(y + 12)\" text-anchor=\"end\" class=\"ink\">\(escaped(String(label)))</text>"
      body += "<rect x=\"308\" y=\"\(y + 1)\" width=\"\(length)\" height=\"13\" fill=\"\(colour)\"/>"
      body += "<text x=\"\(314 + length)\" y=\"\(y + 12)\" class=\"ink\">\(row.count)</text></g>\n"
      y += 18
    }
    y += 22
  }

  /// A drawing that needs nothing else.
  package func svg() -> String { svg(isPart: false) }

  private func svg(isPart: Bool) -> String {
    let paper = isPart ? "" : "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n"
    let name = isPart ? "" : "<text x=\"20\" y=\"30\" font-size=\"16\" font-weight=\"bold\">\(escaped(title))</text>\n"
    return """
      <svg xmlns="http://www.w3.org/2000/svg" width="\(Self.width)" height="\(y)" viewBox="0 0 \(Self.width) \(y)" \
      font-family="system-ui, sans-serif" font-size="12" role="img" aria-label="\(escaped(title))">
      <title>\(escaped(title))</title>
      \(paper)\(name)\(body)</svg>

      """
  }

  /// A page that needs nothing else: the plots, what a mark stands for where one points, and the figures as a table.
  package func html() -> String {
    """
    <!doctype html>
    <html lang="en">
    <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>\(escaped(title))</title>
    <style>
    :root{color-scheme:light dark;--ink:#111;--paper:#fff;--line:#ccc}
    @media(prefers-color-scheme:dark){:root{--ink:#eee;--paper:#16181d;--line:#444}}
    body{margin:0 auto;max-width:860px;padding:12px;font:14px system-ui,sans-serif;color:var(--ink);background:var(--paper)}
    h1{font-size:18px;margin:0}output{position:sticky;top:0;display:block;background:var(--paper);padding:6px 0;min-height:1.4em;border-bottom:1px solid var(--line)}
    svg{max-width:100%;height:auto}.ink{fill:var(--ink)}
    .mark:hover rect:last-of-type,.mark:focus rect:last-of-type,.mark.chosen rect:last-of-type{filter:brightness(1.4);stroke:var(--ink)}
    .mark:focus{outline:none}
    table{border-collapse:collapse}td,th{border:1px solid var(--line);padding:2px 8px;text-align:right}td:first-child{text-align:left}
    </style>
    </head>
    <body>
    <h1>\(escaped(title))</h1>
    <output id="told">\(summary)</output>
    \(svg(isPart: true))<details><summary>The figures over time</summary>
    \(table)</details>
    <script>
    const told = document.getElementById('told'), beginning = told.textContent;
    let chosen = null;
    const tell = mark => { told.textContent = (mark || chosen)?.dataset.text ?? beginning; };
    for (const mark of document.querySelectorAll('.mark')) {
      mark.addEventListener('pointerenter', () => tell(mark));
      mark.addEventListener('pointerleave', () => tell(null));
      mark.addEventListener('focus', () => tell(mark));
      mark.addEventListener('blur', () => tell(null));
      mark.addEventListener('click', () => {
        chosen?.classList.remove('chosen');
        chosen = chosen === mark ? null : mark;
        chosen?.classList.add('chosen');
        mark.blur();
        tell(null);
      });
    }
    </script>
    </body>
    </html>

    """
  }

  private var summary: String {
    "\(figures.events) events of \(figures.devices.count) devices; depth now \(figures.depth), deepest \(figures.deepest)"
  }

  private var table: String {
    var out =
      "<table><tr><th>from</th><th>events</th><th>back</th><th>concurrent</th><th>conflicts</th><th>deepest</th></tr>\n"
    for span in figures.spans where span.events > 0 {
      out += "<tr><td>\(escaped(texts.time(span.start)))</td><td>\(span.events)</td><td>\(span.backs)</td>"
      out += "<td>\(span.concurrent)</td><td>\(span.conflicts)</td><td>\(span.deepest)</td></tr>\n"
    }
    return out + "</table>"
  }
}
