public import Observation

/// A view under a changed environment.
struct EnvironmentModifier<Content: View>: View, RowStructure {
  let content: Content
  let change: (inout EnvironmentValues) -> Void

  func elements(in context: Context) -> [Element] { context.evaluate(content, .body, changing: change) }
}

extension View {
  func changingEnvironment(_ change: @escaping (inout EnvironmentValues) -> Void) -> EnvironmentModifier<Self> {
    EnvironmentModifier(content: self, change: change)
  }

  /// Hands a value down to the views below.
  public func environment<Value>(_ keyPath: WritableKeyPath<EnvironmentValues, Value>, _ value: Value) -> some View {
    changingEnvironment { $0[keyPath: keyPath] = value }
  }

  /// Changes a value that is handed down to the views below.
  public func transformEnvironment<Value>(
    _ keyPath: WritableKeyPath<EnvironmentValues, Value>, transform: @escaping (inout Value) -> Void
  ) -> some View {
    changingEnvironment { transform(&$0[keyPath: keyPath]) }
  }

  /// Hands an object down to the views below, which find it by its type.
  public func environment<Object: AnyObject & Observable>(_ object: Object?) -> some View {
    changingEnvironment { $0.objects[ObjectIdentifier(Object.self)] = object }
  }

  /// Hands an object down to the views below, which find it by its type.
  public func environmentObject<Object: ObservableObject>(_ object: Object) -> some View {
    changingEnvironment { $0.objects[ObjectIdentifier(Object.self)] = object }
  }

  /// Whether the controls can't be used.
  public func disabled(_ disabled: Bool) -> some View {
    changingEnvironment { $0.isEnabled = $0.isEnabled && !disabled }
  }

  /// How many lines a text may have.
  public func lineLimit(_ number: Int?) -> some View { changingEnvironment { $0.lineLimit = number } }

  /// How the lines of a text stand under each other.
  public func multilineTextAlignment(_ alignment: TextAlignment) -> some View {
    changingEnvironment { $0.multilineTextAlignment = alignment }
  }

  /// What Enter in a text field does.
  public func onSubmit(_ action: @escaping () -> Void) -> some View { changingEnvironment { $0.submit = action } }
}

extension View {
  private func styled(_ change: @escaping (inout TextStyle) -> Void) -> EnvironmentModifier<Self> {
    changingEnvironment { change(&$0.textStyle) }
  }

  /// Bold, or not.
  public func bold(_ isActive: Bool = true) -> some View { styled { $0.bold = isActive } }

  /// Slanted, or not.
  public func italic(_ isActive: Bool = true) -> some View { styled { $0.italic = isActive } }

  /// With a line beneath, or not.
  public func underline(_ isActive: Bool = true) -> some View { styled { $0.underline = isActive } }

  /// With a line through it, or not.
  public func strikethrough(_ isActive: Bool = true) -> some View { styled { $0.strikethrough = isActive } }

  /// In a colour.
  public func foregroundStyle<S: ShapeStyle>(_ style: S) -> some View { styled { $0.color = style.resolved() } }

  /// In a colour; nil takes that of the views above.
  public func foregroundColor(_ color: Color?) -> some View { styled { if let color { $0.color = color } } }

  /// In a size and weight: a terminal shows the weight only.
  public func font(_ font: Font?) -> some View { styled { if let font { $0.bold = font.isBold } } }

  /// In a weight.
  public func fontWeight(_ weight: Font.Weight?) -> some View { styled { if let weight { $0.bold = weight.isBold } } }
}
