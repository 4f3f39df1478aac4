/// What a `NavigationStack` is from one evaluation to the next: its entries, the views above them, and who shows what.
@MainActor
final class StackModel {
  struct Entry {
    var id: EntryID
    var value: PathValue
  }

  /// A view that was pushed without a value. Such views are invisible in the path and stand above it.
  struct PushedView {
    var id: ScreenID
    /// The link or modifier that pushed it.
    var source: Int
    /// The screen that this stands in: when it goes, so does the view.
    var owner: ScreenID
    var content: (Context, Node.Key) -> Element
    /// Tells the one who pushed it that it is gone.
    var reset: () -> Void
  }

  /// What shows the values of a type.
  struct Destination {
    var place: SourcePlace
    var content: (Context, Node.Key, any Hashable) -> Element
  }

  private unowned let graph: Graph
  /// The path of a stack that manages its own.
  private let ownPath: StateBox<NavigationPath>
  private(set) var access: PathAccess!
  private(set) var entries: [Entry] = []
  private(set) var views: [PushedView] = []
  private var destinations: [ObjectIdentifier: Destination] = [:]
  /// The screen that a person is typing in while another device has opened another one: shown until the person leaves
  /// the field.
  private var held: ScreenID?
  private var othersChanges = 0
  /// The evaluation after which a link or back was used last: the screen hasn't changed since.
  private var usedInPass = -1

  init(graph: Graph) {
    self.graph = graph
    ownPath = StateBox(NavigationPath(), invalidation: graph.invalidation)
  }

  /// - Parameter access: nil for a stack that manages its own path.
  func begin(_ access: PathAccess?) {
    let ownPath = ownPath
    self.access = access ?? PathAccess(Binding(get: { ownPath.value }, set: { ownPath.value = $0 }))
    destinations = [:]
    sync()
  }

  // MARK: Entries

  /// Takes over what the path is now. An entry that was there before keeps its identity, and so its screen's state.
  func sync() {
    let before = shownScreen
    let others = access.othersChanges()
    let isDisturbed = others != othersChanges && graph.isTyping
    readPath(keepingViews: isDisturbed)
    if isDisturbed, shownScreen != before, held == nil, contains(before) {
      held = before
      graph.statusLine.announce("Another device shows something else; Esc goes there.")
    }
    othersChanges = others
    if let held, !graph.isTyping || !contains(held) { self.held = nil }
  }

  private func readPath(keepingViews: Bool) {
    let path = access.read()
    var ids: [EntryID?]
    let old = Set(entries.map(\.id))
    ids = path.map { entry in entry.id.flatMap { old.contains($0) || access.isAuthority ? $0 : nil } }
    if !access.isAuthority { inheritIDs(path, &ids) }
    entries = zip(path, ids).map { Entry(id: $1 ?? $0.id ?? EntryID(), value: $0.value) }
    // A value that is pushed pops the views above the path first.
    if !keepingViews, let top = entries.last, !old.contains(top.id) { popViews(from: 0) }
    dropOrphans()
  }

  /// Entries without a known identity get those of the entries with equal values that are gone otherwise, in order.
  private func inheritIDs(_ path: [PathAccess.Entry], _ ids: inout [EntryID?]) {
    guard ids.contains(where: { $0 == nil }) else { return }
    let taken = Set(ids.compactMap { $0 })
    let free = entries.filter { !taken.contains($0.id) }
    let open = path.indices.filter { ids[$0] == nil }
    guard !free.isEmpty else { return }
    let difference = open.map { path[$0].value }.difference(from: free.map(\.value))
    let removed = Set(
      difference.removals.map { change in
        if case .remove(let offset, _, _) = change { offset } else { -1 }
      })
    let inserted = Set(
      difference.insertions.map { change in
        if case .insert(let offset, _, _) = change { offset } else { -1 }
      })
    let kept = free.indices.filter { !removed.contains($0) }.map { free[$0].id }
    let keeping = open.indices.filter { !inserted.contains($0) }.map { open[$0] }
    for (index, id) in zip(keeping, kept) { ids[index] = id }
  }

  /// Views go with the screens that they were pushed from.
  private func dropOrphans() {
    var there: Set<ScreenID> = [.root]
    for entry in entries { there.insert(.entry(entry.id)) }
    var kept: [PushedView] = []
    var dropped: [PushedView] = []
    for view in views {
      if there.contains(view.owner) {
        there.insert(view.id)
        kept.append(view)
      } else {
        dropped.append(view)
      }
    }
    views = kept
    reset(dropped)
  }

  private func reset(_ views: [PushedView]) { for view in views.reversed() { view.reset() } }

  // MARK: Actions

  /// Whether the person's action counts: a second one before the screen changed doesn't.
  private func isFirstUse() -> Bool {
    guard usedInPass != graph.pass else { return false }
    usedInPass = graph.pass
    graph.setNeedsUpdate()
    return true
  }

  private func contains(_ screen: ScreenID) -> Bool {
    switch screen {
    case .root: true
    case .entry(let id): entries.contains { $0.id == id }
    case .view: views.contains { $0.id == screen }
    }
  }

  /// The screen that a person sees: the top one, unless another device opened that while the person types.
  var shownScreen: ScreenID { held ?? topScreen }

  var canGoBack: Bool { !views.isEmpty || !entries.isEmpty }

  /// Closes the screen that is shown.
  ///
  /// - Returns: false at the root, where nothing happens.
  func goBack() -> Bool {
    guard canGoBack else { return false }
    guard held == nil else {
      // There is something else to be seen first.
      graph.stopTyping()
      return true
    }
    if isFirstUse() { close(topScreen) }
    return true
  }

  /// Goes to the root. False if it is there already.
  func goToRoot() -> Bool {
    guard canGoBack else { return false }
    if isFirstUse() {
      popViews(from: 0)
      access.truncate(0)
    }
    return true
  }

  /// A link with a value was used.
  func push(_ value: any Hashable, by place: SourcePlace) {
    guard isFirstUse() else { return }
    popViews(from: 0)
    _ = access.append(value, place)
  }

  /// A link with a view was used.
  func push(_ view: PushedView) {
    guard isFirstUse() else { return }
    add(view)
  }

  /// Closes a screen and those above it, if it is there.
  func close(_ screen: ScreenID) {
    sync()
    switch screen {
    case .root: break
    case .view: if let index = views.firstIndex(where: { $0.id == screen }) { popViews(from: index) }
    case .entry(let id):
      guard let index = entries.firstIndex(where: { $0.id == id }) else { break }
      popViews(from: 0)
      access.truncate(index)
    }
    graph.setNeedsUpdate()
  }

  private func popViews(from index: Int) {
    let popped = Array(views[index...])
    views.removeSubrange(index...)
    reset(popped)
  }

  private func add(_ view: PushedView) {
    // What was pushed from the same screen before makes room.
    if let other = views.firstIndex(where: { $0.owner == view.owner }) { popViews(from: other) }
    views.append(view)
    graph.setNeedsUpdate()
  }

  // MARK: For the views, while they are evaluated

  var topScreen: ScreenID { views.last?.id ?? entries.last.map { .entry($0.id) } ?? .root }

  /// Registers what shows a type. The first one wins: it is nearest the root.
  func register(_ type: Any.Type, _ destination: Destination) {
    let key = ObjectIdentifier(type)
    guard let first = destinations[key] else {
      destinations[key] = destination
      return
    }
    guard first.place != destination.place else { return }
    graph.report(.duplicateDestination("\(type)", first.place, destination.place), once: destination.place)
  }

  func destination(for type: Any.Type) -> Destination? { destinations[ObjectIdentifier(type)] }

  /// A link with a view, or a modifier, was evaluated again: its view goes on with what it holds now.
  func refresh(_ source: Int, _ content: @escaping (Context, Node.Key) -> Element) {
    for index in views.indices where views[index].source == source { views[index].content = content }
  }

  /// A modifier says whether its view is to be there. What follows from it happens after the evaluation.
  func present(_ view: PushedView, _ isPresented: Bool) {
    let known = views.contains { $0.source == view.source }
    if known, isPresented {
      refresh(view.source, view.content)
      if let index = views.firstIndex(where: { $0.source == view.source }) { views[index].reset = view.reset }
    } else if isPresented {
      graph.afterPass { [weak self] in
        guard let self, !views.contains(where: { $0.source == view.source }) else { return }
        add(view)
      }
    } else if known {
      graph.afterPass { [weak self] in
        guard let self, let index = views.firstIndex(where: { $0.source == view.source }) else { return }
        popViews(from: index)
        graph.setNeedsUpdate()
      }
    }
  }

  /// A modifier's view is about something else now, so it is another screen in the place of the one before.
  func replace(_ view: PushedView) {
    graph.afterPass { [weak self] in
      guard let self else { return }
      if let index = views.firstIndex(where: { $0.source == view.source }) {
        let above = Array(views[(index + 1)...])
        views.removeSubrange(index...)
        reset(above)
      }
      add(view)
    }
  }
}
