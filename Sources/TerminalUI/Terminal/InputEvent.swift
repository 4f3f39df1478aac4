/// What a terminal and the system tell a program that shows a screen.
package enum InputEvent: Hashable, Sendable {
  case key(KeyPress)
  /// Text that was pasted, with `\n` for its line breaks. It isn't keys: nothing in it may act. A very long text comes in
  /// several parts.
  case paste(String)
  case mouse(MouseEvent)
  /// The terminal's window came to the front, or left it.
  case focus(Bool)
  /// The terminal has another size.
  case resize(CellSize)
  /// The program was stopped and goes on: the screen was drawn by others in between.
  case resumed
  /// The system asks the program to end: the number of the signal. It ends by itself if the program doesn't in time.
  case terminate(Int32)
  /// The terminal is gone; no more events come.
  case hangUp
}
