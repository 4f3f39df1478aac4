import Commands

runMain(Navsync.self)
