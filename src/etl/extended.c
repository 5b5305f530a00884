// Extended items of EVENT_HEADER events and the optional fields of WPP messages
// (docs/formats/etl.md, "Extended items", "Messages").
#include "base/limits.h"
#include "etl/event_parts.h"

enum {
    ITEM_RELATED_ACTIVITY = 1,
    ITEM_SID = 2,
    ITEM_SESSION = 3,
    ITEM_STACK32 = 5,
    ITEM_STACK64 = 6,
    ITEM_PMC = 8,
    ITEM_EVENT_KEY = 10,
    ITEM_TRACELOGGING = 11,
    ITEM_TRAITS = 12,
    ITEM_PROCESS_START_KEY = 13,
    ITEM_CONTAINER = 16,
    ITEM_STACK_KEY32 = 17,
    ITEM_STACK_KEY64 = 18,
    ITEM_HEAD_BYTES = 8,

    MESSAGE_HEAD_BYTES = 8,
    MESSAGE_SEQUENCE = 0x01,
    MESSAGE_GUID = 0x02,
    MESSAGE_COMPONENT = 0x04,
    MESSAGE_TIME = 0x08,
    MESSAGE_IDS = 0x20,
    MESSAGE_POINTER32 = 0x40,
    MESSAGE_POINTER64 = 0x80,
};

static void read_stack(EtlExtended *ext, Rd data, unsigned pointer_size) {
    if (ext->stack.p) return; // the first one counts
    ext->match_id = rd_u64(&data);
    ext->has_match_id = rd_ok(&data);
    size_t n = rd_left(&data) / pointer_size * pointer_size;
    ext->stack = rd_bytes(&data, n);
    ext->stack_pointer_size = pointer_size;
}

static void read_stack_key(EtlExtended *ext, Rd data, unsigned pointer_size) {
    uint64_t match_id = rd_u64(&data);
    ext->stack_key = rd_ptr(&data, pointer_size);
    ext->has_stack_key = rd_ok(&data);
    if (!ext->stack.p && ext->has_stack_key) {
        ext->match_id = match_id;
        ext->has_match_id = true;
        ext->stack_pointer_size = pointer_size;
    }
}

static bool read_key(Rd data, uint64_t *key) {
    *key = rd_u64(&data);
    return rd_ok(&data);
}

static void read_item(EtlExtended *ext, unsigned type, Rd data) {
    Rd all = data;
    Str bytes = rd_bytes(&all, rd_left(&all));
    switch (type) {
    case ITEM_RELATED_ACTIVITY:
        ext->related_activity = rd_guid(&data);
        ext->has_related_activity = rd_ok(&data);
        break;
    case ITEM_SID: ext->sid = bytes; break;
    case ITEM_SESSION:
        ext->session_id = rd_u32(&data);
        ext->has_session = rd_ok(&data);
        break;
    case ITEM_STACK32: read_stack(ext, data, 4); break;
    case ITEM_STACK64: read_stack(ext, data, 8); break;
    case ITEM_PMC: ext->pmc = bytes; break;
    case ITEM_EVENT_KEY: ext->has_event_key = read_key(data, &ext->event_key); break;
    case ITEM_TRACELOGGING: ext->tracelogging = bytes; break;
    case ITEM_TRAITS: ext->traits = bytes; break;
    case ITEM_PROCESS_START_KEY:
        ext->has_process_start_key = read_key(data, &ext->process_start_key);
        break;
    case ITEM_CONTAINER: ext->container_id = bytes; break;
    case ITEM_STACK_KEY32: read_stack_key(ext, data, 4); break;
    case ITEM_STACK_KEY64: read_stack_key(ext, data, 8); break;
    default: break; // known to exist, used by nobody here
    }
}

bool extended_read(EtlEvent *event) {
    Rd r = rd_from_str(event->payload);
    for (unsigned count = 0; count < LIMIT_EXT_ITEMS; count++) {
        size_t size = rd_u16(&r);
        unsigned type = rd_u16(&r);
        bool more = rd_u16(&r) & 1;
        size_t data_size = rd_u16(&r);
        if (!rd_ok(&r) || size < ITEM_HEAD_BYTES || data_size > size - ITEM_HEAD_BYTES) break;
        // Padding of the last item may be missing when no payload follows.
        size_t body = size - ITEM_HEAD_BYTES;
        if (body > rd_left(&r) && !more && data_size == rd_left(&r)) body = data_size;
        if (body > rd_left(&r) || size % 8 != 0) break;
        Rd item = rd_sub(&r, body);
        read_item(&event->ext, type, rd_sub(&item, data_size));
        event->ext.any = true;
        if (more) continue;
        event->payload = rd_bytes(&r, rd_left(&r));
        return true;
    }
    event->payload.n = 0;
    return false;
}

size_t message_ticks_at(unsigned option_flags) {
    size_t at = MESSAGE_HEAD_BYTES;
    if (!(option_flags & MESSAGE_TIME)) return 0;
    if (option_flags & MESSAGE_SEQUENCE) at += 4;
    if (option_flags & MESSAGE_COMPONENT) return at + 4;
    return option_flags & MESSAGE_GUID ? at + sizeof(Guid) : at;
}

bool message_read(EtlEvent *event, bool *has_ticks, int64_t *ticks) {
    Rd head = rd_from_str(event->whole);
    rd_skip(&head, 4);
    event->id = rd_u16(&head);
    event->flags = rd_u16(&head);
    Rd r = rd_from_str(event->payload);
    if (event->flags & MESSAGE_SEQUENCE) rd_skip(&r, 4);
    if (event->flags & MESSAGE_COMPONENT) {
        const uint8_t *id = rd_take(&r, 4); // as consumers do: the GUID's first four bytes
        if (id) memcpy(event->provider.bytes, id, 4);
    } else if (event->flags & MESSAGE_GUID) {
        event->provider = rd_guid(&r);
    }
    *has_ticks = event->flags & MESSAGE_TIME;
    *ticks = *has_ticks ? rd_i64(&r) : 0;
    if (event->flags & MESSAGE_IDS) {
        event->tid = rd_u32(&r);
        event->pid = rd_u32(&r);
    }
    if (event->flags & MESSAGE_POINTER64)
        event->pointer_size = 8;
    else if (event->flags & MESSAGE_POINTER32)
        event->pointer_size = 4;
    event->payload = rd_bytes(&r, rd_left(&r));
    return rd_ok(&r);
}
