// TRACE_EVENT_INFO (as long as the first two bytes say), then a payload, which is also every map.
#include "fuzz.h"

#include "decode/event_info.h"
#include "support/fields_check.h"

static Str any_map(void *context, const Guid *provider, Str name) {
    (void)provider, (void)name;
    return *(const Str *)context;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    AUTO(arena_done) Arena arena = {0};
    AUTO(layout_done) FieldsLayout layout = {0};
    Str payload, info = first_part(data, size, &payload);
    EventInfo names;
    (void)event_info_read(info, &arena, &names);
    (void)event_info_layout(info, any_map, &payload, &arena, &layout);
    layout_check(&layout, payload);
    return 0;
}
