// A stand-in for the engine with a handful of tools, so that the protocol can be tested alone. It
// replaces the engine at link time: only programs that want it compile fake_engine.c.
#ifndef SUPPORT_FAKE_ENGINE_H
#define SUPPORT_FAKE_ENGINE_H

#include "tools/engine.h"

// Calls of `slow` and `stuck` that are running now.
unsigned fake_engine_running(void);

#endif
