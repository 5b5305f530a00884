// Kernel pool allocations (group 0E).
#include "decode/kernel/families.h"
#include "decode/tables.h"

static const ColumnDef POOL_EVENT_COLUMNS[] = {
    EVENT_COLUMNS,
    WHO_COLUMNS,
    {"kind",       COL_TEXT, "alloc or free"            },
    {"tag",        COL_TEXT, "Pool tag, four characters"},
    {"pool_type",  COL_U32,  "POOL_TYPE as recorded"    },
    {"bytes",      COL_U64,  "Size"                     },
    {"address",    COL_U64,  "Address of the block"     },
    {"session_id", COL_U32,  "Session (session pool)"   },
    STACK_COLUMN,
};

const TableDef TABLE_POOL_EVENT = {"pool_event", "One kernel pool allocation or free",
                                   POOL_EVENT_COLUMNS, COUNT_OF(POOL_EVENT_COLUMNS)};

enum PoolSlot { PO_TYPE = 1, PO_TAG, PO_BYTES, PO_ENTRY, PO_SESSION };
#define POOL_FIELDS                                                                                \
    {"Type", F_HEX32, PO_TYPE, 0}, {"Tag", F_U32, PO_TAG, 0},                                      \
        {"NumberOfBytes", F_SIZE, PO_BYTES, 0}, {                                                  \
        "Entry", F_PTR, PO_ENTRY, 0                                                                \
    }
static const Field POOL[] = {POOL_FIELDS};
static const Field POOL_SESSION[] = {
    POOL_FIELDS,
    {"SessionId", F_U32, PO_SESSION, 0},
};

// Four characters, first one lowest; bit 31 marks a protected block and is not part of the tag.
static Str tag_text(Decoder *decoder, uint32_t tag) {
    enum { LONGEST = 16 }; // four of \xNN
    const uint32_t protected_bit = 0x80000000;
    Buf text = {.max = LONGEST};
    tag &= ~protected_bit;
    for (unsigned i = 0; i < 4; i++, tag >>= 8) {
        unsigned c = tag & 0xFF;
        if (c >= 0x20 && c < 0x7F && c != '\\')
            buf_add_char(&text, (char)c);
        else
            buf_addf(&text, "\\x%02X", c);
    }
    Str copy = str_copy(&decoder->scratch, buf_str(&text));
    buf_done(&text);
    return copy;
}

enum { HOOK_ALLOC = 0x0E20, HOOK_ALLOC_SESSION = 0x0E21 };

static void emit_pool(Decoder *decoder, const EtlEvent *event, const EventSpec *spec) {
    Values v;
    if (spec_read(spec, event, &v) < COUNT_OF(POOL)) {
        decoder->short_payloads++;
        return;
    }
    bool alloc = spec->hook == HOOK_ALLOC || spec->hook == HOOK_ALLOC_SESSION;
    Row row = decoder_row(decoder, T_POOL_EVENT, event);
    put_who(&row, decoder, decoder_thread(decoder, event, ETL_NO_ID));
    put_text(&row, alloc ? STR("alloc") : STR("free"));
    put_text(&row, tag_text(decoder, (uint32_t)v.at[PO_TAG].u));
    put_u32(&row, (uint32_t)v.at[PO_TYPE].u);
    put_u64(&row, v.at[PO_BYTES].u);
    put_u64(&row, v.at[PO_ENTRY].u);
    put_u32_if(&row, value_has(&v, PO_SESSION), (uint32_t)v.at[PO_SESSION].u);
    put_id(&row, decoder_stack(decoder, event, event->tid));
    row_end(&row);
}

static const EventSpec POOL_SPECS[] = {
    SPEC_ROWS(HOOK_ALLOC, 2, 2, "Pool/Alloc", POOL, 0, T_POOL_EVENT, emit_pool),
    SPEC_ROWS(HOOK_ALLOC_SESSION, 2, 2, "Pool/AllocSession", POOL_SESSION, 0, T_POOL_EVENT,
              emit_pool),
    SPEC_ROWS(0x0E22, 2, 2, "Pool/Free", POOL, 0, T_POOL_EVENT, emit_pool),
    SPEC_ROWS(0x0E23, 2, 2, "Pool/FreeSession", POOL_SESSION, 0, T_POOL_EVENT, emit_pool),
    SPEC_NAME(0x0E24, "Pool/AddPage"),
    SPEC_NAME(0x0E25, "Pool/AddPageSession"),
    SPEC_NAME(0x0E26, "Pool/BigPage"),
    SPEC_NAME(0x0E27, "Pool/BigPageSession"),
    SPEC_NAME(0x0E28, "Pool/SnapDCStart"),
    SPEC_NAME(0x0E29, "Pool/SnapDCEnd"),
    SPEC_NAME(0x0E2A, "Pool/BigSnapDCStart"),
    SPEC_NAME(0x0E2B, "Pool/BigSnapDCEnd"),
    SPEC_NAME(0x0E2C, "Pool/SnapSessionDCStart"),
    SPEC_NAME(0x0E2D, "Pool/SnapSessionDCEnd"),
    SPEC_NAME(0x0E2E, "Pool/BigSnapSessionDCStart"),
    SPEC_NAME(0x0E2F, "Pool/BigSnapSessionDCEnd"),
};
const SpecFamily FAMILY_POOL = {POOL_SPECS, COUNT_OF(POOL_SPECS), NULL};
