import NavigationModel
import WireFormat

// MARK: Requests

extension Attack {
  static let asking = [
    Attack(name: "follows", about: "eight sessions that each follow 16,384 stacks, and leave and follow again") {
      target in
      var count = 0
      var peers: [RawConnection] = []
      while !target.isOver {
        while peers.count < 8, let peer = try? target.session() { peers.append(peer) }
        for (place, peer) in peers.enumerated() {
          target.pump(peer, slice: 50) {
            let messages = (0..<64).flatMap { step -> [Message] in
              let number = (count + step) % 16_384
              let stack = "hostile/f\(place).\(number)"
              let follow = Message.follow(Follow(stack: stack))
              return count < 16_384 * 8 ? [follow] : [.unfollow(Unfollow(stack: stack)), follow]
            }
            count += 64
            return Target.frames(messages)
          }
        }
        peers.removeAll { $0.discard() == nil }
      }
      return count
    },
    Attack(name: "presence", about: "presence at full speed, to a hundred followers of the stack") { target in
      let crowd = try (0..<100).map { _ in try target.session() }
      for peer in crowd { peer.send(Target.frames([.follow(Follow(stack: target.stack))])) }
      let peer = try target.session(device(7), name: "hostile")
      peer.send(Target.frames([.follow(Follow(stack: target.stack))]))
      let one = Target.frames([.presence(Presence(stack: target.stack))])
      let frames = [[UInt8]](repeating: one, count: 100).flatMap { $0 }
      var count = 0
      while !target.isOver {
        target.pump(peer, slice: 20) {
          count += 100
          return frames
        }
        for peer in crowd { peer.discard() }
      }
      return count
    },
    Attack(name: "everything", about: "lists, status, whole stacks and ranges, again and again") { target in
      let large = HostileStacks.large
      let status = try target.session(credit: 1 << 20)
      let epoch: UInt64 = 0
      let frames = Target.frames([
        .list(List()), .statusRequest(StatusRequest()), .unfollow(Unfollow(stack: large)),
        .follow(Follow(stack: large)), .credit(Credit(bytes: 1 << 20)), .list(List(space: "hostile")),
        .range(RangeRequest(stack: large, epoch: epoch, from: 1, to: 1_000_000)),
        .follow(Follow(stack: large, wantsAuthorStates: true)), .credit(Credit(bytes: 1 << 20)),
      ])
      var count = 0
      var peers = [status]
      while !target.isOver {
        while peers.count < 8, let peer = try? target.session(credit: 1 << 20) { peers.append(peer) }
        for peer in peers {
          target.pump(peer, slice: 10) {
            count += 9
            return frames
          }
        }
        peers.removeAll { $0.discard() == nil }
      }
      return count
    },
    Attack(name: "heads", about: "follows of a large stack with thousands of heads, to be compared") { target in
      var count = 0
      let heads = (0..<4000).map {
        DeviceHead(device: device($0), sequence: 1, digest: Digest(high: 1, low: UInt64($0)))
      }
      let known = (1...400).map {
        DeviceHead(device: HostileStacks.author, sequence: $0 * 20, digest: Digest(high: 1, low: UInt64($0)))
      }
      let frames = Target.frames([
        .follow(Follow(stack: HostileStacks.large, start: .vector(heads))),
        .follow(Follow(stack: HostileStacks.large, start: .vector(known))),
      ])
      while !target.isOver {
        guard let peer = try? target.session() else { continue }
        target.pump(peer) {
          count += 2
          return frames
        }
      }
      return count
    },
    Attack(name: "deaf", about: "64 followers with credit that read nothing, and ask for lists") { target in
      var count = 0
      var peers: [RawConnection] = []
      let ask = Target.frames([.list(List()), .statusRequest(StatusRequest()), .credit(Credit(bytes: 1 << 20))])
      while !target.isOver {
        while peers.count < 64, let peer = try? target.session(credit: 1 << 20) {
          peer.send(
            Target.frames([.follow(Follow(stack: target.stack)), .follow(Follow(stack: HostileStacks.large))]))
          peers.append(peer)
        }
        peers.removeAll { peer in
          let sent = target.pump(peer, reads: false, slice: 2) {
            count += 3
            return ask
          }
          return sent == 0 && peer.sendSome([]) == nil
        }
      }
      return count
    },
  ]
}

/// What is stored at the daemon before it is attacked.
public enum HostileStacks {
  public static let large = "hostile/large"
  static let author = Attack.device(-1)

  /// Stores a stack of some megabytes, and many small ones.
  public static func prepare(_ target: Target, events: Int = 20_000, stacks: Int = 2000) throws {
    var author = HostileAuthor(author, on: try StackName(large))
    let peer = try target.session(author.id, name: "author")
    var left = events
    target.pump(peer) {
      guard left > 0 else { return nil }
      left -= 200
      return (try? author.append(200, size: 400)).map { Target.frames([$0]) }
    }
    var number = 0
    target.pump(peer) {
      guard number < stacks else { return nil }
      number += 1
      guard let name = try? StackName("hostile/s\(number)") else { return nil }
      var small = HostileAuthor(author.id, on: name)
      return (try? small.append(1, size: 10)).map { Target.frames([$0]) }
    }
  }
}

extension Attack {
  static let storing = [
    Attack(name: "appends", about: "three devices that append as fast as they can, to stacks of their own") { target in
      var random = SystemRandomNumberGenerator()
      var authors: [(author: HostileAuthor, peer: RawConnection)] = []
      for number in 0..<3 {
        let stack = try StackName("hostile/own-\(UInt32.random(in: 0 ... .max, using: &random))")
        let id = DeviceID(high: 0x4057, low: random.next())
        authors.append((HostileAuthor(id, on: stack), try target.session(id, name: "hostile-\(number)")))
      }
      var count = 0
      while !target.isOver {
        for place in authors.indices {
          target.pump(authors[place].peer, slice: 20) {
            count += 200
            return (try? authors[place].author.append(200, size: 800)).map { Target.frames([$0]) }
          }
        }
      }
      return count
    },
    Attack(name: "replays", about: "the same appends again and again, and the same in another order") { target in
      var random = SystemRandomNumberGenerator()
      let stack = try StackName("hostile/replay-\(UInt32.random(in: 0 ... .max, using: &random))")
      var author = HostileAuthor(DeviceID(high: 0x4058, low: random.next()), on: stack)
      let appends = try (0..<40).map { _ in Target.frames([try author.append(100, size: 200)]) }
      let peer = try target.session(author.id, name: "hostile")
      for append in appends { peer.send(append) }
      var count = 0
      target.pump(peer) {
        count += 100
        return appends.randomElement(using: &random)
      }
      return count
    },
  ]
}
