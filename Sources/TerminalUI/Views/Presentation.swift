extension View {
  /// Shows views in front of all others while something is true. Esc makes it false.
  ///
  /// - Parameters:
  ///   - isPresented: whether the sheet is there.
  ///   - onDismiss: done when it has gone.
  ///   - content: what is on it.
  public func sheet<Sheet: View>(
    isPresented: Binding<Bool>, onDismiss: (() -> Void)? = nil, @ViewBuilder content: @escaping () -> Sheet
  ) -> some View {
    ModalModifier(
      content: self, style: .sheet, key: isPresented.wrappedValue ? true : nil, modal: content, onDismiss: onDismiss,
      close: { isPresented.wrappedValue = false })
  }

  /// Shows views in front of all others while there is an item. Esc makes it nil.
  ///
  /// - Parameters:
  ///   - item: what the sheet is about.
  ///   - onDismiss: done when it has gone.
  ///   - content: what is on the sheet of an item.
  public func sheet<Item: Identifiable, Sheet: View>(
    item: Binding<Item?>, onDismiss: (() -> Void)? = nil, @ViewBuilder content: @escaping (Item) -> Sheet
  ) -> some View {
    let value = item.wrappedValue
    return ModalModifier(
      content: self, style: .sheet, key: erased(value?.id), modal: { value.map(content) }, onDismiss: onDismiss,
      close: { item.wrappedValue = nil })
  }

  /// Shows views in place of all others while something is true. Esc makes it false.
  public func fullScreenCover<Cover: View>(
    isPresented: Binding<Bool>, onDismiss: (() -> Void)? = nil, @ViewBuilder content: @escaping () -> Cover
  ) -> some View {
    ModalModifier(
      content: self, style: .cover, key: isPresented.wrappedValue ? true : nil, modal: content, onDismiss: onDismiss,
      close: { isPresented.wrappedValue = false })
  }

  /// Tells or asks something in front of all other views, while something is true. Its buttons and Esc make it false.
  ///
  /// - Parameters:
  ///   - title: what it is about.
  ///   - isPresented: whether it is there.
  ///   - actions: its buttons; without any there is one that says OK.
  ///   - message: more about it.
  public func alert<Actions: View, Message: View>(
    _ title: String, isPresented: Binding<Bool>, @ViewBuilder actions: @escaping () -> Actions,
    @ViewBuilder message: @escaping () -> Message
  ) -> some View {
    ModalModifier(
      content: self, style: .alert, key: isPresented.wrappedValue ? true : nil,
      modal: { AlertView(title: title, actions: actions(), message: message()) }, onDismiss: nil,
      close: { isPresented.wrappedValue = false })
  }

  /// Tells or asks something in front of all other views, while something is true. Its buttons and Esc make it false.
  ///
  /// - Parameters:
  ///   - title: what it is about.
  ///   - isPresented: whether it is there.
  ///   - actions: its buttons; without any there is one that says OK.
  public func alert<Actions: View>(
    _ title: String, isPresented: Binding<Bool>, @ViewBuilder actions: @escaping () -> Actions
  ) -> some View {
    alert(title, isPresented: isPresented, actions: actions, message: { EmptyView() })
  }

  /// Asks which of several things is to be done, while something is true. Its buttons and Esc make it false.
  ///
  /// - Parameters:
  ///   - title: what it is about.
  ///   - isPresented: whether it is there.
  ///   - actions: its buttons.
  ///   - message: more about it.
  public func confirmationDialog<Actions: View, Message: View>(
    _ title: String, isPresented: Binding<Bool>, @ViewBuilder actions: @escaping () -> Actions,
    @ViewBuilder message: @escaping () -> Message
  ) -> some View {
    alert(title, isPresented: isPresented, actions: actions, message: message)
  }

  /// Asks which of several things is to be done, while something is true. Its buttons and Esc make it false.
  ///
  /// - Parameters:
  ///   - title: what it is about.
  ///   - isPresented: whether it is there.
  ///   - actions: its buttons.
  public func confirmationDialog<Actions: View>(
    _ title: String, isPresented: Binding<Bool>, @ViewBuilder actions: @escaping () -> Actions
  ) -> some View {
    alert(title, isPresented: isPresented, actions: actions)
  }
}

extension View {
  /// Buttons below each other, in front of all other views.
  func menu<Actions: View>(isPresented: Binding<Bool>, content: @escaping () -> Actions) -> some View {
    ModalModifier(
      content: self, style: .alert, key: isPresented.wrappedValue ? true : nil,
      modal: { VStack(alignment: .leading) { content() } }, onDismiss: nil,
      close: { isPresented.wrappedValue = false })
  }
}

private struct AlertView<Actions: View, Message: View>: View {
  let title: String
  let actions: Actions
  let message: Message

  var body: some View {
    VStack(alignment: .leading) {
      Text(title).bold()
      message
      Text("")
      HStack(spacing: 2) { AlertActions(actions: actions) }
    }
  }
}

/// The buttons of an alert, or one that says OK.
private struct AlertActions<Actions: View>: View, PrimitiveView {
  let actions: Actions

  func elements(in context: Context) -> [Element] {
    let given = context.evaluate(actions, .index(0))
    return given.isEmpty ? context.evaluate(Button("OK") {}, .index(1)) : given
  }
}

/// What stands in front of all other views and has the focus alone.
@MainActor
struct Modal {
  enum Style {
    case sheet
    case cover
    case alert
  }

  var style: Style
  var element: Element
  var focus: FocusOrder
  /// What Esc does.
  var close: () -> Void
}

private struct ModalModifier<Content: View, Sheet: View>: View, PrimitiveView {
  let content: Content
  let style: Modal.Style
  /// What it is about; nil if it isn't there.
  let key: AnyHashable?
  let modal: () -> Sheet
  let onDismiss: (() -> Void)?
  let close: () -> Void

  func elements(in context: Context) -> [Element] {
    let memory = context.node.own { ModalMemory() }
    if memory.wasThere, key == nil, let onDismiss { context.graph.afterPass(onDismiss) }
    memory.wasThere = key != nil
    if let key, context.isShown {
      context.graph.present { evaluate(key, in: context) }
    }
    return context.evaluate(content, .body)
  }

  private func evaluate(_ key: AnyHashable, in context: Context) -> Modal {
    var inner = context
    inner.node = context.node.child(.id(key), type: Modal.self, in: context)
    inner.focus = FocusOrder()
    inner.environment.navigation = nil
    inner.environment.screen = nil
    inner.environment.screenInfo = nil
    inner.environment.leaveContainers()
    inner.environment.isPresented = true
    inner.environment.dismiss = DismissAction(close)
    if style == .alert { inner.environment.afterAction = close }
    context.graph.show(inner.node)
    return Modal(style: style, element: inner.evaluateOne(modal(), .body), focus: inner.focus, close: close)
  }
}

@MainActor
private final class ModalMemory {
  var wasThere = false
}
