// The parsed form of a schema, shared by the parts of the engine (fields_*.c).
#ifndef DECODE_FIELDS_INTERNAL_H
#define DECODE_FIELDS_INTERNAL_H

#include "decode/fields.h"

enum {
    FIELDS_SLOTS = 128,  // fields of one layout that others refer to
    FIELDS_LAYOUTS = 64, // of one schema
};
#define NO_OFFSET UINT32_MAX

#define NO_OFFSET UINT32_MAX

typedef struct FieldsNode {
    FieldsDef def;
    Str key;         // ,"name": with quotes, escaped
    uint32_t next;   // index behind this field and its members
    uint32_t offset; // from the start of the payload; NO_OFFSET when it depends on the payload
    uint32_t refer;  // slot + 1 of the value that `count` refers to
    uint32_t refer_length;
    uint16_t slot;  // slot + 1 where others find this value
    uint8_t size;   // bytes of one value; 0: in the data
    bool is_member; // of a structure
} FieldsNode;

typedef struct ParsedLayout {
    FieldsNode *nodes;
    uint32_t count;
    FieldsMap *maps;
    uint32_t map_count;
    uint32_t *pids;
    uint32_t pid_count;
    uint32_t slots;
    Str message;
} ParsedLayout;

struct FieldsSchema {
    unsigned pointer_size;
    ParsedLayout *layouts;
    uint32_t layout_count;
    const EventSpec *spec; // kernel classes
    EtlHeader header;      // their clock
};

// The key with a comma in front unless it is the first.
static inline Str node_key(const FieldsNode *node, bool first) {
    return first ? (Str){node->key.p + 1, node->key.n - 1} : node->key;
}

// One value as it stands in the payload.
typedef struct FieldsRaw {
    uint64_t u;
    const uint8_t *p;
    size_t n;
} FieldsRaw;

typedef struct FieldsWalk {
    const FieldsSchema *schema;
    const ParsedLayout *layout;
    Rd r;
    Arena *scratch;
    Buf *out; // NULL: walk without output
    uint32_t steps;
    bool cut;
    const FieldsNode *missing; // first field that is not (wholly) there
    uint64_t slots[FIELDS_SLOTS];
} FieldsWalk;

void walk_start(FieldsWalk *walk, const FieldsSchema *schema, const ParsedLayout *layout,
                Str payload, Arena *scratch, Buf *out);
// Reads one value; false when the payload ends first. Text and bytes that are cut give what is
// there, and `walk->missing` is set.
bool walk_value(FieldsWalk *walk, const FieldsNode *node, FieldsRaw *raw);
// Walks the field at `index` with its members and elements, writing its JSON value (without its
// key) when walk->out is set. False when decoding must end there.
bool walk_field(FieldsWalk *walk, uint32_t index, unsigned depth);
// The layout for a payload.
const ParsedLayout *layout_choose(const FieldsSchema *schema, Str payload, uint32_t pid);

// fields_text.c: a value as JSON.
void value_json(Buf *out, const ParsedLayout *layout, const FieldsNode *node, const FieldsRaw *raw,
                Arena *scratch);
bool type_is_signed(const FieldsNode *node);
bool type_is_integer(FieldsType type);
size_t type_size(FieldsType type, unsigned pointer_size); // 0: in the data

// "CANCELLED" of 0xC0000120; p == NULL: not known. hresult_name and win32_name with their prefixes.
Str ntstatus_name(uint32_t code);
Str hresult_name(uint32_t code);
Str win32_name(uint32_t code);

// tmf_text.c: "_message": the text of a WPP event, from its format and its values.
void message_json(Buf *out, const FieldsWalk *event);

#endif
