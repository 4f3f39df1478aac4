#ifndef NAVSYNC_CZLIB_H
#define NAVSYNC_CZLIB_H

#include <zlib.h>

// inflateInit2 is a macro that passes the header's version, and macros with arguments are not imported.
// 15 + 16: the largest window, and a gzip header is required.
static inline int navsync_inflate_gzip_init(z_streamp stream) { return inflateInit2(stream, 15 + 16); }

#endif
