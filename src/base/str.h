// Text. Str is a slice (not terminated, not owned, UTF-8 inside the program); Buf is a growable,
// owned byte buffer with a maximum.
#ifndef BASE_STR_H
#define BASE_STR_H

#include "base/arena.h"

typedef struct Str {
    const char *p; // may be NULL when n is 0
    size_t n;
} Str;

#define STR(literal) ((Str){"" literal, sizeof(literal) - 1})
#define STR_FMT "%.*s"
#define STR_ARG(s) ((int)(s).n), ((s).p ? (s).p : "")

Str str_from_c(const char *text); // NULL gives the empty slice
bool str_eq(Str a, Str b);
bool str_eq_nocase(Str a, Str b); // ASCII case folding only
int str_cmp(Str a, Str b);        // byte order, then length
int str_cmp_nocase(Str a, Str b);
bool str_starts(Str s, Str prefix);
bool str_ends(Str s, Str suffix);
bool str_ends_nocase(Str s, Str suffix);
size_t str_find(Str s, Str needle);           // index, or SIZE_MAX
size_t str_find_nocase(Str s, Str needle);    // index, or SIZE_MAX
size_t str_rfind_char(Str s, char c);         // index, or SIZE_MAX
Str str_slice(Str s, size_t from, size_t to); // clamped to s
Str str_trim(Str s);                          // blanks, tabs, CR, LF on both ends
// Cuts the part before the first `separator` off *rest and returns it; false when *rest is empty.
bool str_next(Str *rest, char separator, Str *part);
// Whole-string integers: false on anything else, overflow included. "0x" prefix reads hex.
bool str_to_i64(Str s, int64_t *out);
bool str_to_u64(Str s, uint64_t *out);
bool str_to_f64(Str s, double *out); // finite only
// Levenshtein distance with a cut at `limit`, ASCII case ignored; for "did you mean".
size_t str_distance(Str a, Str b, size_t limit);

Str str_copy(Arena *arena, Str s);   // NUL-terminated behind .n, so .p is also a C string
char *str_to_c(Arena *arena, Str s); // copy as C string
Str str_format(Arena *arena, const char *format, ...) PRINTF_LIKE(2, 3);
Str str_lower(Arena *arena, Str s); // ASCII

// UTF-16LE bytes (any alignment) to UTF-8; unpaired surrogates become U+FFFD. An odd last byte is
// ignored.
Str str_from_utf16(Arena *arena, const uint8_t *bytes, size_t size);
// 8-bit text of unknown code page: kept when valid UTF-8, else read as Latin-1.
Str str_from_8bit(Arena *arena, const uint8_t *bytes, size_t size);
bool str_is_utf8(Str s);

// 64-bit hash (own mixing function, not for hostile keys across processes).
uint64_t str_hash(Str s);
uint64_t bytes_hash(const void *data, size_t n, uint64_t seed);
uint64_t u64_hash(uint64_t x);

// Owned; zero-initialised is ready to use. Text is always NUL-terminated behind .n.
typedef struct Buf {
    char *p;
    size_t n;
    size_t capacity;
    size_t max; // 0: unlimited. Bytes above are dropped and `cut` is set.
    bool cut;
} Buf;

// Two lower-case digits a byte; `out` has room for 2 * n characters.
Str hex_write(char *out, const void *bytes, size_t n);

void buf_add(Buf *buf, Str s);
void buf_add_c(Buf *buf, const char *text);
void buf_add_char(Buf *buf, char c);
void buf_addf(Buf *buf, const char *format, ...) PRINTF_LIKE(2, 3);
void buf_add_json(Buf *buf, Str text); // a JSON string with its quotes; UTF-8 in gives UTF-8 out
void buf_add_quoted(Buf *buf, Str text, char quote); // quotes in the text are doubled, as in SQL
void buf_add_csv(Buf *buf, Str text);                // a CSV field, quoted where it has to be
Str buf_str(const Buf *buf);                         // valid until the next change
void buf_clear(Buf *buf);
void buf_done(Buf *buf);
static inline void buf_done_auto(Buf *buf) {
    buf_done(buf);
}

#endif
