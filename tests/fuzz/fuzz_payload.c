// A compiled schema (as long as the first two bytes say), then a payload.
#include "fuzz.h"

#include "support/fields_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    Str payload, schema = first_part(data, size, &payload);
    (void)fields_check(schema, payload);
    return 0;
}
