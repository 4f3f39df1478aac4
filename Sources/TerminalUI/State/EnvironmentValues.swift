/// What the views above hand down to those below.
public struct EnvironmentValues {
  private var custom: [ObjectIdentifier: Any] = [:]

  /// Objects by their type.
  var objects: [ObjectIdentifier: AnyObject] = [:]

  /// How text looks, unless it says otherwise itself.
  var textStyle = TextStyle()

  /// How many lines a text may have.
  public var lineLimit: Int?

  /// How the lines of a text are aligned.
  public var multilineTextAlignment: TextAlignment = .leading

  /// Whether the controls can be used.
  public var isEnabled = true

  /// Closes the screen that it was read in; does nothing at the root.
  public internal(set) var dismiss = DismissAction()

  /// Opens a link in the program itself, as if it had come from outside.
  public internal(set) var openURL = OpenURLAction()

  /// Puts what the shared stack's devices do on the last line of the screen.
  public internal(set) var statusLine: StatusLine?

  /// Whether the screen that a view is in is the one that is shown.
  public internal(set) var isPresented = false

  /// The stack that a view is in.
  var navigation: StackModel?

  /// The screen of the stack that a view is in.
  var screen: ScreenID?

  /// Where a view tells about its screen.
  var screenInfo: ScreenInfo?

  /// The lazy container that a view is in, where it was written.
  var lazyContainer: LazyPlace?

  /// The tabs that a view is one of.
  var tabs: Tabs?

  /// What stands for the view in a selection.
  var tag: AnyHashable?

  /// Whether a `ForEach` here makes its rows when they are needed.
  var defersRows = false

  /// Whether the view is the content of a vertical scroll view, with nothing but rows and columns between.
  var isScrolled = false

  /// What Enter in a text field does.
  var submit: (() -> Void)?

  /// The key that presses a button.
  var shortcut: Shortcut?

  /// What follows the action of a button, as an alert's closing does.
  var afterAction: (() -> Void)?

  /// Whether the view is a part of a list's row, which shows the focus for the controls in it.
  var isInRow = false

  init() {}

  /// A screen or what is over it begins: no container that it was written in reaches into it.
  mutating func leaveContainers() {
    lazyContainer = nil
    defersRows = false
    isScrolled = false
    isInRow = false
    tabs = nil
    tag = nil
  }

  /// A value of a key of your own.
  public subscript<Key: EnvironmentKey>(_: Key.Type) -> Key.Value {
    get { custom[ObjectIdentifier(Key.self)] as? Key.Value ?? Key.defaultValue }
    set { custom[ObjectIdentifier(Key.self)] = newValue }
  }
}

/// A key of a value in the environment.
public protocol EnvironmentKey {
  associatedtype Value
  /// What is read where no view above has set the value.
  static var defaultValue: Value { get }
}

/// A lazy container and where it was written.
struct LazyPlace {
  var name: String
  var place: SourcePlace
}
