#ifndef NAVSYNC_CSQLITE_H
#define NAVSYNC_CSQLITE_H

#include <sqlite3.h>

#endif
