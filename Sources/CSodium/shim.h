#ifndef NAVSYNC_CSODIUM_H
#define NAVSYNC_CSODIUM_H

#include <sodium.h>

#endif
