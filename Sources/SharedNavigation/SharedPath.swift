public import NavigationClient
public import TerminalUI

/// A path that all devices of a person share: write it where a program has `@State` for its path, and the program's
/// `NavigationStack` is on all of them.
///
/// ```swift
/// @SharedPath("alice/main") private var path: NavigationPath
/// …
/// NavigationStack(path: $path) { … }
/// ```
///
/// An assignment shows at once and becomes one action on the stack: a push if values were only added, a pop if they were
/// only removed, else a new path. What other devices do arrives between two turns of the main actor; an entry that stays
/// keeps its identity, and so its screen's state. Without a daemon everything works, and is sent later; the last line of
/// the screen tells how many actions wait, who else is there and where, and what was decided between concurrent actions.
///
/// Values have to be `Codable`, of a type whose name is stable: a type that isn't private, or one with a name of its own
/// (`navigationDestination(for:name:)`, `NavigationValue`). What can't be sent is refused, and the last line says why.
///
/// The device is that of the program's `--device NAME`, else of `NAVSYNC_DEVICE`, else the host's; the daemon that of
/// `--daemon ENDPOINT`, else of `NAVSYNC_DAEMON`, else the one on this machine; `--store FOLDER` says where the device's
/// log is. All shared paths of a process are one device's. A property's stack is chosen once, when its view appears, as
/// the object of a `@StateObject` is.
@propertyWrapper
public struct SharedPath<Path>: DynamicProperty {
  @StateObject private var stack: SharedStack
  @Environment(\.statusLine) private var statusLine
  private let form: PathForm<Path>
  private let showsStatus: Bool

  private init(_ form: PathForm<Path>, showsStatus: Bool = true, _ stack: @escaping @MainActor () -> SharedStack) {
    self.form = form
    self.showsStatus = showsStatus
    _stack = StateObject(wrappedValue: MainActor.assumeIsolated(stack))
  }

  /// A path of values of any types.
  ///
  /// - Parameters:
  ///   - stack: its name, `space/stack`.
  ///   - policy: what the stack is to be if it is new; nil leaves it to the stack, and is `merge` for a new one.
  ///   - showsStatus: whether the last line of the screen tells of the stack.
  public init(_ stack: String, policy: Policy? = nil, showsStatus: Bool = true) where Path == NavigationPath {
    self.init(.erased, showsStatus: showsStatus) { SharedDevice.ofProcess.stack(stack, policy: policy) }
  }

  /// A path of values of one type. Entries of other types, which another program may have put there, aren't in it.
  ///
  /// - Parameters:
  ///   - stack: its name, `space/stack`.
  ///   - policy: what the stack is to be if it is new; nil leaves it to the stack, and is `merge` for a new one.
  ///   - name: under which the values are sent; without it the type's `navigationTypeName`, or its qualified name.
  ///   - showsStatus: whether the last line of the screen tells of the stack.
  ///   - file: where it is written, for diagnostics.
  ///   - line: where it is written, for diagnostics.
  ///   - column: where it is written, for diagnostics.
  public init(
    _ stack: String, policy: Policy? = nil, name: String? = nil, showsStatus: Bool = true, file: String = #fileID,
    line: UInt = #line, column: UInt = #column
  ) where Path: RandomAccessCollection & RangeReplaceableCollection, Path.Element: Codable & Hashable {
    let place = SourcePlace(file: file, line: line, column: column)
    self.init(.typed(name: name, at: place), showsStatus: showsStatus) {
      SharedDevice.ofProcess.stack(stack, policy: policy)
    }
  }

  /// A path of a stack that is there already.
  package init(_ stack: SharedStack) where Path == NavigationPath { self.init(.erased) { stack } }

  /// A path of one type, of a stack that is there already.
  package init(
    _ stack: SharedStack, name: String? = nil, file: String = #fileID, line: UInt = #line, column: UInt = #column
  ) where Path: RandomAccessCollection & RangeReplaceableCollection, Path.Element: Codable & Hashable {
    self.init(.typed(name: name, at: SourcePlace(file: file, line: line, column: column))) { stack }
  }

  /// The path as it is shown now. An assignment shows at once.
  @MainActor public var wrappedValue: Path {
    get { form.read(stack) }
    nonmutating set { form.write(stack, newValue) }
  }

  /// The path as a binding: what `NavigationStack(path:)` takes.
  @MainActor public var projectedValue: Binding<Path> {
    let (stack, form) = (stack, form)
    var binding = Binding(get: { form.read(stack) }, set: { form.write(stack, $0) })
    binding.entryIDs = { form.ids(stack) }
    binding.othersChanges = { stack.othersChanges }
    return binding
  }

  /// What else is known of the stack: its conflicts, the other devices, what waits. Nil if the device can't be opened.
  @MainActor public var state: StackState? { stack.state }

  /// The name of this device; empty if it can't be opened.
  @MainActor public var device: String { stack.deviceName }

  /// The names of the other devices that show the stack now.
  @MainActor public var others: [String] { stack.state?.presence.filter { !$0.isAway }.map(\.name) ?? [] }

  /// Called by the library before each evaluation.
  public mutating func update() {
    if showsStatus { stack.show(on: statusLine) }
  }
}

extension SharedPath where Path: RangeReplaceableCollection {
  /// For programs that had `@State private var path: [Route] = []`: the value is what the path would be without a shared
  /// stack, and only an empty one makes sense.
  public init(
    wrappedValue: Path, _ stack: String, policy: Policy? = nil, name: String? = nil, file: String = #fileID,
    line: UInt = #line, column: UInt = #column
  ) where Path: RandomAccessCollection, Path.Element: Codable & Hashable {
    precondition(wrappedValue.isEmpty, "@SharedPath(\"\(stack)\"): the path comes from the stack, so it begins empty")
    self.init(stack, policy: policy, name: name, file: file, line: line, column: column)
  }
}

extension SharedPath where Path == NavigationPath {
  /// For programs that had `@State private var path = NavigationPath()`.
  public init(wrappedValue: NavigationPath, _ stack: String, policy: Policy? = nil) {
    precondition(wrappedValue.isEmpty, "@SharedPath(\"\(stack)\"): the path comes from the stack, so it begins empty")
    self.init(stack, policy: policy)
  }
}
