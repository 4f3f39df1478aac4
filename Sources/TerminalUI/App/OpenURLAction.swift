public import Foundation

/// Opens a link in the program, as if it had come from outside.
public struct OpenURLAction {
  private let action: (URL) -> Void

  init(_ action: @escaping (URL) -> Void = { _ in }) { self.action = action }

  /// Opens a link.
  public func callAsFunction(_ url: URL) { action(url) }
}
