/// A line of text to be typed.
public struct TextField<Label: View>: View {
  private let label: Label
  private let prompt: String
  private let text: Binding<String>
  private let isSecret: Bool

  init(_ label: Label, prompt: String, text: Binding<String>, isSecret: Bool = false) {
    self.label = label
    self.prompt = prompt
    self.text = text
    self.isSecret = isSecret
  }

  /// - Parameters:
  ///   - text: what is typed.
  ///   - prompt: what is shown while nothing is.
  ///   - label: what stands before the field.
  public init(text: Binding<String>, prompt: Text? = nil, @ViewBuilder label: () -> Label) {
    self.init(label(), prompt: prompt?.string ?? "", text: text)
  }
}

extension TextField where Label == EmptyView {
  /// - Parameters:
  ///   - title: what is shown while nothing is typed.
  ///   - text: what is typed.
  ///   - prompt: what is shown instead of the title.
  public init(_ title: String, text: Binding<String>, prompt: Text? = nil) {
    self.init(EmptyView(), prompt: prompt?.string ?? title, text: text)
  }
}

/// A line of text to be typed that isn't shown.
public struct SecureField: View {
  private let title: String
  private let text: Binding<String>

  /// - Parameters:
  ///   - title: what is shown while nothing is typed.
  ///   - text: what is typed.
  public init(_ title: String, text: Binding<String>) {
    self.title = title
    self.text = text
  }

  /// A text field that shows dots.
  public var body: some View { TextField(EmptyView(), prompt: title, text: text, isSecret: true) }
}

extension TextField: PrimitiveView {
  func elements(in context: Context) -> [Element] {
    let labels = context.evaluate(label, .body)
    let memory = context.node.own { TextFieldMemory() }
    let field = TextFieldElement(prompt, text, memory, isSecret: isSecret, in: context)
    guard !labels.isEmpty else { return [field] }
    return [StackElement(.horizontal, labels + [field], spacing: 1) { _, _ in 0 }]
  }
}

/// Where the cursor is in a text field.
@MainActor
final class TextFieldMemory {
  /// In characters from the start; nil is the end.
  var cursor: Int?
  /// The first character that is seen.
  var first = 0
}

@MainActor
final class TextFieldElement: Element {
  private let prompt: String
  private let text: Binding<String>
  private let memory: TextFieldMemory
  private let isSecret: Bool
  private let focus: FocusOrder
  private let focusable: Focusable?
  private let style: CellStyle
  private let setFocus: () -> Void
  private let isInRow: Bool

  init(_ prompt: String, _ text: Binding<String>, _ memory: TextFieldMemory, isSecret: Bool, in context: Context) {
    self.prompt = prompt
    self.text = text
    self.memory = memory
    self.isSecret = isSecret
    focus = context.focus
    isInRow = context.environment.isInRow
    style = context.environment.textStyle.cellStyle(isEnabled: context.environment.isEnabled)
    setFocus = { [weak graph = context.graph, weak node = context.node] in node.map { graph?.setFocus($0) } }
    guard context.environment.isEnabled else {
      focusable = nil
      return
    }
    let focusable = Focusable(context.node, .text)
    let submit = context.environment.submit
    let edited = { [weak graph = context.graph, weak node = context.node] in
      if let node { graph?.typed(into: node) }
    }
    let submitted = { [weak graph = context.graph] in graph?.stopTyping() }
    let editor = TextEditor(text: text, memory: memory)
    focusable.label = prompt
    focusable.press = { press in
      if press.key == .enter {
        guard let submit else { return false }
        submit()
        submitted()
        return true
      }
      guard editor.press(press) else { return false }
      edited()
      return true
    }
    focusable.paste = { text in
      editor.insert(text.replacing("\n", with: " "))
      edited()
      return true
    }
    focus.add(focusable)
    self.focusable = focusable
  }

  override func expands(_ axis: Axis) -> Bool { axis == .horizontal }

  override func measure(_ proposal: Proposal) -> CellSize {
    CellSize(width: proposal.width ?? max(20, text.wrappedValue.displayWidth + 1), height: 1)
  }

  override func place(in rect: CellRect, on canvas: Canvas) {
    let isFocused = focusable.map { focus.isFocused($0.node) } ?? false
    let text = isSecret ? String(repeating: "•", count: text.wrappedValue.count) : text.wrappedValue
    var shown = style
    shown.attributes.insert(.underline)
    canvas.fill(rect, style: shown)
    let characters = Array(text)
    let cursor = min(memory.cursor ?? characters.count, characters.count)
    // Such that the cursor is seen.
    var first = min(memory.first, cursor)
    while first < cursor, String(characters[first..<cursor]).displayWidth >= rect.size.width { first += 1 }
    memory.first = first
    canvas.clipped(to: rect) {
      if text.isEmpty {
        var dim = shown
        dim.attributes.insert(.dim)
        canvas.write(prompt, at: rect.origin, style: dim)
      } else {
        canvas.write(String(characters[first...]), at: rect.origin, style: shown)
      }
    }
    guard let focusable else { return }
    focusable.rect = rect
    if isFocused {
      let column = rect.origin.column + String(characters[first..<cursor]).displayWidth
      canvas.cursor = CellPosition(column: column, row: rect.origin.row)
      canvas.highlight(CellRect(column: column, row: rect.origin.row, width: 1, height: 1))
    }
    guard !isInRow || focus.items.count > 1 else { return }
    let setFocus = setFocus
    canvas.hit(rect, Canvas.HitTarget(click: { _ in setFocus() }))
  }
}

/// Changes a text as keys say.
@MainActor
struct TextEditor {
  let text: Binding<String>
  let memory: TextFieldMemory

  private var cursor: Int { min(memory.cursor ?? text.wrappedValue.count, text.wrappedValue.count) }

  func press(_ press: KeyPress) -> Bool {
    let length = text.wrappedValue.count
    switch (press.key, press.modifiers) {
    case (.character(let character), []): insert(String(character))
    case (.character("a"), .control), (.home, []): memory.cursor = 0
    case (.character("e"), .control), (.end, []): memory.cursor = nil
    case (.character("u"), .control): remove(0..<cursor)
    case (.character("k"), .control): remove(cursor..<length)
    case (.character("w"), .control), (.backspace, .alt): remove(wordStart..<cursor)
    // In an empty field too: who deletes a text by holding the key doesn't want to go back.
    case (.backspace, []): if cursor > 0 { remove(cursor - 1..<cursor) }
    case (.delete, []): if cursor < length { remove(cursor..<cursor + 1) }
    case (.left, []): memory.cursor = max(0, cursor - 1)
    case (.right, []): memory.cursor = cursor + 1 >= length ? nil : cursor + 1
    default: return false
    }
    return true
  }

  func insert(_ new: String) {
    var characters = text.wrappedValue
    let place = characters.index(characters.startIndex, offsetBy: cursor)
    let before = characters.distance(from: place, to: characters.endIndex)
    characters.insert(contentsOf: new, at: place)
    // Counted from the end: what is inserted may join with the character before it.
    memory.cursor = before == 0 ? nil : characters.count - before
    text.wrappedValue = characters
  }

  private var wordStart: Int {
    let before = Array(text.wrappedValue.prefix(cursor))
    var start = before.count
    while start > 0, before[start - 1] == " " { start -= 1 }
    while start > 0, before[start - 1] != " " { start -= 1 }
    return start
  }

  private func remove(_ range: Range<Int>) {
    var characters = Array(text.wrappedValue)
    characters.removeSubrange(range)
    memory.cursor = range.lowerBound
    text.wrappedValue = String(characters)
  }
}
