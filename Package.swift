// swift-tools-version: 6.2
import PackageDescription

/// Settings of every target: Swift 6 mode, warnings are errors, imports say what they re-export.
let common: [SwiftSetting] = [
  .treatAllWarnings(as: .error),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("InternalImportsByDefault"),
]

/// Settings of targets without a C call: unsafe constructs must be marked.
let pure: [SwiftSetting] = common + [.strictMemorySafety()]

let package = Package(
  name: "navsync",
  products: [
    .executable(name: "navsync", targets: ["navsync"]),
    .executable(name: "navsyncd", targets: ["navsyncd"]),
    .executable(name: "navsync-simulate", targets: ["navsync-simulate"]),
    .executable(name: "navsync-chaos", targets: ["navsync-chaos"]),
    .library(name: "NavigationClient", targets: ["NavigationClient"]),
    .library(name: "TerminalUI", targets: ["TerminalUI"]),
    .library(name: "SharedNavigation", targets: ["SharedNavigation"]),
  ],
  targets: [
    // libzmq's own .pc file carries flags that SwiftPM refuses, so the module map links it.
    .systemLibrary(name: "CZeroMQ"),
    .systemLibrary(name: "CSQLite"),
    .systemLibrary(name: "CSodium"),
    .systemLibrary(name: "CZlib"),
    .systemLibrary(name: "CNCurses"),

    .target(name: "NavigationModel", swiftSettings: pure),
    .target(name: "Locking", swiftSettings: common),
    .target(name: "Access", dependencies: ["NavigationModel"], swiftSettings: pure),
    .target(name: "ZeroMQ", dependencies: ["Access", "CZeroMQ", "Locking"], swiftSettings: common),
    .target(
      name: "KeyFiles", dependencies: ["Access", "CSodium", "NavigationModel", "WireFormat", "ZeroMQ"],
      swiftSettings: common),
    .target(name: "WireFormat", dependencies: ["CSodium", "NavigationModel"], swiftSettings: common),
    .target(
      name: "EventLog", dependencies: ["CSQLite", "CSodium", "Locking", "NavigationModel", "WireFormat"],
      swiftSettings: common),
    .target(name: "Replication", dependencies: ["Access", "NavigationModel", "WireFormat"], swiftSettings: pure),
    .target(
      name: "SyncDaemon",
      dependencies: [
        "Access", "CZeroMQ", "KeyFiles", "Locking", "NavigationModel", "WireFormat", "EventLog", "ZeroMQ",
        "Replication",
      ],
      swiftSettings: common),
    .target(
      name: "NavigationClient",
      dependencies: [
        "Access", "KeyFiles", "Locking", "NavigationModel", "WireFormat", "EventLog", "ZeroMQ", "Replication",
      ],
      swiftSettings: common),
    .target(name: "StackHistory", dependencies: ["NavigationModel", "WireFormat"], swiftSettings: pure),
    .target(name: "Links", dependencies: ["NavigationModel", "WireFormat"], swiftSettings: pure),
    .target(name: "Specification", dependencies: ["NavigationModel"], swiftSettings: pure),
    .target(name: "Exhaustive", dependencies: ["NavigationModel", "Specification"], swiftSettings: pure),
    .target(
      name: "Simulation",
      dependencies: [
        "Locking", "NavigationModel", "WireFormat", "EventLog", "ZeroMQ", "Replication", "SyncDaemon",
        "NavigationClient", "Specification",
      ],
      swiftSettings: common),
    .target(name: "TerminalUI", dependencies: ["CNCurses", "Locking"], swiftSettings: common),
    .target(
      name: "SharedNavigation", dependencies: ["Links", "Locking", "NavigationClient", "TerminalUI"],
      swiftSettings: common),
    .target(name: "ArgumentParsing", swiftSettings: pure),
    .target(
      name: "Commands",
      dependencies: [
        "Access", "ArgumentParsing", "KeyFiles", "Locking", "NavigationModel", "WireFormat", "EventLog", "ZeroMQ",
        "Replication", "SyncDaemon", "NavigationClient", "StackHistory", "Links", "SharedNavigation", "TerminalUI",
        "CZeroMQ", "CSQLite", "CSodium", "CZlib", "CNCurses",
      ],
      swiftSettings: common),
    .executableTarget(name: "navsync", dependencies: ["Commands"], swiftSettings: common),
    .executableTarget(
      name: "navsyncd", dependencies: ["Commands"], swiftSettings: common,
      // libzmq is to find the daemon's own, see Sources/SyncDaemon/Accepting.swift.
      linkerSettings: [.unsafeFlags(["-Xlinker", "--export-dynamic-symbol=accept4"])]),
    // Clients of the public library alone, as an app developer's program is.
    .executableTarget(
      name: "recipes-example", dependencies: ["NavigationClient"], path: "Sources/Examples/Recipes",
      swiftSettings: common),
    .executableTarget(
      name: "colors-example", dependencies: ["SharedNavigation", "TerminalUI"], path: "Sources/Examples/Colors",
      swiftSettings: common),
    .executableTarget(
      name: "parks-example", dependencies: ["SharedNavigation", "TerminalUI"], path: "Sources/Examples/Parks",
      swiftSettings: common),
    .executableTarget(
      name: "shop-example", dependencies: ["SharedNavigation", "TerminalUI"], path: "Sources/Examples/Shop",
      swiftSettings: common),
    .executableTarget(
      name: "wikispeedia-example", dependencies: ["SharedNavigation", "TerminalUI"],
      path: "Sources/Examples/Wikispeedia", resources: [.copy("Resources/links.tsv")], swiftSettings: common),
    .executableTarget(
      name: "navsync-exhaustive", dependencies: ["Exhaustive", "Commands", "ArgumentParsing"], swiftSettings: common),
    .executableTarget(name: "terminal-bench", dependencies: ["TerminalUI"], swiftSettings: common),
    .executableTarget(name: "navsync-simulate", dependencies: ["Simulation"], swiftSettings: common),
    .target(
      name: "Chaos",
      dependencies: [
        "Access", "ArgumentParsing", "Commands", "EventLog", "KeyFiles", "Locking", "NavigationClient",
        "NavigationModel", "Simulation", "WireFormat", "ZeroMQ",
      ],
      swiftSettings: common),
    .executableTarget(name: "navsync-chaos", dependencies: ["Chaos", "Commands"], swiftSettings: common),

    // Peers of ill will, for tests and for `deploy/hostile`.
    .target(
      name: "HostilePeers", dependencies: ["NavigationModel", "WireFormat"], swiftSettings: common),
    .executableTarget(
      name: "navsync-hostile", dependencies: ["HostilePeers", "NavigationClient"], swiftSettings: common),

    .target(name: "TestSupport", path: "Tests/TestSupport", swiftSettings: common),
    .testTarget(
      name: "NavigationModelTests",
      dependencies: ["NavigationModel", "Specification", "WireFormat", "TestSupport"],
      swiftSettings: common),
    .target(
      name: "FuzzDecoders",
      dependencies: ["Access", "NavigationModel", "WireFormat", "ZeroMQ", "Commands", "Links", "TerminalUI"],
      path: "Tests/Fuzz/Decoders", swiftSettings: common),
    .testTarget(
      name: "FuzzTests", dependencies: ["FuzzDecoders", "NavigationModel", "TestSupport"], swiftSettings: common),
    .testTarget(name: "ExhaustiveTests", dependencies: ["Exhaustive"], swiftSettings: common),
    .testTarget(
      name: "WireFormatTests",
      dependencies: ["WireFormat", "NavigationModel", "TestSupport"],
      exclude: ["Fixtures"],
      swiftSettings: common),
    .testTarget(
      name: "EventLogTests",
      dependencies: ["EventLog", "WireFormat", "NavigationModel", "CSQLite", "TestSupport"],
      swiftSettings: common),
    .testTarget(
      name: "AccessTests", dependencies: ["Access", "NavigationModel", "TestSupport"], swiftSettings: common),
    .testTarget(
      name: "KeyFilesTests",
      dependencies: ["Access", "KeyFiles", "NavigationModel", "TestSupport", "WireFormat", "ZeroMQ"],
      swiftSettings: common),
    .testTarget(
      name: "ZeroMQTests", dependencies: ["Access", "HostilePeers", "Locking", "ZeroMQ", "TestSupport"],
      swiftSettings: common),
    .testTarget(
      name: "ReplicationTests",
      dependencies: ["Access", "Replication", "WireFormat", "NavigationModel", "TestSupport"], exclude: ["Scenarios"],
      swiftSettings: common),
    .testTarget(
      name: "SyncDaemonTests",
      dependencies: [
        "Access", "HostilePeers", "KeyFiles", "SyncDaemon", "Replication", "WireFormat", "NavigationModel", "EventLog",
        "ZeroMQ", "TestSupport",
      ],
      swiftSettings: common),
    .testTarget(
      name: "NavigationClientTests",
      dependencies: [
        "Access", "KeyFiles", "NavigationClient", "SyncDaemon", "Replication", "WireFormat", "NavigationModel",
        "EventLog", "Locking", "ZeroMQ", "TestSupport", "recipes-example",
      ],
      swiftSettings: common),
    .testTarget(
      name: "ArgumentParsingTests", dependencies: ["ArgumentParsing", "TestSupport"], exclude: ["Golden"],
      swiftSettings: common),
    .testTarget(
      name: "CommandTests",
      dependencies: [
        "Access", "Commands", "ArgumentParsing", "EventLog", "KeyFiles", "NavigationModel", "StackHistory",
        "WireFormat",
        "ZeroMQ", "TestSupport",
      ],
      exclude: ["Golden"],
      swiftSettings: common),
    .testTarget(
      name: "StackHistoryTests", dependencies: ["StackHistory", "WireFormat", "NavigationModel", "TestSupport"],
      swiftSettings: common),
    .testTarget(
      name: "LinksTests", dependencies: ["Links", "WireFormat", "NavigationModel", "TestSupport"],
      swiftSettings: common),
    .executableTarget(
      name: "app-probe", dependencies: ["TerminalUI"], path: "Tests/AppProbe",
      swiftSettings: common + [.swiftLanguageMode(.v5)]),
    .target(
      name: "IsolatedClient", dependencies: ["TerminalUI"], path: "Tests/IsolatedClient",
      swiftSettings: common + [.defaultIsolation(MainActor.self)]),
    .executableTarget(
      name: "terminal-probe", dependencies: ["TerminalUI"], path: "Tests/TerminalProbe", swiftSettings: common),
    .testTarget(
      name: "SimulationTests", dependencies: ["Simulation", "TestSupport"], exclude: ["Scenarios"],
      swiftSettings: common),
    .testTarget(
      name: "TerminalUITests",
      dependencies: ["TerminalUI", "TestSupport", "IsolatedClient", "terminal-probe", "app-probe"],
      exclude: ["Views/Golden"],
      swiftSettings: common),
    .testTarget(
      name: "SharedNavigationTests",
      dependencies: [
        "SharedNavigation", "NavigationClient", "NavigationModel", "TerminalUI", "SyncDaemon", "KeyFiles", "Locking",
        "ZeroMQ",
        "TestSupport",
        "navsync", "colors-example", "wikispeedia-example",
      ],
      swiftSettings: common),
    .testTarget(
      name: "ExampleTests",
      dependencies: [
        "colors-example", "parks-example", "shop-example", "wikispeedia-example", "TerminalUI", "TestSupport",
      ],
      exclude: ["Golden"], swiftSettings: common),
    .testTarget(
      name: "ChaosTests",
      dependencies: [
        "Chaos", "EventLog", "NavigationModel", "TestSupport", "WireFormat", "navsync", "navsyncd", "navsync-chaos",
      ],
      swiftSettings: common),
    .testTarget(name: "TidyTests", dependencies: ["TestSupport"], swiftSettings: common),
  ],
  swiftLanguageModes: [.v6]
)

// The fuzzers' driver has no main of its own, so it builds with `deploy/fuzz` only.
if Context.environment["NAVSYNC_FUZZ"] != nil {
  package.targets.append(
    .executableTarget(
      name: "navsync-fuzz", dependencies: ["FuzzDecoders"], path: "Tests/Fuzz/Driver", swiftSettings: common))
}

// `deploy/mutants` builds the tests that it needs, and nothing else.
if let tests = Context.environment["NAVSYNC_TESTS"]?.split(separator: " ").map(String.init) {
  package.targets.removeAll { $0.type == .test && !tests.contains($0.name) }
}
