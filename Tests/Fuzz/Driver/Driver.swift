import FuzzDecoders
import Glibc

/// What libFuzzer calls: one input for the target that `NAVSYNC_FUZZ_TARGET` names.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = Array(UnsafeBufferPointer(start: start, count: count))
  do {
    _ = try target.take(bytes)
  } catch {
    fatalError("\(target): \(error)")
  }
  return 0
}

private let target: FuzzTarget = {
  guard let name = getenv("NAVSYNC_FUZZ_TARGET"), let target = FuzzTarget(rawValue: String(cString: name)) else {
    fatalError("NAVSYNC_FUZZ_TARGET names no target")
  }
  return target
}()
