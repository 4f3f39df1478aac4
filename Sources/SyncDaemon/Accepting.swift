import CZeroMQ
import Glibc

/// Connections take no more descriptors than leave some for the log and the rest: one beyond that is taken and closed at
/// once, which its peer sees, and the monitor reports as a failure to accept.
///
/// It stands in for the system's call of this name in the whole process, for libzmq 4.3.4 leaves no other place: where the
/// limit of open files is met, a connection to a socket in the file system ends the process (`ipc_listener.cpp` asserts
/// that it is any error but EMFILE), and one over tcp is tried again without a pause. Public only so that it is linked.
@_cdecl("accept4")
public func acceptLeavingSome(
  _ socket: Int32, _ address: UnsafeMutableRawPointer?, _ length: UnsafeMutablePointer<UInt32>?,
  _ flags: Int32
) -> Int32 {
  let descriptor = navsync_accept4(socket, address, length, flags)
  guard descriptor >= 0 else {
    // ENFILE is the same to a caller, and doesn't end libzmq.
    if errno == EMFILE { errno = ENFILE }
    return descriptor
  }
  var limit = rlimit()
  guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return descriptor }
  // The lowest number that is free is given, so all those below are taken.
  let most = Int(clamping: limit.rlim_cur)
  guard Int(descriptor) >= most - min(descriptorsKept, most / 4) else { return descriptor }
  close(descriptor)
  errno = ECONNABORTED
  return -1
}

/// For the log's files, which are opened anew after a failure, the folder of keys, and links to other daemons.
private let descriptorsKept = 32
