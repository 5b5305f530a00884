// How one value is shown: number formats of the tool contract, escaping, shortening.
//
// SQL hands out raw values (nanoseconds, bytes, percent); a column's format says the unit it is
// shown in. Text form and JSON form of a cell are the same rounded value.
#ifndef TOOLS_FORMAT_H
#define TOOLS_FORMAT_H

#include "store/store.h"

typedef enum FormatKind {
    FORMAT_TEXT,    // as it is
    FORMAT_PATH,    // text, shortened in the middle
    FORMAT_ID,      // integer without separators: pid, tid, cpu, port
    FORMAT_COUNT,   // integer with separators
    FORMAT_NUMBER,  // float, 2 decimals unless `decimals` says otherwise
    FORMAT_HEX,     // 0x...
    FORMAT_PERCENT, // 0..100
    FORMAT_BYTES,   // integer with separators
    FORMAT_KB,      // bytes / 1024
    FORMAT_MB,      // bytes / 1024^2
    FORMAT_US,      // nanoseconds, shown in microseconds
    FORMAT_MS,      // nanoseconds, shown in milliseconds
    FORMAT_S,       // nanoseconds, shown in seconds
    FORMAT_BOOL,    // yes or no
} FormatKind;

typedef struct Format {
    FormatKind kind;
    int decimals; // -1: the kind's own
    bool rough;   // "us~": the next column of the query says whether the value is only a guess
} Format;

// "us", "number(3)", "text(40)" (widest shown), "us~" ...; false: unknown.
bool format_parse(Str text, Format *out);

// The cell as text without table escaping; the empty slice for NULL.
Str format_cell(Format format, const Cell *cell, Arena *arena);
// The cell as JSON: numbers as numbers (rounded as shown), integers beyond 2^53 as strings.
json_t *format_json(Format format, const Cell *cell, Arena *arena);
// The same value for CSV: as format_json, without separators and units.
Str format_plain(Format format, const Cell *cell, Arena *arena);

// "1,234", "1,234.56": integers and floats without a fraction have no decimals.
Str format_number(double value, int decimals, Arena *arena);
Str format_integer(int64_t value, Arena *arena);
Str format_percent(double percent, Arena *arena);
// Control characters become \xNN, invalid UTF-8 becomes U+FFFD; line breaks become blanks.
Str format_clean(Str text, Arena *arena);
// Cut in the middle to at most `width` characters, with "..." in place of the rest.
Str format_shorten(Str text, size_t width, Arena *arena);
// A JSON string that is always valid UTF-8.
json_t *format_json_text(Str text, Arena *arena);

#endif
