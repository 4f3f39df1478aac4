public import Foundation

/// A button that shows others.
public struct Menu<Label: View, Content: View>: View {
  private let label: Label
  private let content: () -> Content
  @State private var isOpen = false

  /// - Parameters:
  ///   - content: the buttons.
  ///   - label: what is written on it.
  public init(@ViewBuilder content: @escaping () -> Content, @ViewBuilder label: () -> Label) {
    self.content = content
    self.label = label()
  }

  /// A button, and an alert with the others.
  public var body: some View {
    Button {
      isOpen = true
    } label: {
      HStack {
        label
        Text("▾")
      }
    }
    .menu(isPresented: $isOpen, content: content)
  }
}

extension Menu where Label == Text {
  /// - Parameters:
  ///   - title: what is written on it.
  ///   - content: the buttons.
  public init(_ title: String, @ViewBuilder content: @escaping () -> Content) {
    self.init(content: content) { Text(title) }
  }
}

/// A number within bounds, to be changed with ← and →.
public struct Slider<Label: View>: View {
  private let value: Binding<Double>
  private let bounds: ClosedRange<Double>
  private let step: Double
  private let label: Label

  /// - Parameters:
  ///   - value: the number.
  ///   - bounds: the least and the most.
  ///   - step: how far it goes with a key; a twentieth of all if nil.
  ///   - label: what stands before it.
  public init(
    value: Binding<Double>, in bounds: ClosedRange<Double> = 0...1, step: Double? = nil, @ViewBuilder label: () -> Label
  ) {
    self.value = value
    self.bounds = bounds
    self.step = step ?? (bounds.upperBound - bounds.lowerBound) / 20
    self.label = label()
  }
}

extension Slider where Label == EmptyView {
  /// - Parameters:
  ///   - value: the number.
  ///   - bounds: the least and the most.
  ///   - step: how far it goes with a key; a twentieth of all if nil.
  public init(value: Binding<Double>, in bounds: ClosedRange<Double> = 0...1, step: Double? = nil) {
    self.init(value: value, in: bounds, step: step) { EmptyView() }
  }
}

extension Slider: PrimitiveView {
  func elements(in context: Context) -> [Element] {
    let (value, bounds, step) = (value, bounds, step)
    let part = (value.wrappedValue - bounds.lowerBound) / (bounds.upperBound - bounds.lowerBound)
    let bar = context.evaluateOne(SliderBar(label: label, part: part), .body)
    func move(_ steps: Double) {
      value.wrappedValue = min(bounds.upperBound, max(bounds.lowerBound, value.wrappedValue + steps * step))
    }
    let control = ControlElement(bar, decoration: .plain, action: {}, in: context)
    control.press { press in
      switch press {
      case KeyPress(.left), KeyPress("-"): move(-1)
      case KeyPress(.right), KeyPress("+"): move(1)
      default: return false
      }
      return true
    }
    return [control]
  }
}

private struct SliderBar<Label: View>: View {
  let label: Label
  let part: Double

  var body: some View {
    HStack {
      label
      ProgressView(value: part)
    }
  }
}

/// Opens a link in the program itself: see `onOpenURL(perform:)`.
public struct Link<Label: View>: View {
  private let destination: URL
  private let label: Label
  @Environment(\.openURL) private var openURL

  /// - Parameters:
  ///   - destination: the link.
  ///   - label: what is written on it.
  public init(destination: URL, @ViewBuilder label: () -> Label) {
    self.destination = destination
    self.label = label()
  }

  /// A button.
  public var body: some View {
    Button {
      openURL(destination)
    } label: {
      label
    }
  }
}

extension Link where Label == Text {
  /// - Parameters:
  ///   - title: what is written on it.
  ///   - destination: the link.
  public init(_ title: String, destination: URL) {
    self.init(destination: destination) { Text(title) }
  }
}

extension View {
  /// Does something when a person presses `r`, to get what is new.
  public func refreshable(_ action: @escaping @MainActor @Sendable () async -> Void) -> some View {
    onKeyPress("r") {
      Task { await action() }
      return .handled
    }
  }
}
