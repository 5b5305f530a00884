// What flame.c and flame_svg.c share.
#ifndef TOOLS_FLAME_INTERNAL_H
#define TOOLS_FLAME_INTERNAL_H

#include "tools/flame.h"

// The next node in the order of the tree (children by weight); 0 behind the last.
uint32_t flame_next(const Flame *flame, uint32_t node);
void flame_write_svg(const Flame *flame, size_t max_bytes, FlameSink *sink, FlameCut *cut);

#endif
