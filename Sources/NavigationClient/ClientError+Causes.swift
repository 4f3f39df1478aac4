import EventLog
import NavigationModel
import WireFormat
import ZeroMQ

extension ClientError {
  init(_ error: LogError) {
    self.init(
      error.code == .busy ? .deviceInUse : .storage, about: error.about, error.detail, error,
      isRetriable: error.isRetriable)
  }

  init(_ error: NameError) { self.init(.badName, about: "", error.description, error) }

  init(_ error: ZeroMQError) {
    self.init(.unreachable, about: error.about, error.detail, error, isRetriable: error.isRetriable)
  }

  init(_ fault: ChainFault, about stack: StackName) {
    let code: Code =
      switch fault {
      case .unwritable(.eventTooLarge), .unwritable(.tooManyDevices): .tooLarge
      case .unwritable: .badValue
      case .malformed(let error): error.code == .unsupported ? .needsNewerVersion : .storage
      case .fork: .fork
      case .duplicate, .gap, .missingContext: .storage
      }
    self.init(code, about: stack.description, fault.description, fault)
  }

  init(_ code: RefusalCode, about: String, reason: String, isRetriable: Bool) {
    let own: Code =
      switch code {
      case .notAuthorised: .notAuthorised
      case .policyMismatch: .policyMismatch
      case .fork: .fork
      case .tooLarge, .tooMany: .tooLarge
      case .unsupported: .needsNewerVersion
      case _: .refused
      }
    self.init(own, about: about, reason, isRetriable: isRetriable)
  }
}
