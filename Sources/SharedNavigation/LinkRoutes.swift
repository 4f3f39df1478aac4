import Foundation
import Links
import NavigationClient
public import TerminalUI

/// Links from outside as paths, by patterns that are declared once.
extension View {
  /// Shows the path of a link that comes from outside: an argument of the program, or one that `openURL` is given.
  ///
  /// ```swift
  /// .opensLinks(
  ///   to: $path,
  ///   """
  ///   prefix shop://
  ///   shelf/{name}               Shelf {"name":{name}}
  ///   shelf/{name}/{id:int}      Shelf {"name":{name}} Product {"id":{id}}
  ///   """)
  /// ```
  ///
  /// The text is a routes file's, so that `navsync open` and `navsync link` have the same: `navsync help open` has its
  /// rules. A link that no pattern matches changes nothing, and the last line of the screen says so and lists the
  /// patterns; one whose path is shown already changes nothing either.
  ///
  /// - Parameters:
  ///   - path: what the link replaces.
  ///   - routes: a route a line: the pattern, then the values, each with the name that its type is sent under. It is
  ///     part of the program, so that a text that isn't one is a trap.
  ///   - file: where it is written, for the trap.
  ///   - line: where it is written, for the trap.
  public func opensLinks(
    to path: Binding<NavigationPath>, _ routes: String, file: StaticString = #fileID, line: UInt = #line
  ) -> some View {
    modifier(
      LinkOpening(routes: parsed(routes, file, line)) { values in
        path.wrappedValue = NavigationPath(elements: values.map { NavigationPath.Element(value: $0.pathValue) })
      })
  }

  /// Shows the path of a link that comes from outside, for a path of one type: every value of a route is of it.
  ///
  /// - Parameters:
  ///   - path: what the link replaces.
  ///   - routes: a route a line: the pattern, then the values, each with the name that its type is sent under. It is
  ///     part of the program, so that a text that isn't one is a trap.
  ///   - file: where it is written, for the trap.
  ///   - line: where it is written, for the trap.
  public func opensLinks<Path>(
    to path: Binding<Path>, _ routes: String, file: StaticString = #fileID, line: UInt = #line
  ) -> some View
  where Path: RandomAccessCollection & RangeReplaceableCollection, Path.Element: Codable & Hashable {
    modifier(
      LinkOpening(routes: parsed(routes, file, line)) { values in
        path.wrappedValue = Path(
          try values.map { try JSONDecoder().decode(Path.Element.self, from: Data($0.payload)) })
      })
  }

  private func parsed(_ routes: String, _ file: StaticString, _ line: UInt) -> Routes {
    do { return try Routes(parsing: routes) } catch {
      preconditionFailure("opensLinks: \(error)", file: file, line: line)
    }
  }
}

private struct LinkOpening: ViewModifier {
  /// Read once, when the view appears.
  @State private var routes: Routes
  let show: ([Value]) throws -> Void
  @Environment(\.statusLine) private var statusLine

  init(routes: @autoclosure @escaping () -> Routes, show: @escaping ([Value]) throws -> Void) {
    _routes = State(wrappedValue: routes())
    self.show = show
  }

  func body(content: Content) -> some View {
    content.onOpenURL { link in
      do { try show(routes.values(of: link.absoluteString)) } catch let error as RoutesError {
        statusLine?.announce("\(error)")
      } catch {
        // A number that is too large for the type, for one: a pattern can't know.
        statusLine?.announce("'\(link.absoluteString)' can't be shown: \(error)")
      }
    }
  }
}
