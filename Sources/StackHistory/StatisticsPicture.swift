extension Statistics {
  /// The figures as a drawing that needs nothing else: events and conflicts over time, depths, devices, what is visited
  /// most.
  package func svg(title: String, texts: PictureTexts) -> String {
    let width = 820
    var y = 60
    var body = ""
    func heading(_ text: String) {
      body += "<text x=\"20\" y=\"\(y)\" font-size=\"14\" font-weight=\"bold\">\(escaped(text))</text>\n"
      y += 14
    }
    func bars(_ rows: [(label: String, count: Int)], _ colour: String) {
      let most = max(1, rows.map(\.count).max() ?? 1)
      for row in rows {
        let label = row.label.count > 40 ? row.label.prefix(39) + "…" : row.label
        let length = row.count * 440 / most
        body += "<text x=\"300\" y=\"\(y + 12)\" text-anchor=\"end\">\(escaped(label))</text>"
        body += "<rect x=\"308\" y=\"\(y + 1)\" width=\"\(length)\" height=\"13\" fill=\"\(colour)\"/>"
        body += "<text x=\"\(314 + length)\" y=\"\(y + 12)\">\(row.count)</text>\n"
        y += 18
      }
      y += 22
    }
    heading("Events over time, conflicts in orange")
    let most = max(1, spans.map(\.events).max() ?? 1)
    let step = max(2, 760 / max(1, spans.count))
    for (place, span) in spans.enumerated() {
      let height = span.events * 120 / most
      let orange = span.conflicts * 120 / most
      let x = 20 + place * step
      body += "<g><title>\(escaped(texts.time(span.start))): \(span.events) events, \(span.conflicts) conflicts</title>"
      body += "<rect x=\"\(x)\" y=\"\(y + 120 - height)\" width=\"\(step - 1)\" height=\"\(height)\" fill=\"#2563eb\"/>"
      body +=
        "<rect x=\"\(x)\" y=\"\(y + 120 - orange)\" width=\"\(step - 1)\" height=\"\(orange)\" fill=\"#d97706\"/></g>\n"
    }
    y += 136
    if let first = spans.first, let last = spans.last {
      body += "<text x=\"20\" y=\"\(y)\">\(escaped(texts.time(first.start)))</text>"
      body += "<text x=\"780\" y=\"\(y)\" text-anchor=\"end\">\(escaped(texts.time(last.start)))</text>\n"
    }
    y += 34
    heading("Depth of the stack after an event")
    bars(depths.enumerated().map { ($0 == 19 ? "19 and more" : "\($0)", $1) }, "#15803d")
    heading("Devices")
    bars(devices.prefix(20).map { (texts.device($0.device), $0.events) }, "#7c3aed")
    heading("Most visited")
    bars(visits.map { (texts.value($0.value), $0.count) }, "#0e7490")
    return """
      <svg xmlns="http://www.w3.org/2000/svg" width="\(width)" height="\(y)" viewBox="0 0 \(width) \(y)" \
      font-family="system-ui, sans-serif" font-size="12" role="img" aria-label="\(escaped(title))">
      <title>\(escaped(title))</title>
      <rect width="100%" height="100%" fill="#fff"/>
      <text x="20" y="30" font-size="16" font-weight="bold">\(escaped(title))</text>
      \(body)</svg>

      """
  }
}
