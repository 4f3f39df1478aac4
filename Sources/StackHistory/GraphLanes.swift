package import NavigationModel

/// The lanes of a log's graph: one a device, with a line from a lane to the event that first knew of it.
///
///     ●     phone:1
///     ├─●   laptop:1   the laptop had seen all of the phone's events
///     ● │   phone:2    the phone had not seen laptop:1
///     ●─┤   phone:3    now it has
///
/// A solid line says that the author had all events of that lane, a broken one that it had some new ones of them. A lane
/// ends with the device's last event and is given to the next new device.
package struct GraphLanes: Sendable {
  package struct Marks: Sendable {
    package var event: Character
    package var line: Character
    package var all: Character
    package var some: Character
    package var joint: Character
    package var crossing: Character

    package static let unicode = Marks(event: "●", line: "│", all: "─", some: "╌", joint: "├", crossing: "┼")
    package static let ascii = Marks(event: "*", line: "|", all: "-", some: ".", joint: "+", crossing: "|")
  }

  private struct Lane {
    var device: DeviceID
    var newest: Int
  }

  private let marks: Marks
  private let last: VersionVector?
  private var lanes: [Lane?] = []
  private var known: [DeviceID: VersionVector] = [:]

  /// - Parameter last: each device's last event, if that is known: its lane ends there.
  package init(marks: Marks, last: VersionVector?) {
    self.marks = marks
    self.last = last
  }

  /// The event's line of the graph; events come in log order. Its width is that of the lanes in use.
  package mutating func line(_ event: Event) -> String {
    let device = event.dot.device
    let own = lane(of: device)
    lanes[own] = Lane(device: device, newest: event.dot.sequence)
    // What the author learned since its event before.
    let before = known[device] ?? VersionVector()
    var joins: [Int: Bool] = [:]
    for (place, lane) in lanes.enumerated() {
      guard let lane, place != own, event.context[lane.device] > before[lane.device] else { continue }
      joins[place] = event.context[lane.device] >= lane.newest
    }
    known[device] = event.context
    let text = draw(own, joins)
    if let last, event.dot.sequence >= last[device] { lanes[own] = nil }
    while let last = lanes.last, last == nil { lanes.removeLast() }
    return text
  }

  private mutating func lane(of device: DeviceID) -> Int {
    if let place = lanes.firstIndex(where: { $0?.device == device }) { return place }
    if let free = lanes.firstIndex(where: { $0 == nil }) { return free }
    lanes.append(nil)
    return lanes.count - 1
  }

  private func draw(_ own: Int, _ joins: [Int: Bool]) -> String {
    let low = min(own, joins.keys.min() ?? own)
    let high = max(own, joins.keys.max() ?? own)
    /// Whether the line that passes between two lanes says that all was known: of the farthest join on that side.
    func stroke(after place: Int) -> Character? {
      guard place >= low, place < high else { return nil }
      let farther = joins.filter { place < own ? $0.key <= place : $0.key > place }
      return farther.values.allSatisfy { $0 } ? marks.all : marks.some
    }
    var text = ""
    for place in lanes.indices {
      let mark: Character =
        if place == own {
          marks.event
        } else if joins[place] != nil {
          place < own ? marks.joint : marks.rightJoint
        } else if lanes[place] != nil {
          place > low && place < high ? marks.crossing : marks.line
        } else {
          stroke(after: place) ?? " "
        }
      text.append(mark)
      if place + 1 < lanes.count { text.append(stroke(after: place) ?? " ") }
    }
    return text
  }
}

extension GraphLanes.Marks {
  /// The joint of a lane that is to the right of the event.
  fileprivate var rightJoint: Character { joint == "├" ? "┤" : joint }
}
