/// Elements one after the other in a direction.
///
/// What doesn't expand is as long as it likes if all of them fit. If not, each gets no more than its share, the short
/// ones first, so that what they leave goes to the long ones. What expands (a spacer, a list) shares the rest.
@MainActor
final class StackElement: Element {
  private let axis: Axis
  private let children: [Element]
  private let spacing: Int
  private let offset: (_ size: Int, _ room: Int) -> Int

  init(_ axis: Axis, _ children: [Element], spacing: Int, offset: @escaping (_ size: Int, _ room: Int) -> Int) {
    self.axis = axis
    self.children = children
    self.spacing = spacing
    self.offset = offset
    for child in children { (child as? any StackPart)?.axis = axis }
  }

  convenience init(
    _ axis: Axis, _ children: [Element], alignment: HorizontalAlignment = .leading, spacing: Int
  ) {
    self.init(axis, children, spacing: spacing) { alignment.offset(of: $0, in: $1) }
  }

  override func expands(_ axis: Axis) -> Bool {
    children.contains { $0.expands(axis) && !($0 is SpacerElement && axis != self.axis) }
  }

  override func measure(_ proposal: Proposal) -> CellSize {
    var size = CellSize.zero
    for child in childSizes(proposal) {
      size[axis] += child[axis]
      size[axis.other] = max(size[axis.other], child[axis.other])
    }
    size[axis] += spacing * max(0, children.count - 1)
    return size
  }

  override func place(in rect: CellRect, on canvas: Canvas) {
    let room = rect.size
    var start = axis == .horizontal ? rect.origin.column : rect.origin.row
    for (child, size) in zip(children, childSizes(Proposal(room))) {
      let aside = max(0, offset(size[axis.other], room[axis.other]))
      let origin =
        axis == .horizontal
        ? CellPosition(column: start, row: rect.origin.row + aside)
        : CellPosition(column: rect.origin.column + aside, row: start)
      child.place(in: CellRect(origin: origin, size: size), on: canvas)
      start += size[axis] + spacing
    }
  }

  /// The sizes of the children for a room.
  private func childSizes(_ proposal: Proposal) -> [CellSize] {
    guard var room = proposal[axis] else {
      return children.map { child in child.size(proposal) }
    }
    room = max(0, room - spacing * max(0, children.count - 1))
    var wanted = proposal
    wanted[axis] = nil
    var sizes = [CellSize](repeating: .zero, count: children.count)
    var expanding: [Int] = []
    var fixed: [(index: Int, length: Int, priority: Double)] = []
    for (index, child) in children.enumerated() {
      if child.expands(axis) {
        expanding.append(index)
      } else {
        let priority = child.isRigid(axis) ? .infinity : child.layoutPriority
        fixed.append((index, child.size(wanted)[axis], priority))
      }
    }
    // A spacer's least length is kept free before the others share.
    let kept = expanding.reduce(0) { $0 + ((children[$1] as? SpacerElement)?.minLength ?? 0) }
    var left = max(0, room - kept)
    let fits = fixed.reduce(0) { $0 + $1.length } <= left
    // The short ones first, so that what they leave of their shares goes to the long ones.
    if !fits { fixed.sort { ($1.priority, $0.length, $0.index) < ($0.priority, $1.length, $1.index) } }
    for (place, child) in fixed.enumerated() {
      let rivals = fits ? 1 : fixed[place...].prefix { $0.priority == child.priority }.count
      // Rounded up, so that all of it is used.
      let share = (left + rivals - 1) / rivals
      var offer = proposal
      offer[axis] = min(child.length, fits ? child.length : share)
      let size = children[child.index].size(offer)
      sizes[child.index] = size
      left = max(0, left - size[axis])
    }
    left += kept
    let priorities = expanding.sorted { children[$0].layoutPriority > children[$1].layoutPriority }
    // A spacer next to something else that expands takes its least length only.
    let others = priorities.filter { !(children[$0] is SpacerElement) }
    let sharers = others.isEmpty ? priorities : others
    if !others.isEmpty {
      for index in priorities where children[index] is SpacerElement {
        let length = min(left, (children[index] as? SpacerElement)?.minLength ?? 0)
        sizes[index][axis] = length
        left -= length
      }
    }
    for (place, index) in sharers.enumerated() {
      var offer = proposal
      offer[axis] = left / (sharers.count - place)
      sizes[index] = children[index].size(offer)
      left = max(0, left - sizes[index][axis])
    }
    return sizes
  }
}

/// What is different in a row and in a column.
@MainActor
protocol StackPart: AnyObject {
  /// The direction of the stack that it stands in; nil outside of any.
  var axis: Axis? { get set }
}

/// A line between others.
@MainActor
final class DividerElement: Element, StackPart {
  var axis: Axis?

  private var isUpright: Bool { axis == .horizontal }

  override func measure(_ proposal: Proposal) -> CellSize {
    isUpright
      ? CellSize(width: 1, height: proposal.height ?? 1) : CellSize(width: proposal.width ?? 1, height: 1)
  }

  override func expands(_ axis: Axis) -> Bool { axis == (isUpright ? .vertical : .horizontal) }

  override func place(in rect: CellRect, on canvas: Canvas) {
    let style = CellStyle(attributes: .dim)
    if isUpright {
      for row in rect.rows {
        let place = CellPosition(column: rect.origin.column, row: row)
        canvas.write("│", at: place, style: style, role: .decoration)
      }
    } else {
      let line = String(repeating: "─", count: rect.size.width)
      canvas.write(line, at: rect.origin, style: style, role: .decoration)
    }
  }
}

/// Room that takes what the others leave.
@MainActor
final class SpacerElement: Element, StackPart {
  let minLength: Int
  var axis: Axis?

  init(minLength: Int) { self.minLength = minLength }

  override func measure(_ proposal: Proposal) -> CellSize {
    var size = CellSize.zero
    for axis in Axis.allCases where expands(axis) { size[axis] = max(minLength, proposal[axis] ?? minLength) }
    return size
  }

  override func expands(_ axis: Axis) -> Bool { self.axis == nil || self.axis == axis }
}

/// Elements one above the other, towards the eye.
@MainActor
final class LayeredElement: Element {
  private let children: [Element]
  private let alignment: Alignment

  init(_ children: [Element], alignment: Alignment) {
    self.children = children
    self.alignment = alignment
  }

  override func expands(_ axis: Axis) -> Bool { children.contains { $0.expands(axis) } }

  override func measure(_ proposal: Proposal) -> CellSize {
    children.reduce(into: CellSize.zero) { size, child in
      let own = child.size(proposal)
      size = CellSize(width: max(size.width, own.width), height: max(size.height, own.height))
    }
  }

  override func place(in rect: CellRect, on canvas: Canvas) {
    for child in children {
      child.place(in: aligned(child.size(Proposal(rect.size)), in: rect, alignment), on: canvas)
    }
  }
}

/// A part of a room for an element of a size.
func aligned(_ size: CellSize, in rect: CellRect, _ alignment: Alignment) -> CellRect {
  CellRect(
    origin: CellPosition(
      column: rect.origin.column + max(0, alignment.horizontal.offset(of: size.width, in: rect.size.width)),
      row: rect.origin.row + max(0, alignment.vertical.offset(of: size.height, in: rect.size.height))),
    size: size)
}
