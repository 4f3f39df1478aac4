import Commands

await runMain(DaemonCommand.self)
