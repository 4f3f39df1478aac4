#ifndef NAVSYNC_CNCURSES_H
#define NAVSYNC_CNCURSES_H

#include <ncursesw/curses.h>
#include <ncursesw/term.h>

// term.h defines a macro for each capability, and tparm is variadic, which Swift doesn't import. The result lies in
// memory that the next call overwrites.
static inline const char *navsync_tparm(const char *format, int first, int second) {
  return tparm((char *)format, (long)first, (long)second, 0L, 0L, 0L, 0L, 0L, 0L, 0L);
}

// These take `char *` for names that they only read. A text that isn't there is null or -1, which is hard to say in
// Swift: it is null here.
static inline const char *navsync_tigetstr(const char *name) {
  char *text = tigetstr((char *)name);
  return text == (char *)-1 ? (const char *)0 : text;
}

static inline int navsync_tigetnum(const char *name) { return tigetnum((char *)name); }

// A file without a name, from sys/mman.h, where only programs of GNU's own dialect see it.
extern int memfd_create(const char *, unsigned int);
static inline int navsync_memfd_create(const char *name) { return memfd_create(name, 1 /* MFD_CLOEXEC */); }

#endif
