/// What keys and the mouse do.
extension Graph {
  /// Takes what was read from a terminal at once, one event after the other, each on the picture that the one before
  /// has made.
  ///
  /// Of the same key twice in one reading, the second doesn't count if the first changed the screen: it was meant for
  /// the screen that is gone.
  ///
  /// - Parameter time: seconds of any clock, to tell a double click.
  func handle(_ events: [InputEvent], at time: Double) {
    var last: InputEvent?
    for event in events {
      guard !isFinished else { return }
      update()
      if event == last { continue }
      let screen = shownScreen
      work { handle(event, at: time) }
      update()
      last = screen !== shownScreen ? event : nil
    }
  }

  private func handle(_ event: InputEvent, at time: Double) {
    switch event {
    case .key(let press):
      statusLine.clearAnnouncements()
      handle(press)
    case .paste(let text): if !showsHelp { _ = picture?.focus.current?.paste(text) }
    case .mouse(let event):
      statusLine.clearAnnouncements()
      handle(event, at: time)
    case .resize(let size): self.size = size
    case .resumed: setNeedsDisplay()
    case .focus: break
    case .terminate, .hangUp: finish()
    }
  }

  private func handle(_ press: KeyPress) {
    if press == KeyPress("c", .control) { return finish() }
    if showsHelp {
      showsHelp = false
      return
    }
    let current = picture?.focus.current
    if let current, current.press(press) { return }
    let isTyping = current?.isTyping() ?? false
    if !isTyping || !press.modifiers.isEmpty, handleShortcut(press) { return }
    switch press.key {
    case .tab: moveFocus(press.modifiers.contains(.shift) ? -1 : 1)
    case .down: moveFocusVertically(1)
    case .up: moveFocusVertically(-1)
    case .enter where isTyping: moveFocus(1)
    case .enter: current?.activate()
    case .escape where isTyping && current?.isReserved == true: leaveSearch()
    case .escape: back()
    case .backspace where !isTyping, .left where !isTyping: back()
    case .right where !isTyping: current?.activate()
    case .character(let character) where !isTyping && press.modifiers.isEmpty: handle(character)
    default: break
    }
  }

  /// The innermost view that has a use for the key.
  private func handleShortcut(_ press: KeyPress) -> Bool {
    picture?.focus.shortcuts.reversed().contains { $0.press == press && $0.action() } ?? false
  }

  private func handle(_ character: Character) {
    switch character {
    case "j": moveFocusVertically(1)
    case "k": moveFocusVertically(-1)
    case "g": _ = stacks.last { $0.canGoBack }?.goToRoot()
    case "/": if let field = picture?.focus.searchField { setFocus(field) }
    case "?": showsHelp = true
    case "q": finish()
    default: break
    }
  }

  /// Closes the screen that is shown. At the root nothing happens.
  func back() {
    if stacks.contains(where: \.canGoBack) || modals.isEmpty { goBack() } else { modals.last?.close() }
  }

  private func goBack() { _ = stacks.last { $0.canGoBack }?.goBack() }

  private func leaveSearch() {
    guard let order = picture?.focus else { return }
    order.current?.leave()
    if let next = order.items.first(where: { !$0.isReserved }) { setFocus(next.node) }
  }

  private func moveFocus(_ steps: Int) {
    guard let order = picture?.focus, !order.items.isEmpty else { return }
    if order.current?.advance(steps) == true { return }
    let index = order.index.map { ($0 + steps + order.items.count) % order.items.count } ?? 0
    setFocus(order.items[index].node)
  }

  /// To the nearest thing above or below that can have the focus.
  private func moveFocusVertically(_ steps: Int) {
    guard let order = picture?.focus, !order.items.isEmpty else { return }
    guard let current = order.current, let rect = current.rect else { return moveFocus(steps) }
    func distance(_ other: CellRect) -> (Int, Int)? {
      let rows =
        steps > 0
        ? other.origin.row - (rect.rows.upperBound - 1) : rect.origin.row - (other.rows.upperBound - 1)
      guard rows > 0 else { return nil }
      let columns = max(
        0, other.origin.column - rect.columns.upperBound + 1, rect.origin.column - other.columns.upperBound + 1)
      return (rows, columns)
    }
    let candidates = order.items.compactMap { item in
      item.rect.flatMap(distance).map { (item: item, distance: $0) }
    }
    if let nearest = candidates.min(by: { $0.distance < $1.distance }) { return setFocus(nearest.item.node) }
    // Nothing more in that direction: what can be scrolled moves.
    _ = picture?.canvas.target(at: rect.origin) { $0.scroll != nil }?.scroll?(steps)
  }

  private func handle(_ event: MouseEvent, at time: Double) {
    switch event.action {
    case .press(.left):
      if showsHelp {
        showsHelp = false
        return
      }
      // The second half of a double click that opened a screen isn't a click on what is there now.
      if let last = lastClick, last.position == event.position, time - last.time < 0.4, last.screen !== shownScreen {
        return
      }
      lastClick = (event.position, time, shownScreen)
      picture?.canvas.target(at: event.position) { $0.click != nil }?.click?(event.position)
    case .wheelUp: scroll(-3, at: event.position)
    case .wheelDown: scroll(3, at: event.position)
    default: break
    }
  }

  private func scroll(_ steps: Int, at position: CellPosition) {
    picture?.canvas.target(at: position) { $0.scroll != nil }?.scroll?(steps)
  }
}
