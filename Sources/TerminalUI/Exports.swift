// A program that imports SwiftUI gets these with it, and one that imports TerminalUI in its place is to compile.
@_exported public import Foundation
@_exported public import Observation
