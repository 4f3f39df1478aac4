import Commands

runMain(ExhaustiveCommand.self)
