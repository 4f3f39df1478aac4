import Commands

await runMain(Navsync.self)
