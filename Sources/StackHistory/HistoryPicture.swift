package import NavigationModel

/// How things are spelled in a picture.
package struct PictureTexts {
  package var device: (DeviceID) -> String
  package var time: (Int) -> String
  package var action: (Action) -> String
  package var value: (Value) -> String
  package var conflict: (Conflict) -> String

  package init(
    device: @escaping (DeviceID) -> String, time: @escaping (Int) -> String, action: @escaping (Action) -> String,
    value: @escaping (Value) -> String, conflict: @escaping (Conflict) -> String
  ) {
    self.device = device
    self.time = time
    self.action = action
    self.value = value
    self.conflict = conflict
  }
}

/// A log as a drawing: a row an event, a lane a device, and a line from the newest event of another device that an author
/// had seen to the event at which it first shows.
package struct HistoryPicture {
  package let title: String
  /// The numbers of the events that are drawn.
  package let range: ClosedRange<Int>
  private let texts: PictureTexts
  private var lanes: [DeviceID] = []
  private var rows: [Row] = []

  private struct Row {
    var number: Int
    var lane: Int
    var time: String
    var name: String
    var action: String
    /// How many entries stand beneath those of the effect.
    var hidden: Int
    var effect: [(text: String, change: Effect.Line.Change)]
    var isVoid: Bool
    var conflicts: [String]
    /// The rows of the events that it is joined with.
    var joins: [Int]
    /// How many entries stay from the bottom, and what stands on them.
    var kept: Int
    var added: [Entry]
  }

  private static let rowHeight = 22
  private static let laneWidth = 18
  private static let top = 34
  private static let colours = ["#2563eb", "#c2410c", "#15803d", "#7c3aed", "#b91c1c", "#0e7490", "#a16207", "#be185d"]

  /// - Parameter last: how many events are drawn at most, the newest ones.
  package init(of timeline: inout Timeline, title: String, last: Int, texts: PictureTexts) {
    precondition(timeline.count > 0 && last > 0, "a picture of nothing")
    self.title = title
    self.texts = texts
    range = max(1, timeline.count - last + 1)...timeline.count
    var known: [DeviceID: VersionVector] = [:]
    for number in range {
      let event = timeline.event(number)
      let device = event.dot.device
      let lane = lanes.firstIndex(of: device) ?? lanes.count
      if lane == lanes.count { lanes.append(device) }
      let before = known[device]
      known[device] = event.context
      let joins = event.context.elements.compactMap { element -> Int? in
        guard element.sequence > before?[element.device] ?? 0,
          let joined = timeline.number(of: Dot(element.device, element.sequence)), range.contains(joined)
        else { return nil }
        return joined - range.lowerBound
      }
      let effect = timeline.effect(of: number)
      let after = timeline.entries(at: number)
      let kept =
        number == range.lowerBound
        ? 0 : zip(timeline.entries(at: number - 1), after).prefix { $0.id == $1.id }.count
      rows.append(
        Row(
          number: number, lane: lane, time: texts.time(event.timestamp.milliseconds),
          name: "\(texts.device(device)):\(event.dot.sequence)", action: texts.action(event.action),
          hidden: max(0, effect.lines.count - 8),
          effect: effect.lines.suffix(8).map { (texts.value($0.entry.value), $0.change) },
          isVoid: timeline.isVoid(number), conflicts: timeline.newConflicts(at: number).map(texts.conflict),
          joins: joins, kept: kept, added: Array(after[kept...])))
    }
  }

  // MARK: SVG

  /// A drawing that needs nothing else.
  package func svg() -> String { svg(isPart: false) }

  private func svg(isPart: Bool) -> String {
    let textStart = 20 + lanes.count * HistoryPicture.laneWidth
    let width = textStart + textWidth
    let height = HistoryPicture.top + rows.count * HistoryPicture.rowHeight + 10
    var out = """
      <svg xmlns="http://www.w3.org/2000/svg" width="\(width)" height="\(height)" viewBox="0 0 \(width) \(height)" \
      font-family="ui-monospace, monospace" font-size="12" role="img" aria-label="\(escaped(title))">

      """
    if !isPart { out += "<title>\(escaped(title))</title>\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n" }
    var x = 12
    for (lane, device) in lanes.enumerated() {
      let name = texts.device(device)
      out += "<circle cx=\"\(x)\" cy=\"14\" r=\"5\" fill=\"\(colour(lane))\"/>"
      out += "<text x=\"\(x + 9)\" y=\"18\" class=\"ink\">\(lane + 1) \(escaped(name))</text>\n"
      x += 40 + name.count * 8
    }
    out += laneLines()
    for (place, row) in rows.enumerated() { out += drawing(of: row, at: place, textStart) }
    return out + "</svg>\n"
  }

  private func laneLines() -> String {
    var out = ""
    for lane in lanes.indices {
      guard let first = rows.firstIndex(where: { $0.lane == lane }),
        let last = rows.lastIndex(where: { $0.lane == lane })
      else { continue }
      out += "<line x1=\"\(x(lane))\" y1=\"\(y(first))\" x2=\"\(x(lane))\" y2=\"\(y(last))\" "
      out += "stroke=\"\(colour(lane))\" stroke-width=\"2\" class=\"lane\"/>\n"
    }
    for (place, row) in rows.enumerated() {
      for joined in row.joins {
        let (fromX, fromY, toX, toY) = (x(rows[joined].lane), y(joined), x(row.lane), y(place))
        let middle = toY - HistoryPicture.rowHeight / 2
        out += "<path d=\"M\(fromX) \(fromY) C\(fromX) \(middle) \(fromX) \(toY) \(toX) \(toY)\" fill=\"none\" "
        out += "stroke=\"\(colour(rows[joined].lane))\" class=\"join\"/>\n"
      }
    }
    return out
  }

  private func drawing(of row: Row, at place: Int, _ textStart: Int) -> String {
    let (cx, cy) = (x(row.lane), y(place))
    var out = "<g class=\"event\" id=\"e\(row.number)\" data-number=\"\(row.number)\">"
    out += "<title>\(escaped(([row.time, row.name, row.action] + row.conflicts).joined(separator: "\n")))</title>"
    out +=
      "<rect class=\"row\" x=\"0\" y=\"\(cy - 11)\" width=\"\(textStart + textWidth)\" height=\"22\" fill=\"transparent\"/>"
    if !row.conflicts.isEmpty {
      out += "<circle cx=\"\(cx)\" cy=\"\(cy)\" r=\"9\" fill=\"none\" stroke=\"#d97706\" stroke-width=\"2\"/>"
    }
    out += "<circle cx=\"\(cx)\" cy=\"\(cy)\" r=\"5\" stroke=\"\(colour(row.lane))\" stroke-width=\"2\" "
    out += "fill=\"\(row.isVoid ? "#fff" : colour(row.lane))\"/>"
    out += "<text x=\"\(textStart)\" y=\"\(cy + 4)\" class=\"ink\">\(row.number) "
    out += "<tspan fill=\"#777\">\(escaped(row.time))</tspan> "
    out += "<tspan fill=\"\(colour(row.lane))\">\(escaped(row.name))</tspan> \(escaped(shortened(row.action, to: 40)))"
    if row.isVoid {
      out += " <tspan fill=\"#b45309\">(void)</tspan>"
    } else {
      out += " → " + (row.hidden > 0 ? "…\(row.hidden) › " : "")
      for (place, part) in row.effect.enumerated() {
        if place > 0 { out += " › " }
        let text = escaped(shortened(part.text, to: 24))
        switch part.change {
        case .same: out += text
        case .opened: out += "<tspan fill=\"#15803d\" font-weight=\"bold\">+\(text)</tspan>"
        case .moved: out += "<tspan fill=\"#0e7490\">^\(text)</tspan>"
        case .closed: out += "<tspan fill=\"#b91c1c\" text-decoration=\"line-through\">-\(text)</tspan>"
        }
      }
    }
    if !row.conflicts.isEmpty { out += " <tspan fill=\"#b45309\">! conflict</tspan>" }
    return out + "</text></g>\n"
  }

  /// Room for the longest row, in a font whose characters are a little narrower.
  private var textWidth: Int {
    var longest = 0
    for row in rows {
      var length = row.time.count + row.name.count + min(row.action.count, 40) + 28
      for part in row.effect { length += min(part.text.count, 24) + 4 }
      longest = max(longest, length)
    }
    return longest * 15 / 2
  }

  private func x(_ lane: Int) -> Int { 12 + lane * HistoryPicture.laneWidth }
  private func y(_ place: Int) -> Int { HistoryPicture.top + place * HistoryPicture.rowHeight + 11 }
  private func colour(_ lane: Int) -> String { HistoryPicture.colours[lane % HistoryPicture.colours.count] }

  private func shortened(_ text: String, to length: Int) -> String {
    text.count > length ? text.prefix(length - 1) + "…" : text
  }

  // MARK: HTML

  /// A page that needs nothing else: the drawing, a slider, and the stack at the moment chosen.
  package func html() -> String {
    """
    <!doctype html>
    <html lang="en">
    <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>\(escaped(title))</title>
    <style>\(HistoryPage.style)</style>
    </head>
    <body>
    <header>
    <h1>\(escaped(title))</h1>
    <div class="controls">
    <button id="back" aria-label="one event back">◀</button>
    <button id="play" aria-label="play">▶▶</button>
    <button id="on" aria-label="one event on">▶</button>
    <button id="conflict">next conflict</button>
    <input id="slider" type="range" min="\(range.lowerBound)" max="\(range.upperBound)" value="\(range.upperBound)" aria-label="event">
    <output id="now"></output>
    </div>
    </header>
    <main>
    <section id="log">\(svg(isPart: true))</section>
    <aside><h2>The stack</h2><ol id="stack"></ol><p id="told"></p></aside>
    </main>
    <script>const data = \(json());
    \(HistoryPage.script)</script>
    </body>
    </html>

    """
  }

  /// What the page's script reads: the entries, and of each moment how many stay and which are put on.
  private func json() -> String {
    var places: [EntryID: Int] = [:]
    var entries: [String] = []
    var moments: [String] = []
    for row in rows {
      for entry in row.added where places[entry.id] == nil {
        places[entry.id] = entries.count
        let by = "\(texts.device(entry.id.dot.device)):\(entry.id.dot.sequence)"
        entries.append("[\(quoted(texts.value(entry.value))),\(quoted(by))]")
      }
      let added = row.added.compactMap { places[$0.id] }.map(String.init).joined(separator: ",")
      let told = row.conflicts.map(quoted).joined(separator: ",")
      let what = quoted("\(row.time)  \(row.name)  \(row.action)\(row.isVoid ? " (void)" : "")")
      moments.append("[\(row.kept),[\(added)],\(what),[\(told)]]")
    }
    return
      "{first:\(range.lowerBound),entries:[\(entries.joined(separator: ",\n"))],moments:[\(moments.joined(separator: ",\n"))]}"
  }
}

/// The parts of a page that are the same for all.
private enum HistoryPage {
  static let style = """
    :root{color-scheme:light dark;--ink:#111;--paper:#fff;--line:#ccc;--mark:#fde68a}
    @media(prefers-color-scheme:dark){:root{--ink:#eee;--paper:#16181d;--line:#444;--mark:#57430a}}
    *{box-sizing:border-box}
    body{margin:0;font:14px system-ui,sans-serif;color:var(--ink);background:var(--paper);height:100vh;display:flex;flex-direction:column}
    header{padding:8px 12px;border-bottom:1px solid var(--line)}
    h1{font-size:16px;margin:0 0 6px}h2{font-size:14px;margin:0 0 6px}
    .controls{display:flex;gap:6px;align-items:center;flex-wrap:wrap}.controls input{flex:1;min-width:160px}
    main{flex:1;display:flex;min-height:0}
    #log{flex:1;overflow:auto;padding:4px}
    aside{width:22em;border-left:1px solid var(--line);padding:12px;overflow:auto}
    #stack{padding:0;margin:0;list-style:none;display:flex;flex-direction:column-reverse}
    #stack li{border:1px solid var(--line);border-radius:4px;padding:6px 8px;margin-top:4px;overflow-wrap:anywhere}
    #stack li.new{background:var(--mark)}#stack li.new b::before{content:"+ "}
    #stack small{display:block;opacity:.7}
    .ink{fill:var(--ink)}.event{cursor:pointer}.event.chosen .row{fill:var(--mark)}
    .join{opacity:.7}.told{color:#b45309}
    @media(max-width:700px){main{flex-direction:column-reverse}aside{width:auto;max-height:40%;border:0;border-bottom:1px solid var(--line)}}
    """

  static let script = """
    const slider = document.getElementById('slider'), list = document.getElementById('stack');
    const at = id => document.getElementById(id);
    function stackAt(place) {
      let rows = [];
      for (let i = 0; i <= place; i++) { rows.length = data.moments[i][0]; rows.push(...data.moments[i][1]); }
      return rows;
    }
    function show(number, scrolls) {
      const place = number - data.first, moment = data.moments[place], rows = stackAt(place);
      const before = new Set(place > 0 ? stackAt(place - 1) : []);
      slider.value = number;
      at('now').textContent = '#' + number + '  ' + moment[2];
      list.replaceChildren(...rows.map(row => {
        const item = document.createElement('li'), value = document.createElement('b'), by = document.createElement('small');
        value.textContent = data.entries[row][0];
        by.textContent = 'put here by ' + data.entries[row][1];
        if (!before.has(row)) item.className = 'new';
        item.append(value, by);
        return item;
      }));
      if (rows.length === 0) { const item = document.createElement('li'); item.textContent = '(root)'; list.append(item); }
      at('told').replaceChildren(...moment[3].map(text => {
        const line = document.createElement('div'); line.className = 'told'; line.textContent = '! ' + text; return line;
      }));
      document.querySelectorAll('.event.chosen').forEach(e => e.classList.remove('chosen'));
      const event = at('e' + number);
      event.classList.add('chosen');
      if (scrolls) event.scrollIntoView({block: 'center'});
    }
    const now = () => Number(slider.value), last = data.first + data.moments.length - 1;
    const step = by => show(Math.min(last, Math.max(data.first, now() + by)), true);
    slider.addEventListener('input', () => show(now(), true));
    at('back').addEventListener('click', () => step(-1));
    at('on').addEventListener('click', () => step(1));
    at('conflict').addEventListener('click', () => {
      for (let i = 1; i <= data.moments.length; i++) {
        const place = (now() - data.first + i) % data.moments.length;
        if (data.moments[place][3].length) return show(data.first + place, true);
      }
    });
    let timer = null;
    at('play').addEventListener('click', () => {
      if (timer) { clearInterval(timer); timer = null; at('play').textContent = '▶▶'; return; }
      if (now() === last) show(data.first, true);
      at('play').textContent = '■';
      timer = setInterval(() => { if (now() === last) at('play').click(); else step(1); }, 400);
    });
    document.querySelectorAll('.event').forEach(e => e.addEventListener('click', () => show(Number(e.dataset.number), false)));
    document.addEventListener('keydown', e => {
      if (e.target === slider) return;
      if (e.key === 'ArrowRight' || e.key === 'j') step(1);
      if (e.key === 'ArrowLeft' || e.key === 'k') step(-1);
    });
    show(last, true);
    """
}

/// A text in XML or HTML.
func escaped(_ text: String) -> String {
  var result = ""
  for character in text {
    switch character {
    case "&": result += "&amp;"
    case "<": result += "&lt;"
    case ">": result += "&gt;"
    case "\"": result += "&quot;"
    case _: result.append(character)
    }
  }
  return result
}

/// A text as a string of a script that stands in a page.
private func quoted(_ text: String) -> String {
  var result = "\""
  for scalar in text.unicodeScalars {
    switch scalar {
    case "\"", "\\": result += "\\\(scalar)"
    case "<", "\u{2028}", "\u{2029}":
      let digits = String(scalar.value, radix: 16)
      result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
    case _ where scalar.value < 0x20: result += " "
    case _: result.unicodeScalars.append(scalar)
    }
  }
  return result + "\""
}
