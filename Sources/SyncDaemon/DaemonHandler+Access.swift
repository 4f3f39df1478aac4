import Access
import KeyFiles
import Replication
import ZeroMQ

/// Keys and rules, while the daemon runs.
extension DaemonHandler {
  /// What a socket that couldn't be bound again is waiting for.
  struct Reopening {
    var isFeed: Bool
    var place: Int
    var endpoint: Endpoint
  }

  /// The folder of keys may have changed: its rules hold from here on.
  mutating func reloadAccess(at moment: ServerCore.Moment) {
    guard let access else {
      return log.write(.info, "there are no keys, and so nothing to read again")
    }
    do {
      // Before the files are read: what is written in between isn't in use yet.
      let stamp = try access.folder.stamp()
      let before = access.keys.publicKey
      let cuts = try access.reload()
      core.accessChanged(access.rules, at: moment)
      if access.keys.publicKey != before {
        log.audit(.info, "the daemon's keys are others now", [("key", "\(access.keys.publicKey)")])
      }
      if let change = access.change, change.key != core.nextKey {
        log.audit(.info, "a change of keys is told to everybody", [("key", "\(change.key)")])
      }
      core.nextKey = access.change?.key
      // Requests of who lost their rights are refused from here on; this ends the connections.
      if cuts { reopenSockets(at: moment) }
      serving?.tell(stamp)
    } catch {
      log.audit(.error, "keys and rules stay as they were", [("problem", "\(error)")])
      serving?.tell("problem: \(error)")
    }
  }

  /// Closes the sockets that have keys, and binds them again where they were: libzmq can't end one connection. Whoever may
  /// connects again by itself.
  mutating func reopenSockets(at moment: ServerCore.Moment) {
    for (place, socket) in routers.enumerated() {
      guard let endpoint = loop.endpoint(of: socket), endpoint.path == nil else { continue }
      loop.close(socket)
      core.socketReopened(where: { $0.link == nil && $0.onRouter.router == place }, at: moment)
      reopening.append(Reopening(isFeed: false, place: place, endpoint: endpoint))
    }
    for (place, feed) in feeds.enumerated() where loop.endpoint(of: feed.socket)?.path == nil { closeFeed(place) }
    bindAgain(at: moment)
  }

  /// Closes a feed, with all that is subscribed, and binds it again.
  mutating func reopenFeed(_ place: Int, at moment: ServerCore.Moment) {
    closeFeed(place)
    bindAgain(at: moment)
  }

  private mutating func closeFeed(_ place: Int) {
    guard let endpoint = loop.endpoint(of: feeds[place].socket) else { return }
    loop.close(feeds[place].socket)
    feeds[place].topics = [:]
    feeds[place].weight = 0
    reopening.append(Reopening(isFeed: true, place: place, endpoint: endpoint))
  }

  /// Binds what is closed; what can't be bound, as when another program took the port, is tried again.
  mutating func bindAgain(at moment: ServerCore.Moment) {
    reopenAt = nil
    let waiting = reopening
    reopening = []
    for again in waiting {
      do {
        var options = again.isFeed ? SocketOptions() : routerOptions
        if again.endpoint.path == nil { options.curve = try access?.curve(forFeed: again.isFeed) }
        if again.isFeed {
          feeds[again.place].socket = try loop.xpub(bind: again.endpoint, options)
        } else {
          routers[again.place] = try loop.router(bind: again.endpoint, options)
        }
      } catch {
        log.write(.error, "can't listen again; trying further", [("problem", "\(error)")])
        reopening.append(again)
        reopenAt = moment.milliseconds + 500
      }
    }
  }

  /// When the daemon's keys are to change, in monotonic milliseconds.
  var changeDeadline: Int? {
    guard let change = access?.change else { return nil }
    let now = Moment.now()
    return max(now.monotonic + max(0, change.at - now.wall), changeAgainAt ?? 0)
  }

  /// The time of the new keys has come.
  mutating func changeKeys(at moment: ServerCore.Moment) {
    guard let access, let change = access.change, change.at <= moment.wall,
      changeAgainAt.map({ $0 <= moment.milliseconds }) ?? true
    else { return }
    do {
      try access.folder.finishChange()
      reloadAccess(at: moment)
    } catch {
      log.write(.error, "the daemon's keys can't be changed; trying further", [("problem", "\(error)")])
    }
    changeAgainAt = access.change == change ? moment.milliseconds + 500 : nil
  }

  /// Who has a code that a person brought.
  mutating func redeem(at moment: ServerCore.Moment) {
    for redemption in core.takeRedemptions() {
      guard let access else { continue }
      let wasOpen = access.hasOpenCode
      switch access.redeem(redemption.secret, for: redemption.key, name: redemption.name) {
      case .granted(let rule):
        reloadAccess(at: moment)
        core.redeemed(redemption, rule, reason: "", at: moment)
      case .refused(let reason):
        core.redeemed(redemption, nil, reason: reason, at: moment)
        // It may have been the last try.
        if wasOpen { reloadAccess(at: moment) }
      }
    }
  }

  /// Device ids that were used first are their keys' from then on, also after the daemon was started again.
  mutating func keepClaims() {
    for claim in core.takeClaims() {
      store.writes.post(.keep(key: OwnerFact.key(of: claim.device), value: Array(claim.key.description.utf8)))
    }
  }
}
