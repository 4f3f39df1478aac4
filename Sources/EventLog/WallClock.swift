import Glibc

/// Milliseconds since 1970 by the system's clock.
package func wallClockMilliseconds() -> Int {
  var now = timespec()
  clock_gettime(CLOCK_REALTIME, &now)
  return now.tv_sec * 1000 + now.tv_nsec / 1_000_000
}
