import NavigationModel
import StackHistory

extension LoadedHistory {
  /// How many events a picture has unless more are asked for: what a browser scrolls with ease.
  private static let pictureEvents = 2000

  func pictureTexts() -> PictureTexts {
    let names = self.names
    return PictureTexts(
      device: { names.text($0) }, time: { rfc3339(milliseconds: $0) }, action: { Commands.text(of: $0) },
      value: { Commands.text(of: $0) }, conflict: { Commands.text(of: $0, names, [:]) })
  }

  /// Writes the lanes as a drawing or a page.
  func draw(to file: String, asPage: Bool, last: Int?, overwrites: Bool, on console: Console) throws {
    guard timeline.count > 0 else { throw CommandError(.notFound, "\(history.stack) has no events to draw") }
    let picture = HistoryPicture(
      of: &timeline, title: history.stack.description, last: last ?? Self.pictureEvents, texts: pictureTexts())
    try writeFile(path: file, on: console, overwrites: overwrites) {
      try $0.write((asPage ? picture.html() : picture.svg()).utf8)
    }
    guard file != "-" else { return }
    let left = timeline.count - picture.range.count
    console.say(
      "\(file): \(counted(picture.range.count, "event"))"
        + (left > 0 && last == nil ? "; \(left) older ones are left out, --last N draws more" : ""))
  }
}
