package import ArgumentParsing

/// The program `navsync`.
package struct Navsync: ParsableCommand {
  package static let configuration = CommandConfiguration(
    name: "navsync", abstract: "One navigation stack on all of a person's devices.",
    discussion: """
      Data goes to the standard output, everything else to the standard error. An option that names an environment \
      variable takes its value from there when it isn't given.
      """,
    exitCodes: [
      ExitCodeDescription(0, "Done."),
      ExitCodeDescription(1, "It failed, or what was checked doesn't hold."),
      ExitCodeDescription(2, "The command line makes no sense."),
      ExitCodeDescription(3, "A stack, device or file that was named isn't there."),
      ExitCodeDescription(4, "Refused; nothing was changed."),
      ExitCodeDescription(5, "Stored or received data is damaged."),
      ExitCodeDescription(69, "No daemon answers."),
      ExitCodeDescription(77, "The daemon doesn't let this device do it."),
    ],
    subcommands: [
      Push.self, Pop.self, Root.self, SetPath.self, Replace.self, Undo.self, Restore.self, Sync.self,
      OpenLink.self, LinkTo.self, PathCommands.self,
      Show.self, Watch.self, ListStacks.self, ListDevices.self, Status.self,
      Log.self, Replay.self, Diff.self, Blame.self, Conflicts.self, Stats.self, Fold.self,
      Export.self, Import.self, Verify.self, Backup.self, RestoreBackup.self,
      Interface.self,
      PairWithDaemon.self, Keys.self,
      FeedTopicCommand.self, Bench.self, Completion.self, ManualPages.self, Version.self,
    ])

  package init() {}
}
