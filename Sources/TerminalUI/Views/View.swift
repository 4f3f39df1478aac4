/// A part of what a program shows: a value that says what is to be seen for the present state.
///
/// A view has a body made of other views. It is evaluated again whenever state that it reads may have changed.
@MainActor @preconcurrency
public protocol View {
  /// What the body is.
  associatedtype Body: View

  /// The views that this one is made of.
  @ViewBuilder @MainActor @preconcurrency var body: Body { get }
}

extension Never: View {
  /// Never evaluated: a view of the library's own has no body.
  public var body: Never { fatalError("a view of the library's own has no body") }
}

extension View where Body == Never {
  /// Never evaluated: a view of the library's own has no body.
  public var body: Never { fatalError("\(Self.self) has no body") }
}
