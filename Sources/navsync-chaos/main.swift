import Chaos
import Commands

runMain(ChaosCommand.self)
