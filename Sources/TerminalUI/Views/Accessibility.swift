extension View {
  /// What is read instead of the view where it can't be seen.
  public func accessibilityLabel(_ label: String) -> some View {
    wrappingElements { element, _ in SpokenElement(element, label) }
  }

  /// What is read instead of the view where it can't be seen.
  public func accessibilityLabel(_ label: Text) -> some View { accessibilityLabel(label.string) }

  /// Whether the view isn't read where it can't be seen.
  public func accessibilityHidden(_ hidden: Bool) -> some View {
    wrappingElements { element, _ in hidden ? SpokenElement(element, nil) : element }
  }
}

/// A view that is read as another text, or not at all.
@MainActor
final class SpokenElement: WrappedElement {
  private let label: String?

  init(_ content: Element, _ label: String?) {
    self.label = label
    super.init(content)
  }

  override func place(in rect: CellRect, on canvas: Canvas) {
    let silent = Canvas(clip: canvas.clip)
    content.place(in: rect, on: silent)
    silent.silence()
    canvas.append(silent, columns: 0, rows: 0)
    if let label { canvas.speak(label, at: rect.origin) }
  }
}
