#ifndef NAVSYNC_CSQLITE_H
#define NAVSYNC_CSQLITE_H

#include <sqlite3.h>

// SQLITE_TRANSIENT is a cast of -1 to a function pointer, which Swift doesn't import: SQLite takes a copy.
static inline int navsync_sqlite3_bind_blob_copy(sqlite3_stmt *statement, int place, const void *bytes, int count) {
  return sqlite3_bind_blob(statement, place, bytes, count, SQLITE_TRANSIENT);
}

static inline int navsync_sqlite3_bind_text_copy(sqlite3_stmt *statement, int place, const char *text, int count) {
  return sqlite3_bind_text(statement, place, text, count, SQLITE_TRANSIENT);
}

#endif
