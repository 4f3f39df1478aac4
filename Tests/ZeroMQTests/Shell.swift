import Glibc
import Testing

/// A bash script in a process of its own, for tests of what happens when one dies. Killed at the latest when it goes.
final class Shell {
  let process: pid_t
  private let output: Int32
  private var isReaped = false

  init(_ script: String) throws {
    var ends: [Int32] = [0, 0]
    try #require(pipe(&ends) == 0)
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
    defer { posix_spawn_file_actions_destroy(&actions) }
    let arguments = ["/bin/bash", "-c", script].map { (text: String) in strdup(text) }
    defer { for argument in arguments { free(argument) } }
    var process = pid_t()
    let number = posix_spawn(&process, "/bin/bash", &actions, nil, arguments + [nil], environ)
    close(ends[1])
    output = ends[0]
    self.process = process
    try #require(number == 0)
  }

  deinit {
    kill()
    close(output)
  }

  /// Waits for a line of output.
  func line() -> String {
    var text: [UInt8] = []
    var byte: UInt8 = 0
    while read(output, &byte, 1) == 1, byte != 10 { text.append(byte) }
    return String(decoding: text, as: UTF8.self)
  }

  /// Kills the process and waits for its end.
  func kill() {
    if isReaped { return }
    isReaped = true
    Glibc.kill(process, SIGKILL)
    waitpid(process, nil, 0)
  }
}
