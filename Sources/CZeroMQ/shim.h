#ifndef NAVSYNC_CZEROMQ_H
#define NAVSYNC_CZEROMQ_H

#include <zmq.h>
// Swift's Glibc module lacks this header; the loop is woken through an eventfd.
#include <sys/eventfd.h>
// And this one, with which a thread names itself.
#include <sys/prctl.h>
#include <sys/syscall.h>

// EFD_CLOEXEC and EFD_NONBLOCK are enumerators whose Swift type differs between releases.
static inline int navsync_eventfd(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

// prctl is variadic, which Swift can't call.
static inline void navsync_name_thread(const char *name) { prctl(PR_SET_NAME, name, 0, 0, 0); }

// The system call itself, for what stands in for accept4(2). Variadic too; declared here, because headers that Swift's Glibc
// has would make its names this module's.
extern long syscall(long number, ...);
static inline int navsync_accept4(int listening, void *address, unsigned *length, int flags) {
  return (int)syscall(SYS_accept4, listening, address, length, flags);
}

#endif
