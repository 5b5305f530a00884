// Making and ending a world (decode.c does it once per trace).
#ifndef DECODE_WORLD_BUILD_H
#define DECODE_WORLD_BUILD_H

#include "decode/survey.h"

// Takes the survey over.
World *world_open(EtlFile *file, Survey *survey);
void world_close(World *world); // accepts NULL
const ClassTable *world_classes(const World *world);
AUTO_DEFINE(World *, world_close)

#endif
