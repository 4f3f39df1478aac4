public import Foundation

/// The programs of the build that these tests are of.
public enum BuiltProgram {
  /// Where a program of that name was built.
  public static func url(_ name: String) throws -> URL {
    let tests = URL(fileURLWithPath: try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
    return tests.deletingLastPathComponent().appendingPathComponent(name)
  }
}
