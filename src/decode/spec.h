// Kernel event layouts as data. A family file (decode/kernel/<family>.c) lists its fields and
// events; one engine reads payloads for typed rows, prints fields as JSON and names events.
//
// Sizes follow the event's own pointer size, fields are packed, and a payload that is shorter than
// its layout ends at the last complete field (docs/formats/etl.md).
#ifndef DECODE_SPEC_H
#define DECODE_SPEC_H

#include "decode/table.h"
#include "etl/etl.h"

typedef enum FieldType {
    F_U8,
    F_I8,
    F_U16,
    F_I16,
    F_U32,
    F_I32,
    F_U64,
    F_I64,
    F_PTR,   // pointer-sized; shown in hexadecimal
    F_SIZE,  // pointer-sized; shown in decimal
    F_HEX32, // u32 shown in hexadecimal
    F_HEX64, // u64 shown in hexadecimal
    F_TIME,  // raw-clock timestamp
    F_FILETIME,
    F_BE16, // big-endian u16 (ports)
    F_IP4,
    F_IP6,
    F_GUID,
    F_WSTR,   // UTF-16 to its zero or the end
    F_ASTR,   // 8-bit to its zero or the end
    F_SID,    // TOKEN_USER image and SID, or a zero word
    F_WCHARS, // `count` UTF-16 units, cut at the first zero
    F_BYTES,  // `count` bytes, shown in hexadecimal
    F_ID,     // a GUID where 16 or 32 bytes are left, else UTF-16 text
    F_ALIGN,  // no field: padding to a multiple of `count` bytes, 0: of the pointer size
} FieldType;

enum {
    FIELD_REST = 0xFFFF,     // count: elements to the end of the payload
    FIELD_COUNTED = 0x8000,  // count: FIELD_COUNTED | n: as many as slot n says
    FIELD_OPTIONAL = 0x4000, // count: one value, which older systems leave out at the end
};

typedef struct Field {
    const char *name;
    FieldType type;
    uint8_t slot;   // where spec_read leaves the value; 0: nowhere
    uint16_t count; // 0 and 1: one value; else an array (F_WCHARS, F_BYTES: one value of that size)
} Field;

enum { SPEC_SLOTS = 32 };

typedef struct Value {
    uint64_t u; // integers, zero- or sign-extended; pointers; IPv4 in memory order
    Str s; // raw bytes of text, SID, GUID, IPv6, bytes and arrays (unconverted, from the payload)
} Value;

typedef struct Values {
    uint32_t present; // bit n: slot n was read whole
    Value at[SPEC_SLOTS];
} Values;

static inline bool value_has(const Values *values, unsigned slot) {
    return values->present >> slot & 1;
}

typedef struct Decoder Decoder;
typedef struct EventSpec EventSpec;
typedef void (*EmitRow)(Decoder *decoder, const EtlEvent *event, const EventSpec *spec);

typedef enum SpecFlag {
    SPEC_KEEP = 1,     // the survey keeps a copy: world_kept() gives all of them in time order
    SPEC_NO_STACK = 2, // never the owner of a stack (rundown, configuration, stacks themselves)
    SPEC_NOTE = 4,     // the survey makes a note of it (decode/note.h)
} SpecFlag;

struct EventSpec {
    uint16_t hook;       // group << 8 | type
    uint8_t version_min; // versions of this layout
    uint8_t version_max;
    const char *name; // "DiskIo/Read": class of section 2.8, then the operation
    const Field *fields;
    unsigned field_count; // 0: empty, or no layout is published
    unsigned flags;       // SpecFlag
    TableId table;        // of its typed rows; T_EVENT_DATA when it has none
    EmitRow emit;         // writes the typed row; NULL: kept raw in event_data
};

typedef struct Notes Notes;
typedef struct Note Note;
// Writes what rows need to know about an event with SPEC_NOTE: notes_push() of copies of `blank`,
// which holds the event's times, CPU, hook and header thread. See decode/note.h.
typedef void (*NoteEvent)(Notes *notes, const Note *blank, const EtlEvent *event,
                          const EventSpec *spec);

typedef struct SpecFamily {
    const EventSpec *specs;
    size_t count;
    NoteEvent note; // NULL when it makes no notes
} SpecFamily;

// Layout for a hook and version: the exact one, else the highest below, else the lowest above (read
// as a prefix); *exact says which. NULL: unknown hook. Known names without a layout have no fields.
const EventSpec *spec_find(uint16_t hook, uint8_t version, bool *exact);
// The layout of an event: by its hook, or by its class where that has hooks. NULL: it has none.
const EventSpec *spec_of_event(const EtlEvent *event, bool *exact);
// Name of a hook without a layout too (Appendix C of the format), or NULL.
const char *spec_hook_name(uint16_t hook);
// "DiskIo" and its GUID for a hook group.
// Classes of classic events (FULL headers) that kernel code or the merger logs have hooks of their
// own: those of their group, and 0x2000 upwards for classes that have no group.
bool spec_class_hook(const Guid *event_class, uint8_t opcode, uint16_t *hook);
const char *spec_group_name(uint16_t hook);
Guid spec_group_guid(uint16_t hook);
const SpecFamily *const *spec_families(size_t *count);
const SpecFamily *spec_family(uint16_t hook); // NULL: unknown hook

// Name of a profile source below 24; p == NULL for machine-specific ones.
Str profile_source_name(uint32_t source);

// Bytes of the fields before the first one whose size is in the data: a payload with fewer is cut.
size_t spec_fixed_size(const EventSpec *spec, unsigned pointer_size);

// Reads as far as the payload goes. Returns the number of complete fields.
unsigned spec_read(const EventSpec *spec, const EtlEvent *event, Values *out);
// Addresses as text (RFC 5952 for IPv6), in the caller's IP_TEXT_SIZE bytes.
enum { IP_TEXT_SIZE = 48 };
Str ip4_to_text(Str bytes, char *out);
Str ip6_to_text(Str bytes, char *out);
typedef struct SpecPayload {
    const EtlHeader *header; // clock of times
    unsigned pointer_size;
    Str bytes;
} SpecPayload;

// {"Name": value, ...} of every field to `out`; integers above 2^53 and pointers as "0x" strings.
// Returns the payload bytes explained; *complete is false when the payload ended early (optional
// fields may be missing).
size_t spec_json(const EventSpec *spec, const SpecPayload *payload, Arena *scratch, Buf *out,
                 bool *complete);

// Length of the SID field at `r` (4.3) with TOKEN_USER; *sid is the SID itself (empty: none).
void rd_kernel_sid(Rd *r, unsigned pointer_size, Str *sid);
Str sid_to_text(Arena *arena, Str sid); // "S-1-5-18"; p == NULL when malformed or empty

#endif
