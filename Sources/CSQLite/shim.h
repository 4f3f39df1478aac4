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

// The system's error number of the last failed call on the write-ahead log (or the journal), 0 for none:
// sqlite3_system_errno is lost when calls that succeed come between. The file's methods are function pointers in a
// structure that SQLite hands out.
static inline int navsync_sqlite3_journal_errno(sqlite3 *database) {
  sqlite3_file *file = 0;
  int number = 0;
  if (sqlite3_file_control(database, "main", SQLITE_FCNTL_JOURNAL_POINTER, &file) == SQLITE_OK && file && file->pMethods)
    file->pMethods->xFileControl(file, SQLITE_FCNTL_LAST_ERRNO, &number);
  return number;
}

// sqlite3_db_config is variadic, which Swift doesn't import.
static inline int navsync_sqlite3_checkpoint_on_close(sqlite3 *database, int is_wanted) {
  return sqlite3_db_config(database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, !is_wanted, (int *)0);
}

#endif
