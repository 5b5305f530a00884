// Corrections of layouts that are known to differ from what is written.
#ifndef DECODE_FIELDS_KNOWN_H
#define DECODE_FIELDS_KNOWN_H

#include "decode/fields.h"

void fields_fix_known(const Guid *provider, uint16_t id, unsigned pointer_size,
                      FieldsLayout *layout);

#endif
