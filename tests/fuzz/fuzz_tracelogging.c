// TraceLogging metadata (as long as the first two bytes say), then a payload.
#include "fuzz.h"

#include "decode/tracelogging.h"
#include "support/fields_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    AUTO(arena_done) Arena arena = {0};
    AUTO(layout_done) FieldsLayout layout = {0};
    Str payload, name, schema = first_part(data, size, &payload);
    Guid group;
    (void)tracelogging_layout(schema, &arena, &layout, &name);
    (void)traits_name(schema, &arena);
    (void)traits_group(schema, &group);
    layout_check(&layout, payload);
    return 0;
}
