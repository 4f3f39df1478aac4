/// What stands for a view from one evaluation to the next: its place in the tree, and so its state.
@MainActor
final class Node {
  /// How a child is told from its siblings.
  enum Key: Hashable {
    /// The body of a view, or the content of a modifier.
    case body
    /// The place in a builder's block, or the branch of a condition.
    case index(Int)
    /// The identity of an element of a `ForEach`, or of `.id(_:)`.
    case id(AnyHashable)
    /// A screen of a stack.
    case screen(ScreenID)
  }

  /// Unlike that of any other node, in the past too.
  let serial: Int
  private(set) weak var parent: Node?
  private var children: [Key: Node] = [:]
  private var type: Any.Type

  /// What the properties of the view keep here, by their places in the view.
  var slots: [Int: AnyObject] = [:]

  /// The evaluation that last met this node.
  private var pass = 0

  /// Whether children that an evaluation doesn't meet stay, as the rows of a list that are out of sight do. Their
  /// owner removes them.
  var keepsChildren = false

  /// Whether the view was met but not evaluated, as a list's row that is out of sight: what is below stays as it is.
  var isAtRest = false

  init(type: Any.Type, parent: Node?) {
    self.type = type
    self.parent = parent
    Node.last += 1
    serial = Node.last
  }

  private static var last = 0

  /// The child with a key, for a view of a type. One of another type is replaced: a view is another one then.
  func child(_ key: Key, type: Any.Type, in context: Context) -> Node {
    let pass = context.graph.pass
    if let known = children[key], known.type == type {
      if known.pass == pass {
        context.graph.report(.sameIdentity("\(key)", in: "\(self.type)"), once: ObjectIdentifier(self))
      }
      known.pass = pass
      return known
    }
    let new = Node(type: type, parent: self)
    new.pass = pass
    children[key] = new
    return new
  }

  /// What a property or a view keeps here; made when it is asked for first.
  func slot<Stored: AnyObject>(_ slot: Int, _ make: () -> Stored) -> Stored {
    if let known = slots[slot] as? Stored { return known }
    let new = make()
    slots[slot] = new
    return new
  }

  /// The slot of what the library's own views keep; no property stands there.
  static let own = -1

  /// What one of the library's own views keeps here.
  func own<Stored: AnyObject>(_ make: () -> Stored) -> Stored { slot(Node.own, make) }

  /// Removes the nodes that the evaluation didn't meet.
  func sweep(pass: Int) {
    for (key, child) in children {
      if child.pass == pass {
        if !child.isAtRest { child.sweep(pass: pass) }
      } else if !keepsChildren {
        children[key] = nil
      }
    }
  }

  /// Removes children of a node that keeps them.
  func removeChildren(where isGone: (Key) -> Bool) {
    for key in children.keys where isGone(key) { children[key] = nil }
  }

  var childCount: Int { children.count }

  /// Whether a node is this one or below it.
  func contains(_ node: Node) -> Bool {
    var next: Node? = node
    while let current = next {
      if current === self { return true }
      next = current.parent
    }
    return false
  }
}
