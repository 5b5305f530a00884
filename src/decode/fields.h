// Fields of non-kernel events. Whatever describes an event (TraceLogging metadata,
// TRACE_EVENT_INFO, a manifest, the built-in tables, a TMF file) is compiled into one schema:
// layouts of typed fields with their value maps, as bytes that the trace database keeps
// (event_class.schema). One engine reads payloads with it: to JSON, or one field at a time.
//
// Any bytes do as a schema or as a payload. A payload that is shorter than its layout is read as
// far as it goes; one that is longer has bytes left over; both are reported. Work and output for
// one event are bounded (LIMIT_EVENT_STEPS, LIMIT_EVENT_JSON_BYTES).
#ifndef DECODE_FIELDS_H
#define DECODE_FIELDS_H

#include "base/limits.h"
#include "decode/spec.h"

// How a value is stored. The first 26 are the codes of manifests and TraceLogging.
typedef enum FieldsType {
    IN_NULL,
    IN_WSTR,
    IN_ASTR,
    IN_I8,
    IN_U8,
    IN_I16,
    IN_U16,
    IN_I32,
    IN_U32,
    IN_I64,
    IN_U64,
    IN_F32,
    IN_F64,
    IN_BOOL32,
    IN_BIN, // `length` bytes
    IN_GUID,
    IN_PTR,
    IN_FILETIME,
    IN_SYSTEMTIME,
    IN_SID,
    IN_HEX32,
    IN_HEX64,
    IN_CWSTR, // u16 length in bytes, then UTF-16
    IN_CASTR,
    IN_STRUCT,
    IN_CBIN,  // u16 length, then bytes
    IN_RWSTR, // big-endian u16 length in bytes
    IN_RASTR,
    IN_REST_W, // text to the end of the payload
    IN_REST_A,
    IN_WCHAR,
    IN_ACHAR,
    IN_SIZE,     // pointer-sized, decimal
    IN_HEXDUMP,  // u32 length, then bytes
    IN_WBEM_SID, // TOKEN_USER, then the SID
    IN_OPAQUE,   // unknown content: decoding ends here
    IN_BE16,     // WPP port
    IN_TIME,     // FILETIME, of WPP
    IN_TYPES
} FieldsType;

// How it is shown. The first 39 are the codes of TDH.
typedef enum FieldsOut {
    OUT_DEFAULT = 0,
    OUT_STRING = 1,
    OUT_DATETIME = 2,
    OUT_I8 = 3,
    OUT_U64 = 10,
    OUT_BOOLEAN = 13,
    OUT_GUID = 14,
    OUT_HEXBINARY = 15,
    OUT_HEX8 = 16,
    OUT_HEX16 = 17,
    OUT_HEX32 = 18,
    OUT_HEX64 = 19,
    OUT_PID = 20,
    OUT_TID = 21,
    OUT_PORT = 22,
    OUT_IPV4 = 23,
    OUT_IPV6 = 24,
    OUT_SOCKADDR = 25,
    OUT_XML = 28,
    OUT_ERRORCODE = 29,
    OUT_WIN32ERROR = 30,
    OUT_NTSTATUS = 31,
    OUT_HRESULT = 32,
    OUT_DATETIME_PLAIN = 33,
    OUT_JSON = 34,
    OUT_UTF8 = 35,
    OUT_CODE_POINTER = 37,
    OUT_DATETIME_UTC = 38,
    OUT_HEX = 40, // hexadecimal, whatever the size
    OUT_SIGNED = 41,
    OUT_UNSIGNED = 42,
    OUT_MAC = 43,
    OUT_HIDDEN = 44, // padding: read, not shown
    OUT_CHAR4 = 45,
} FieldsOut;

typedef enum CountKind {
    COUNT_ONE,
    COUNT_FIXED, // `count` elements
    COUNT_FIELD, // as many as field number `count` says
    COUNT_U16,   // a u16 before the elements (TraceLogging)
    COUNT_REST,  // to the end of the payload
} CountKind;

typedef enum LengthKind {
    LENGTH_NONE,  // of the type, or to its terminator
    LENGTH_FIXED, // bytes; UTF-16 units for IN_WSTR
    LENGTH_FIELD,
    LENGTH_REST,
} LengthKind;

// ---------------------------------------------------------------- building

// Fields stand in one list, members right behind their structure; references are positions in it.
typedef struct FieldsDef {
    Str name;
    uint8_t type, out, count_kind, length_kind;
    uint16_t map;     // index of the layout's map + 1
    uint16_t members; // direct members of a structure
    uint32_t count, length;
} FieldsDef;

typedef struct FieldsMapEntry {
    uint64_t value;
    Str text;
} FieldsMapEntry;
typedef struct FieldsMap {
    Str name;
    bool bits;
    FieldsMapEntry *entries;
    size_t count;
} FieldsMap;

typedef struct FieldsLayout {
    VEC(FieldsDef) fields;
    VEC(FieldsMap) maps;
    VEC(uint32_t) pids; // processes whose events have this layout; none: all
    Str message;        // WPP: the text with %10!d! and the like
} FieldsLayout;

void layout_done(FieldsLayout *layout);
static inline void layout_done_auto(FieldsLayout *layout) {
    layout_done(layout);
}
// Two fields of one name: the later ones get "_2", "_3"; nameless ones "field0" (their position).
void layout_name(FieldsLayout *layout, Arena *arena);
// The text of a schema with these layouts, the preferred one first.
void schema_begin(Buf *out, unsigned pointer_size);
void schema_add(Buf *out, const FieldsLayout *layout);
// Schema of a class that the kernel layouts describe.
void schema_put_kernel(Buf *out, unsigned pointer_size, uint16_t hook, uint8_t version,
                       const EtlHeader *header);

// ---------------------------------------------------------------- reading

typedef struct FieldsSchema FieldsSchema; // read-only, shared by threads

// NULL when the bytes are no schema. Everything lives in `arena`.
const FieldsSchema *schema_parse(Str bytes, Arena *arena);

typedef struct FieldsReport {
    size_t extra_bytes; // payload left over
    bool missing;       // the payload ended early
    bool cut;           // a limit ended the output
} FieldsReport;

// {"Name": value, ...}; keys with "_" in front are ours: "_missing" (the first field that the
// payload no longer holds), "_extra_bytes", "_cut", and for WPP "_message". `pid` chooses between
// layouts (ETL_NO_ID: unknown). `scratch` is cleared by the caller.
void fields_json(const FieldsSchema *schema, Str payload, uint32_t pid, Arena *scratch, Buf *out,
                 FieldsReport *report);
// {"_raw": "0x...", "_why": reason} for payloads without a schema.
void fields_raw_json(Str payload, Str why, Buf *out);

typedef enum FieldsKind {
    FIELDS_NONE, // no such field, or not in this payload
    FIELDS_I64,
    FIELDS_U64,
    FIELDS_F64,
    FIELDS_TEXT, // everything else, as JSON shows it, without quotes
} FieldsKind;
typedef struct FieldsValue {
    FieldsKind kind;
    int64_t i64;
    uint64_t u64; // also the bits of FIELDS_I64
    double f64;
    Str text; // filled when asked for
} FieldsValue;

// One field by its name, "Struct.Member" for members of single structures. Numbers come raw (a port
// in its right order); `want_text` adds the text that JSON would show.
FieldsValue fields_value(const FieldsSchema *schema, Str payload, uint32_t pid, Str name,
                         bool want_text, Arena *scratch);

// Where a number of up to 8 bytes stands when no payload can move it: the same in every layout of the
// schema. Found once, it reads millions of payloads.
typedef struct FieldsPlace {
    uint32_t offset;
    uint8_t size;
    bool is_signed, big_endian;
} FieldsPlace;
// False when the field's place depends on the payload, or it is no such number.
bool fields_place(const FieldsSchema *schema, Str name, FieldsPlace *out);
// What fields_value gives for it, text aside.
FieldsValue fields_at(const FieldsPlace *place, Str payload);

// "Name, Name, ...": the fields in order (of the preferred layout), for people.
void fields_list(const FieldsSchema *schema, Buf *out);

#endif
