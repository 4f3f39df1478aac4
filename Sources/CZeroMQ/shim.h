#ifndef NAVSYNC_CZEROMQ_H
#define NAVSYNC_CZEROMQ_H

#include <zmq.h>

#endif
