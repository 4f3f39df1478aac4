public import Foundation

extension View {
  /// Does something when the view comes into sight: at first, and when a screen that covered it is closed.
  public func onAppear(perform action: (() -> Void)? = nil) -> some View {
    LifeModifier(content: self, appear: action ?? {}, disappear: {})
  }

  /// Does something when the view goes out of sight: when it is gone, or another screen covers it.
  public func onDisappear(perform action: (() -> Void)? = nil) -> some View {
    LifeModifier(content: self, appear: {}, disappear: action ?? {})
  }

  /// Runs something on the main actor while the view is in sight; it is cancelled when the view goes.
  public func task(_ action: @escaping @MainActor @Sendable () async -> Void) -> some View { task(id: 0, action) }

  /// Runs something on the main actor while the view is in sight, and anew when a value changes.
  public func task<ID: Equatable>(
    id: ID, _ action: @escaping @MainActor @Sendable () async -> Void
  ) -> some View {
    TaskModifier(content: self, id: id, action: action)
  }

  /// Does something when a value has changed.
  ///
  /// - Parameters:
  ///   - value: the value.
  ///   - initial: whether it is done for the first value too.
  ///   - action: what is done, with the value before and the value now.
  public func onChange<Value: Equatable>(
    of value: Value, initial: Bool = false, _ action: @escaping (_ old: Value, _ new: Value) -> Void
  ) -> some View {
    ChangeModifier(content: self, value: value, initial: initial, action: action)
  }

  /// Does something when a value has changed.
  public func onChange<Value: Equatable>(
    of value: Value, initial: Bool = false, _ action: @escaping () -> Void
  ) -> some View {
    onChange(of: value, initial: initial) { _, _ in action() }
  }

  /// Does something with a link that comes from outside. One that came before the view was there isn't lost.
  public func onOpenURL(perform action: @escaping (URL) -> Void) -> some View {
    LinkModifier(content: self, action: action)
  }

  /// Gives the view an identity: with another one it is another view, with state of its own.
  public func id<ID: Hashable>(_ id: ID) -> some View { IdentityModifier(content: self, id: AnyHashable(id)) }

  /// The value that stands for the view in a selection.
  public func tag<Value: Hashable>(_ tag: Value) -> some View {
    transformEnvironment(\.tag) { $0 = AnyHashable(tag) }
      .wrappingElements { element, _ in TaggedElement(element, AnyHashable(tag)) }
  }

  /// Changes the view.
  public func modifier<Modifier: ViewModifier>(_ modifier: Modifier) -> some View {
    ModifiedContent(content: self, modifier: modifier)
  }
}

private struct LifeModifier<Content: View>: View, RowStructure {
  let content: Content
  // Of a single row it is told when the row is seen.
  var hasRows: Bool { (content as? any RowStructure)?.hasRows == true }
  let appear: () -> Void
  let disappear: () -> Void

  func elements(in context: Context) -> [Element] {
    if context.isShown {
      context.graph.appear(context.node, Appearance(appear: appear, disappear: disappear))
    }
    return context.evaluate(content, .body)
  }
}

private struct TaskModifier<Content: View, ID: Equatable>: View, RowStructure {
  let content: Content
  var hasRows: Bool { (content as? any RowStructure)?.hasRows == true }
  let id: ID
  let action: @MainActor @Sendable () async -> Void

  func elements(in context: Context) -> [Element] {
    if context.isShown {
      let runner = context.node.own { TaskRunner() }
      let action = action
      if let last = runner.id as? ID, last != id, runner.task != nil {
        context.graph.afterPass { runner.start(action) }
      }
      runner.id = id
      context.graph.appear(
        context.node, Appearance(appear: { runner.start(action) }, disappear: { runner.cancel() }))
    }
    return context.evaluate(content, .body)
  }
}

/// A task that runs while a view is in sight.
@MainActor
private final class TaskRunner {
  var id: Any?
  private(set) var task: Task<Void, Never>?

  func start(_ action: @escaping @MainActor @Sendable () async -> Void) {
    task?.cancel()
    task = Task { @MainActor in await action() }
  }

  func cancel() {
    task?.cancel()
    task = nil
  }
}

private struct ChangeModifier<Content: View, Value: Equatable>: View, RowStructure {
  let content: Content
  let value: Value
  let initial: Bool
  let action: (Value, Value) -> Void

  func elements(in context: Context) -> [Element] {
    let last = context.node.own { LastValue<Value>() }
    let (old, new, action) = (last.value, value, action)
    last.value = value
    if let old {
      if old != new { context.graph.afterPass { action(old, new) } }
    } else if initial {
      context.graph.afterPass { action(new, new) }
    }
    return context.evaluate(content, .body)
  }
}

private final class LastValue<Value> {
  var value: Value?
}

private struct LinkModifier<Content: View>: View, RowStructure {
  let content: Content
  let action: (URL) -> Void

  func elements(in context: Context) -> [Element] {
    context.graph.handleLinks(action)
    return context.evaluate(content, .body)
  }
}

private struct IdentityModifier<Content: View>: View, RowStructure {
  let content: Content
  let id: AnyHashable

  func elements(in context: Context) -> [Element] { context.evaluate(content, .id(id)) }
}

/// Something that changes a view, with state of its own.
@MainActor @preconcurrency
public protocol ViewModifier {
  /// What the body is.
  associatedtype Body: View
  /// The view that is changed.
  typealias Content = ModifiedView<Self>

  /// The changed view.
  @ViewBuilder @MainActor @preconcurrency func body(content: Content) -> Body
}

/// The view that a ``ViewModifier`` changes.
public struct ModifiedView<Modifier>: View, RowStructure {
  let evaluate: (Context) -> [Element]

  func elements(in context: Context) -> [Element] { evaluate(context) }
}

/// A view with a modifier.
public struct ModifiedContent<Content: View, Modifier: ViewModifier>: View, RowStructure {
  let content: Content
  let modifier: Modifier

  func elements(in context: Context) -> [Element] {
    var modifier = modifier
    FieldLayout.of(Modifier.self).connect(&modifier, in: context)
    let content = content
    return context.evaluate(modifier.body(content: ModifiedView { $0.evaluate(content, .body) }), .body)
  }
}
