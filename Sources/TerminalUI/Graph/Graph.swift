import Foundation

/// What a program shows: evaluates its views when something changed, remembers their state, and gives a picture.
///
/// Everything is evaluated from the root to the top of the stack, in order, so that what a screen needs from those
/// beneath it is there before it is needed; what isn't seen of a list isn't made. Changes between two evaluations are
/// one change, so that screens that would be shown only in passing never are.
@MainActor
final class Graph {
  let invalidation = Invalidation()
  let statusLine: StatusLine
  private let root = Node(type: Void.self, parent: nil)
  private let content: (Context) -> [Element]
  private var tracking: PassTracking?

  /// The number of the evaluation.
  private(set) var pass = 0
  /// How many bodies of views have been evaluated since the beginning.
  var bodiesEvaluated = 0

  /// The room that there is.
  var size: CellSize { didSet { if size != oldValue { setNeedsDisplay() } } }

  /// What is shown.
  private(set) var picture: Picture?

  /// What has the focus.
  private(set) weak var focused: Node?

  /// The field that a person has typed into since it got the focus.
  private weak var typedInto: Node?

  /// The screen that is shown: where the focus was in it is remembered there.
  private(set) weak var shownScreen: Node?

  /// The stacks that are shown, the outermost first.
  private(set) var stacks: [StackModel] = []

  /// What stands in front of everything else, the frontmost last.
  private(set) var modals: [Modal] = []
  private var presentations: [() -> Modal] = []

  /// Whether the keys are explained.
  var showsHelp = false { didSet { setNeedsDisplay() } }

  /// What a stack tells when a link came from outside, by the views that want to know.
  private(set) var linkHandlers: [(URL) -> Void] = []
  private var pendingLinks: [URL] = []

  /// What was found, in the order of finding.
  private(set) var diagnostics: [Diagnostic] = []
  private var reported: Set<AnyHashable> = []
  private let sink: DiagnosticSink
  /// Told of each diagnostic, once.
  var onDiagnostic: (Diagnostic) -> Void = { _ in }

  /// Set when the program is to end.
  private(set) var isFinished = false

  /// The last click, where it was and on what screen.
  var lastClick: (position: CellPosition, time: Double, screen: Node?)?

  private var appearances = Appearances()
  private var afterPass: [() -> Void] = []

  /// - Parameters:
  ///   - size: the room that there is.
  ///   - sink: where mistakes are told that the program makes besides.
  ///   - content: evaluates the root view, whose node is the context's.
  init(size: CellSize, sink: DiagnosticSink = DiagnosticSink(), content: @escaping (Context) -> [Element]) {
    self.size = size
    self.sink = sink
    self.content = content
    statusLine = StatusLine(invalidation)
    sink.onTold { [invalidation] in invalidation.set() }
  }

  // Objects that were observed outlive the graph.
  deinit { tracking?.end() }

  /// What is seen at one moment.
  struct Picture {
    var canvas: Canvas
    var focus: FocusOrder
    /// Kept, since what keys do is in them.
    var elements: [Element]
    /// The screen that it shows.
    var screen: ObjectIdentifier?
  }

  // MARK: What changes

  /// Has the views evaluated again.
  func setNeedsUpdate() { invalidation.set() }

  /// Has the picture made again, after something changed that isn't state of the program.
  func setNeedsDisplay() { invalidation.set() }

  /// Gives the focus to a node at the next picture.
  func setFocus(_ node: Node) {
    focused = node
    setNeedsDisplay()
  }

  /// Something was typed.
  func typed(into node: Node) {
    typedInto = node
    setNeedsDisplay()
  }

  /// Whether a person is in the middle of typing.
  var isTyping: Bool {
    guard let typedInto, let focused else { return false }
    return focused.contains(typedInto)
  }

  func stopTyping() {
    typedInto = nil
    setNeedsDisplay()
  }

  /// Ends the program.
  func finish() { isFinished = true }

  // MARK: For the views, while they are evaluated

  /// Says that a screen is the one that is shown. The innermost one says so last.
  func show(_ screen: Node) { shownScreen = screen }

  func show(_ stack: StackModel) { stacks.append(stack) }

  /// Shows something in front of everything else. It is evaluated after the views behind it.
  func present(_ modal: @escaping () -> Modal) { presentations.append(modal) }

  /// Does something when the evaluation is over.
  func afterPass(_ action: @escaping () -> Void) { afterPass.append(action) }

  func appear(_ node: Node, _ appearance: Appearance) { appearances.met(node, appearance) }

  func handleLinks(_ handler: @escaping (URL) -> Void) { linkHandlers.append(handler) }

  /// Tells of a mistake, once for each place.
  func report(_ diagnostic: Diagnostic, once place: AnyHashable) {
    guard reported.insert([place, AnyHashable(diagnostic.kind)] as [AnyHashable]).inserted else { return }
    tell(diagnostic)
  }

  private func tell(_ diagnostic: Diagnostic) {
    diagnostics.append(diagnostic)
    onDiagnostic(diagnostic)
  }

  /// Does something for this program, so that the mistakes in it are told here.
  func work<Result>(_ body: () -> Result) -> Result { DiagnosticSink.$current.withValue(sink, operation: body) }

  // MARK: Evaluation

  /// Evaluations in a row after which it is taken for granted that they would never end.
  private static let mostPasses = 50

  /// Brings the picture up to date.
  ///
  /// - Returns: whether it was made anew.
  @discardableResult
  func update() -> Bool {
    var passes = 0
    while invalidation.take() {
      guard passes < Graph.mostPasses else {
        report(.endlessUpdate(passes), once: 0)
        break
      }
      passes += 1
      work {
        evaluate()
        deliverLinks()
      }
      sink.take().forEach(tell)
    }
    return passes > 0
  }

  private func evaluate() {
    pass += 1
    tracking?.end()
    let tracking = PassTracking(invalidation)
    self.tracking = tracking
    stacks = []
    modals = []
    presentations = []
    linkHandlers = []
    appearances.begin()
    let before = shownScreen
    shownScreen = root
    let picture = tracking.track { makePicture(before) }
    self.picture = picture
    root.sweep(pass: pass)
    let actions = afterPass
    afterPass = []
    for action in actions { action() }
    for tell in appearances.end() { tell() }
  }

  private func makePicture(_ before: Node?) -> Picture {
    let focus = FocusOrder()
    var environment = EnvironmentValues()
    environment.statusLine = statusLine
    environment.isPresented = true
    environment.openURL = OpenURLAction { [weak self] in self?.open($0) }
    let context = Context(graph: self, node: root, environment: environment, focus: focus)
    let elements = content(context)
    let room = CellRect(origin: .zero, size: size)
    let focusedBefore = focused
    while true {
      // What is in front may present more, and is the only one that keys go to.
      while !presentations.isEmpty {
        let modal = presentations.removeFirst()
        stacks = []
        modals.append(modal())
      }
      let order = modals.last?.focus ?? focus
      settleFocus(order, before: focusedBefore, screenChanged: before !== shownScreen)
      let canvas = Canvas(clip: room)
      let chrome = Chrome(
        elements, modals: modals, focus: focus, statusLine: statusLine.lines(width: size.width),
        help: showsHelp ? KeyHelp(order, hasStack: !stacks.isEmpty) : nil)
      chrome.place(in: room, on: canvas)
      // The rows of a list are made when they are placed, and may present something too.
      if presentations.isEmpty {
        return Picture(
          canvas: canvas, focus: order, elements: elements, screen: shownScreen.map { ObjectIdentifier($0) })
      }
    }
  }

  /// The slot of a screen's node where it remembers the focus.
  private static let focusSlot = -2

  private func settleFocus(_ order: FocusOrder, before: Node?, screenChanged: Bool) {
    let memory = (shownScreen ?? root).slot(Graph.focusSlot) { FocusMemory() }
    let wanted = screenChanged ? memory.node : before
    if let wanted, order.items.contains(where: { $0.node === wanted }) {
      focused = wanted
    } else if memory.node == nil, memory.index == 0 {
      focused = (order.items.first { !$0.isReserved } ?? order.items.first)?.node
    } else {
      focused = order.items.isEmpty ? nil : order.items[min(memory.index, order.items.count - 1)].node
    }
    order.resolve(focused)
    if typedInto != nil, !isTyping { stopTyping() }
    memory.node = focused
    memory.index = order.index ?? 0
  }

  // MARK: Links from outside

  /// Delivers a link to the views; one that comes before any of them wants to know waits.
  func open(_ link: URL) {
    pendingLinks.append(link)
    setNeedsUpdate()
  }

  private func deliverLinks() {
    guard !linkHandlers.isEmpty, !pendingLinks.isEmpty else { return }
    let links = pendingLinks
    pendingLinks = []
    for link in links { for handler in linkHandlers { handler(link) } }
  }
}
