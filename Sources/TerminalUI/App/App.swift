/// A program: what it shows, and where it starts.
///
/// Write `@main` before a type that conforms. The program runs on a terminal's screen; without a terminal, or with the
/// argument `--accessible`, it prints lines. Arguments with `://` in them are links, given to `onOpenURL`, unless they
/// are an option's value. With `--once` it prints what it shows as lines and ends.
@MainActor @preconcurrency
public protocol App {
  /// What the body is.
  associatedtype Body: Scene

  /// The program's scene.
  @SceneBuilder @MainActor @preconcurrency var body: Body { get }

  /// Makes the program, once.
  @MainActor @preconcurrency init()
}

extension App {
  /// Runs the program until its user quits; the process ends then.
  @MainActor @preconcurrency
  public static func main() {
    let arguments = Array(CommandLine.arguments.dropFirst())
    TerminalProgram.run(
      isAccessible: arguments.contains("--accessible"), once: arguments.contains("--once"), links: links(in: arguments),
      content: { AppView(app: Self()) })
  }
}

/// The links among a program's arguments. What follows an option that isn't one of ours is its value, such as the
/// endpoint of `--daemon ipc:///run/sync`.
func links(in arguments: [String]) -> [URL] {
  let flags = ["--accessible", "--once"]
  return zip([""] + arguments, arguments).compactMap { before, argument in
    let isValue = argument.hasPrefix("-") || before.hasPrefix("-") && !before.contains("=") && !flags.contains(before)
    return argument.contains("://") && !isValue ? URL(string: argument) : nil
  }
}

/// A part of a program's body.
@MainActor @preconcurrency
public protocol Scene {
  /// What the body is.
  associatedtype Body: Scene

  /// The scene's content.
  @SceneBuilder @MainActor @preconcurrency var body: Body { get }
}

extension Never: Scene {}

/// Makes a program's body.
@MainActor @preconcurrency
@resultBuilder
public enum SceneBuilder {
  /// The one scene of a program on a terminal.
  public static func buildBlock<S: Scene>(_ scene: S) -> S { scene }
}

/// The program's views; a terminal has one window.
public struct WindowGroup<Content: View>: Scene {
  let content: Content

  /// - Parameter content: the views.
  public init(@ViewBuilder content: () -> Content) { self.content = content() }

  /// - Parameters:
  ///   - title: the window's title; a terminal doesn't show it.
  ///   - content: the views.
  public init(_ title: String, @ViewBuilder content: () -> Content) { self.content = content() }

  /// Never evaluated: this is the library's own.
  public var body: Never { fatalError("WindowGroup has no body") }
}

/// A scene of the library's own.
@MainActor
private protocol PrimitiveScene {
  func elements(in context: Context) -> [Element]
}

extension WindowGroup: PrimitiveScene {
  func elements(in context: Context) -> [Element] { context.evaluate(content, .body) }
}

/// A program as a view: its properties have state as those of views do.
struct AppView<Program: App>: View, PrimitiveView {
  let app: Program

  func elements(in context: Context) -> [Element] {
    var app = app
    FieldLayout.of(Program.self).connect(&app, in: context)
    return scene(app.body, in: context)
  }

  private func scene<S: Scene>(_ scene: S, in context: Context) -> [Element] {
    if let primitive = scene as? any PrimitiveScene { return primitive.elements(in: context) }
    var (scene, inner) = (scene, context)
    inner.node = context.node.child(.body, type: S.self, in: context)
    FieldLayout.of(S.self).connect(&scene, in: inner)
    return self.scene(scene.body, in: inner)
  }
}
