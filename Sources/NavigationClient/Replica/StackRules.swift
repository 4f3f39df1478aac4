import KeyFiles
import NavigationModel
package import WireFormat

/// What holds for one stack: whom to trust, and what to sign with.
package struct StackRules: Hashable, Sendable {
  /// Nil: nobody was told whom to trust, so nothing is checked.
  package var trust: SpaceTrust?
  /// The device's key; nil of an observer, and of a device from before there were signatures.
  package var signer: SigningKey?
  /// The device's leave to write in the space.
  package var grant: Grant?

  package init(trust: SpaceTrust? = nil, signer: SigningKey? = nil, grant: Grant? = nil) {
    self.trust = trust
    self.signer = signer
    self.grant = grant
  }

  /// Whether what nobody vouches for is held back.
  var isRequired: Bool { trust?.mode == .required }

  /// What events are signed with, if they are to be.
  var signing: (key: SigningKey, seal: EventSeal)? {
    guard let signer, grant != nil || (trust.map { $0.mode != .off } ?? false) else { return nil }
    return (signer, EventSeal(key: grant == nil ? signer.verifyingKey : nil, grant: grant))
  }

  /// Why an own event of that time would be let through by nobody; nil if it would.
  func objection(at timestamp: Timestamp, in space: Name) -> String? {
    guard isRequired, let trust else { return nil }
    guard let signer else {
      return
        "this device can't sign, and in \(space) everything must be signed; 'navsync keys device --renew' gives it a "
        + "key and with it a new id"
    }
    let ask = "the owner of \(space) makes one with 'navsync keys grant \(space) \(signer.verifyingKey) --name NAME'"
    guard let grant, grant.key == signer.verifyingKey, grant.isSigned(by: trust.owner) else {
      return "this device has no grant to write in \(space): \(ask), and 'navsync keys accept' takes it"
    }
    guard grant.covers(timestamp) else { return "this device's grant to write in \(space) has expired; \(ask)" }
    return nil
  }
}

/// Where a replica's rules come from.
struct Authority: Sendable {
  /// Nil: there are none, and nothing is checked.
  var keys: KeyFolder?
  var signer: SigningKey?

  /// - Throws: `.storage` if the files can't be read: what is passed over might have been required.
  func rules(of stack: StackName) throws(ClientError) -> StackRules {
    guard let keys else { return StackRules() }
    do throws(KeyFileError) {
      return StackRules(
        trust: try keys.trust(in: stack.space), signer: signer,
        grant: try signer.flatMap { (key) throws(KeyFileError) in
          try keys.grant(in: stack.space, for: key.verifyingKey)
        })
    } catch { throw ClientError(.storage, about: error.path, error.detail, error) }
  }
}
