/// The size that a container offers an element. Nil: as large as it likes.
struct Proposal: Hashable, Sendable {
  var width: Int?
  var height: Int?

  init(width: Int?, height: Int?) {
    self.width = width.map { max(0, $0) }
    self.height = height.map { max(0, $0) }
  }

  init(_ size: CellSize) { self.init(width: size.width, height: size.height) }

  static let unlimited = Proposal(width: nil, height: nil)

  subscript(axis: Axis) -> Int? {
    get { axis == .horizontal ? width : height }
    set { if axis == .horizontal { width = newValue } else { height = newValue } }
  }
}

/// A direction.
public enum Axis: Int8, Hashable, Sendable, CaseIterable {
  /// From left to right.
  case horizontal
  /// From top to bottom.
  case vertical

  /// Several directions.
  public struct Set: OptionSet, Hashable, Sendable {
    public let rawValue: Int8

    public init(rawValue: Int8) { self.rawValue = rawValue }

    /// From left to right.
    public static let horizontal = Set(rawValue: 1)
    /// From top to bottom.
    public static let vertical = Set(rawValue: 2)

    func contains(_ axis: Axis) -> Bool { isSuperset(of: axis == .horizontal ? Set.horizontal : Set.vertical) }
  }

  var other: Axis { self == .horizontal ? .vertical : .horizontal }
}

extension CellSize {
  subscript(axis: Axis) -> Int {
    get { axis == .horizontal ? width : height }
    set { if axis == .horizontal { width = newValue } else { height = newValue } }
  }
}

/// What a view has become for one picture: something that has a size and can be placed. It lives for one evaluation.
@MainActor
class Element {
  private var sizes: [(proposal: Proposal, size: CellSize)] = []

  /// The size that the element takes of what it is offered. It may take more: then its container cuts it.
  final func size(_ proposal: Proposal) -> CellSize {
    if let known = sizes.first(where: { $0.proposal == proposal }) { return known.size }
    let size = measure(proposal)
    sizes.append((proposal, size))
    return size
  }

  /// The work of `size`, done once for each proposal.
  func measure(_: Proposal) -> CellSize { .zero }

  /// Puts what is to be seen on the canvas.
  func place(in _: CellRect, on _: Canvas) {}

  /// Whether the element takes all the room that there is in a direction.
  func expands(_: Axis) -> Bool { false }

  /// Whether the element's length doesn't depend on the room: it is given its length before others share.
  func isRigid(_: Axis) -> Bool { false }

  /// Which elements are given room first.
  var layoutPriority: Double { 0 }
}

/// An element that changes something about another one.
@MainActor
class WrappedElement: Element {
  let content: Element

  init(_ content: Element) { self.content = content }

  override func measure(_ proposal: Proposal) -> CellSize { content.size(proposal) }
  override func place(in rect: CellRect, on canvas: Canvas) { content.place(in: rect, on: canvas) }
  override func expands(_ axis: Axis) -> Bool { content.expands(axis) }
  override func isRigid(_ axis: Axis) -> Bool { content.isRigid(axis) }
  override var layoutPriority: Double { content.layoutPriority }
}
