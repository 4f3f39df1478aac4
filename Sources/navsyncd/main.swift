import Commands

runMain(DaemonCommand.self)
