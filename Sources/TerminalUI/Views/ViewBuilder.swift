/// Makes one view of the views in a closure.
@MainActor @preconcurrency
@resultBuilder
public enum ViewBuilder {
  /// An expression in the closure.
  public static func buildExpression<V: View>(_ view: V) -> V { view }

  /// A closure without views.
  public static func buildBlock() -> EmptyView { EmptyView() }

  /// A closure with one view.
  public static func buildBlock<V: View>(_ view: V) -> V { view }

  /// A closure with several views, as many as you like.
  @_disfavoredOverload
  public static func buildBlock<each V: View>(_ view: repeat each V) -> TupleView<(repeat each V)> {
    var parts: [AnyPart] = []
    repeat parts.append(AnyPart(each view))
    return TupleView((repeat each view), parts)
  }

  /// `if` without `else`.
  public static func buildIf<V: View>(_ view: V?) -> V? { view }

  /// The first branch of `if` or `switch`.
  public static func buildEither<First: View, Second: View>(first: First) -> ConditionalView<First, Second> {
    ConditionalView(.first(first))
  }

  /// Another branch of `if` or `switch`.
  public static func buildEither<First: View, Second: View>(second: Second) -> ConditionalView<First, Second> {
    ConditionalView(.second(second))
  }

  /// `if #available`.
  public static func buildLimitedAvailability<V: View>(_ view: V) -> AnyView { AnyView(view) }
}

/// Nothing.
public struct EmptyView: View, RowStructure {
  /// Nothing.
  public init() {}

  func elements(in _: Context) -> [Element] { [] }
}

/// A part of a `TupleView`, evaluated under a key.
@MainActor
struct AnyPart {
  let evaluate: (Context, Node.Key) -> [Element]

  init<V: View>(_ view: V) { evaluate = { context, key in context.evaluate(view, key) } }
}

/// Several views, one after the other.
public struct TupleView<Views>: View, RowStructure {
  /// The views.
  public let value: Views
  private let parts: [AnyPart]

  init(_ value: Views, _ parts: [AnyPart]) {
    self.value = value
    self.parts = parts
  }

  func elements(in context: Context) -> [Element] {
    var all: [Element] = []
    for (index, part) in parts.enumerated() { all += part.evaluate(context, .index(index)) }
    return all
  }
}

/// One of two views.
public struct ConditionalView<First: View, Second: View>: View, RowStructure {
  enum Branch {
    case first(First)
    case second(Second)
  }

  private let branch: Branch

  init(_ branch: Branch) { self.branch = branch }

  func elements(in context: Context) -> [Element] {
    switch branch {
    case .first(let view): context.evaluate(view, .index(0))
    case .second(let view): context.evaluate(view, .index(1))
    }
  }
}

extension Optional: View where Wrapped: View {}

extension Optional: PrimitiveView, RowStructure where Wrapped: View {
  func elements(in context: Context) -> [Element] {
    guard let self else { return [] }
    return context.evaluate(self, .index(0))
  }
}

/// A view whose type isn't told. Its state lasts while the type is the same.
public struct AnyView: View, RowStructure {
  private let view: any View

  /// - Parameter view: the view whose type isn't to be told.
  public init(_ view: any View) { self.view = view }

  /// - Parameter view: the view whose type isn't to be told.
  public init(erasing view: any View) { self.view = view }

  func elements(in context: Context) -> [Element] {
    func open<V: View>(_ view: V) -> [Element] { context.evaluate(view, .body) }
    return open(view)
  }
}

/// Views that belong together without being laid out in any way.
public struct Group<Content: View>: View, RowStructure {
  private let content: Content

  /// - Parameter content: the views.
  public init(@ViewBuilder content: () -> Content) { self.content = content() }

  func elements(in context: Context) -> [Element] { context.evaluate(content, .body) }
}
