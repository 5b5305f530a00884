// Values of the engine's vectors, type by type.
#include "store/cell.h"

#include "decode/table.h"

#include <math.h>

enum { NESTING_MAX = 16 };

static const void *element(duckdb_vector vector, idx_t row, size_t width) {
    return (const char *)duckdb_vector_get_data(vector) + row * width;
}

static bool is_null(duckdb_vector vector, idx_t row) {
    uint64_t *valid = duckdb_vector_get_validity(vector);
    return valid && !duckdb_validity_row_is_valid(valid, row);
}

#define ELEMENT(Type) (*(const Type *)element(vector, row, sizeof(Type)))

static Cell cell_text(Str text) {
    return (Cell){.type = CELL_TEXT, .text = text};
}
static Cell cell_i64(int64_t v) {
    return (Cell){.type = CELL_I64, .i64 = v};
}
static Cell cell_u64(uint64_t v) {
    return (Cell){.type = CELL_U64, .u64 = v};
}
static Cell cell_f64(double v) {
    return (Cell){.type = CELL_F64, .f64 = v};
}

// Long values are cut at a character and say so.
static Str text_limited(Str s, Arena *arena) {
    if (s.n <= LIMIT_CELL_BYTES) return str_copy(arena, s);
    size_t end = LIMIT_CELL_BYTES;
    while (end > 0 && ((unsigned char)s.p[end] & 0xC0) == 0x80) end--;
    return str_format(arena, STR_FMT "... (%zu bytes)", STR_ARG(str_slice(s, 0, end)), s.n);
}

static Str string_slice(const duckdb_string_t *s) {
    duckdb_string_t copy = *s;
    uint32_t n = duckdb_string_t_length(copy);
    const char *p =
        n <= sizeof s->value.inlined.inlined ? s->value.inlined.inlined : s->value.pointer.ptr;
    return (Str){p, n};
}

static Str hex_text(Str bytes, Arena *arena) {
    size_t n = bytes.n < LIMIT_CELL_BYTES / 2 ? bytes.n : LIMIT_CELL_BYTES / 2;
    char *out = arena_bytes(arena, n * 2 + 1);
    out[n * 2] = 0;
    return hex_write(out, bytes.p, n);
}

static Str uuid_text(duckdb_hugeint v, Arena *arena) {
    uint64_t upper = (uint64_t)v.upper ^ (UINT64_C(1) << 63);
    return str_format(arena, "%08x-%04x-%04x-%04x-%012llx", (unsigned)(upper >> 32),
                      (unsigned)(upper >> 16 & 0xFFFF), (unsigned)(upper & 0xFFFF),
                      (unsigned)(v.lower >> 48),
                      (unsigned long long)(v.lower & UINT64_C(0xFFFFFFFFFFFF)));
}

static Cell cell_hugeint(duckdb_hugeint v) {
    if (v.upper == 0) return v.lower <= INT64_MAX ? cell_i64((int64_t)v.lower) : cell_u64(v.lower);
    if (v.upper == -1 && v.lower > INT64_MAX) return cell_i64((int64_t)v.lower);
    return cell_f64(duckdb_hugeint_to_double(v));
}

static Cell cell_decimal(duckdb_vector vector, duckdb_logical_type type, idx_t row) {
    double value = 0;
    switch ((int)duckdb_decimal_internal_type(type)) {
    case DUCKDB_TYPE_SMALLINT: value = ELEMENT(int16_t); break;
    case DUCKDB_TYPE_INTEGER: value = ELEMENT(int32_t); break;
    case DUCKDB_TYPE_BIGINT: value = (double)ELEMENT(int64_t); break;
    default: value = duckdb_hugeint_to_double(ELEMENT(duckdb_hugeint)); break;
    }
    return cell_f64(value / pow(10, duckdb_decimal_scale(type)));
}

static Cell cell_enum(duckdb_vector vector, duckdb_logical_type type, idx_t row, Arena *arena) {
    idx_t index = 0;
    switch ((int)duckdb_enum_internal_type(type)) {
    case DUCKDB_TYPE_UTINYINT: index = ELEMENT(uint8_t); break;
    case DUCKDB_TYPE_USMALLINT: index = ELEMENT(uint16_t); break;
    default: index = ELEMENT(uint32_t); break;
    }
    char *value = duckdb_enum_dictionary_value(type, index);
    Str text = str_copy(arena, str_from_c(value));
    duckdb_free(value);
    return cell_text(text);
}

// ---------------------------------------------------------------- dates

static Str time_text(duckdb_time_struct t, Arena *arena) {
    Str text = str_format(arena, "%02d:%02d:%02d", t.hour, t.min, t.sec);
    return t.micros ? str_format(arena, "%s.%06d", text.p, t.micros) : text;
}

static Str date_text(duckdb_date date, Arena *arena) {
    if (!duckdb_is_finite_date(date)) return date.days > 0 ? STR("infinity") : STR("-infinity");
    duckdb_date_struct d = duckdb_from_date(date);
    return str_format(arena, "%04d-%02d-%02d", d.year, d.month, d.day);
}

static Str timestamp_text(int64_t micros, unsigned extra_ns, const char *zone, Arena *arena) {
    duckdb_timestamp timestamp = {micros};
    if (!duckdb_is_finite_timestamp(timestamp))
        return micros > 0 ? STR("infinity") : STR("-infinity");
    duckdb_timestamp_struct t = duckdb_from_timestamp(timestamp);
    Str day = str_format(arena, "%04d-%02d-%02d %02d:%02d:%02d", t.date.year, t.date.month,
                         t.date.day, t.time.hour, t.time.min, t.time.sec);
    if (extra_ns) return str_format(arena, "%s.%06d%03u%s", day.p, t.time.micros, extra_ns, zone);
    if (t.time.micros) return str_format(arena, "%s.%06d%s", day.p, t.time.micros, zone);
    return str_format(arena, "%s%s", day.p, zone);
}

static Str timestamp_ns_text(int64_t ns, Arena *arena) {
    int64_t rest = ns % 1000;
    int64_t micros = ns / 1000 - (rest < 0);
    return timestamp_text(micros, (unsigned)(rest < 0 ? rest + 1000 : rest), "", arena);
}

static Str interval_text(duckdb_interval v, Arena *arena) {
    return str_format(arena, "%d months %d days %lld us", v.months, v.days, (long long)v.micros);
}

static int64_t scaled(int64_t v, int64_t factor) {
    int64_t out = 0;
    if (__builtin_mul_overflow(v, factor, &out)) return v < 0 ? -INT64_MAX : INT64_MAX;
    return out;
}

// ---------------------------------------------------------------- nested values

static void json_add_cell(Buf *out, const Cell *cell) {
    switch (cell->type) {
    case CELL_NULL: buf_add_c(out, "null"); break;
    case CELL_BOOL: buf_add_c(out, cell->boolean ? "true" : "false"); break;
    case CELL_I64: buf_addf(out, "%lld", (long long)cell->i64); break;
    case CELL_U64: buf_addf(out, "%llu", (unsigned long long)cell->u64); break;
    case CELL_F64:
        if (isfinite(cell->f64))
            buf_addf(out, "%.17g", cell->f64);
        else
            buf_add_c(out, "null");
        break;
    case CELL_TEXT: buf_add_json(out, cell->text); break;
    }
}

typedef struct Json {
    Buf *out;
    Arena *arena;
    unsigned depth;
} Json;

static void json_add_value(Json *json, duckdb_vector vector, duckdb_logical_type type, idx_t row);

// NOLINTNEXTLINE(misc-no-recursion)
static void json_add_range(Json *json, duckdb_vector child, duckdb_logical_type type, idx_t from,
                           idx_t count) {
    buf_add_char(json->out, '[');
    for (idx_t i = 0; i < count && !json->out->cut; i++) {
        if (i) buf_add_char(json->out, ',');
        json_add_value(json, child, type, from + i);
    }
    buf_add_char(json->out, ']');
}

// NOLINTNEXTLINE(misc-no-recursion)
static void json_add_list(Json *json, duckdb_vector vector, duckdb_logical_type type, idx_t row) {
    bool array = duckdb_get_type_id(type) == DUCKDB_TYPE_ARRAY;
    duckdb_logical_type child =
        array ? duckdb_array_type_child_type(type) : duckdb_list_type_child_type(type);
    if (array) {
        idx_t size = duckdb_array_type_array_size(type);
        json_add_range(json, duckdb_array_vector_get_child(vector), child, row * size, size);
    } else {
        duckdb_list_entry entry = ELEMENT(duckdb_list_entry);
        json_add_range(json, duckdb_list_vector_get_child(vector), child, entry.offset,
                       entry.length);
    }
    duckdb_destroy_logical_type(&child);
}

// NOLINTNEXTLINE(misc-no-recursion)
static void json_add_struct(Json *json, duckdb_vector vector, duckdb_logical_type type, idx_t row) {
    buf_add_char(json->out, '{');
    for (idx_t i = 0; i < duckdb_struct_type_child_count(type); i++) {
        char *name = duckdb_struct_type_child_name(type, i);
        duckdb_logical_type child = duckdb_struct_type_child_type(type, i);
        if (i) buf_add_char(json->out, ',');
        buf_add_json(json->out, str_from_c(name));
        buf_add_char(json->out, ':');
        json_add_value(json, duckdb_struct_vector_get_child(vector, i), child, row);
        duckdb_destroy_logical_type(&child);
        duckdb_free(name);
    }
    buf_add_char(json->out, '}');
}

// A map is a list of {key, value}.
// NOLINTNEXTLINE(misc-no-recursion)
static void json_add_map(Json *json, duckdb_vector vector, duckdb_logical_type type, idx_t row) {
    duckdb_list_entry entry = ELEMENT(duckdb_list_entry);
    duckdb_vector pairs = duckdb_list_vector_get_child(vector);
    duckdb_logical_type key = duckdb_map_type_key_type(type);
    duckdb_logical_type value = duckdb_map_type_value_type(type);
    buf_add_char(json->out, '[');
    for (idx_t i = 0; i < entry.length && !json->out->cut; i++) {
        buf_add_c(json->out, i ? ",[" : "[");
        json_add_value(json, duckdb_struct_vector_get_child(pairs, 0), key, entry.offset + i);
        buf_add_char(json->out, ',');
        json_add_value(json, duckdb_struct_vector_get_child(pairs, 1), value, entry.offset + i);
        buf_add_char(json->out, ']');
    }
    buf_add_char(json->out, ']');
    duckdb_destroy_logical_type(&key);
    duckdb_destroy_logical_type(&value);
}

// NOLINTNEXTLINE(misc-no-recursion)
static void json_add_value(Json *json, duckdb_vector vector, duckdb_logical_type type, idx_t row) {
    int id = (int)duckdb_get_type_id(type);
    bool nested = id == DUCKDB_TYPE_LIST || id == DUCKDB_TYPE_ARRAY || id == DUCKDB_TYPE_STRUCT ||
                  id == DUCKDB_TYPE_MAP;
    if (!nested || is_null(vector, row) || json->depth == NESTING_MAX) {
        Cell cell = nested ? (Cell){0} : cell_from_vector(vector, type, row, json->arena);
        json_add_cell(json->out, &cell);
        return;
    }
    json->depth++;
    if (id == DUCKDB_TYPE_STRUCT)
        json_add_struct(json, vector, type, row);
    else if (id == DUCKDB_TYPE_MAP)
        json_add_map(json, vector, type, row);
    else
        json_add_list(json, vector, type, row);
    json->depth--;
}

// NOLINTNEXTLINE(misc-no-recursion)
static Cell cell_nested(duckdb_vector vector, duckdb_logical_type type, idx_t row, Arena *arena) {
    AUTO(arena_done) Arena scratch = {0};
    AUTO(buf_done) Buf out = {.max = LIMIT_CELL_BYTES};
    Json json = {.out = &out, .arena = &scratch};
    json_add_value(&json, vector, type, row);
    if (out.cut) return cell_text(str_format(arena, STR_FMT "...", STR_ARG(buf_str(&out))));
    return cell_text(str_copy(arena, buf_str(&out)));
}

// ---------------------------------------------------------------- public

// Dates, times and the rest that is text; false when the type is not among them.
static bool cell_temporal(duckdb_vector vector, int id, idx_t row, Arena *arena, Cell *out) {
    Str text;
    switch (id) {
    case DUCKDB_TYPE_DATE: text = date_text(ELEMENT(duckdb_date), arena); break;
    case DUCKDB_TYPE_TIME: text = time_text(duckdb_from_time(ELEMENT(duckdb_time)), arena); break;
    case DUCKDB_TYPE_TIME_TZ:
        text = time_text(duckdb_from_time_tz(ELEMENT(duckdb_time_tz)).time, arena);
        break;
    case DUCKDB_TYPE_TIMESTAMP: text = timestamp_text(ELEMENT(int64_t), 0, "", arena); break;
    case DUCKDB_TYPE_TIMESTAMP_TZ: text = timestamp_text(ELEMENT(int64_t), 0, "+00", arena); break;
    case DUCKDB_TYPE_TIMESTAMP_S:
        text = timestamp_text(scaled(ELEMENT(int64_t), 1000000), 0, "", arena);
        break;
    case DUCKDB_TYPE_TIMESTAMP_MS:
        text = timestamp_text(scaled(ELEMENT(int64_t), 1000), 0, "", arena);
        break;
    case DUCKDB_TYPE_TIMESTAMP_NS: text = timestamp_ns_text(ELEMENT(int64_t), arena); break;
    case DUCKDB_TYPE_INTERVAL: text = interval_text(ELEMENT(duckdb_interval), arena); break;
    default: return false;
    }
    *out = cell_text(text);
    return true;
}

// NOLINTNEXTLINE(misc-no-recursion)
Cell cell_from_vector(duckdb_vector vector, duckdb_logical_type type, idx_t row, Arena *arena) {
    if (is_null(vector, row)) return (Cell){.type = CELL_NULL};
    int id = (int)duckdb_get_type_id(type);
    Cell cell;
    switch (id) {
    case DUCKDB_TYPE_BOOLEAN: return (Cell){.type = CELL_BOOL, .boolean = ELEMENT(uint8_t) != 0};
    case DUCKDB_TYPE_TINYINT: return cell_i64(ELEMENT(int8_t));
    case DUCKDB_TYPE_SMALLINT: return cell_i64(ELEMENT(int16_t));
    case DUCKDB_TYPE_INTEGER: return cell_i64(ELEMENT(int32_t));
    case DUCKDB_TYPE_BIGINT: return cell_i64(ELEMENT(int64_t));
    case DUCKDB_TYPE_UTINYINT: return cell_i64(ELEMENT(uint8_t));
    case DUCKDB_TYPE_USMALLINT: return cell_i64(ELEMENT(uint16_t));
    case DUCKDB_TYPE_UINTEGER: return cell_i64(ELEMENT(uint32_t));
    case DUCKDB_TYPE_UBIGINT: return cell_u64(ELEMENT(uint64_t));
    case DUCKDB_TYPE_FLOAT: return cell_f64((double)ELEMENT(float));
    case DUCKDB_TYPE_DOUBLE: return cell_f64(ELEMENT(double));
    case DUCKDB_TYPE_HUGEINT: return cell_hugeint(ELEMENT(duckdb_hugeint));
    case DUCKDB_TYPE_UHUGEINT: {
        duckdb_uhugeint v = ELEMENT(duckdb_uhugeint);
        return v.upper ? cell_f64(duckdb_uhugeint_to_double(v))
                       : cell_hugeint((duckdb_hugeint){.lower = v.lower});
    }
    case DUCKDB_TYPE_DECIMAL: return cell_decimal(vector, type, row);
    case DUCKDB_TYPE_VARCHAR:
        return cell_text(text_limited(string_slice(&ELEMENT(duckdb_string_t)), arena));
    case DUCKDB_TYPE_BLOB:
    case DUCKDB_TYPE_BIT:
        return cell_text(hex_text(string_slice(&ELEMENT(duckdb_string_t)), arena));
    case DUCKDB_TYPE_UUID: return cell_text(uuid_text(ELEMENT(duckdb_hugeint), arena));
    case DUCKDB_TYPE_ENUM: return cell_enum(vector, type, row, arena);
    case DUCKDB_TYPE_LIST:
    case DUCKDB_TYPE_ARRAY:
    case DUCKDB_TYPE_STRUCT:
    case DUCKDB_TYPE_MAP: return cell_nested(vector, type, row, arena);
    default: break;
    }
    if (cell_temporal(vector, id, row, arena, &cell)) return cell;
    return cell_text(str_format(arena, "(type %d has no text)", id));
}

// NOLINTNEXTLINE(misc-no-recursion)
static Str child_name(duckdb_logical_type child, const char *suffix, Arena *arena) {
    Str inner = type_name(child, arena);
    duckdb_destroy_logical_type(&child);
    return str_format(arena, STR_FMT "%s", STR_ARG(inner), suffix);
}

// NOLINTNEXTLINE(misc-no-recursion)
Str type_name(duckdb_logical_type type, Arena *arena) {
    static const char *const NAMES[] = {
        [DUCKDB_TYPE_BOOLEAN] = "BOOLEAN",
        [DUCKDB_TYPE_TINYINT] = "TINYINT",
        [DUCKDB_TYPE_SMALLINT] = "SMALLINT",
        [DUCKDB_TYPE_INTEGER] = "INTEGER",
        [DUCKDB_TYPE_BIGINT] = "BIGINT",
        [DUCKDB_TYPE_UTINYINT] = "UTINYINT",
        [DUCKDB_TYPE_USMALLINT] = "USMALLINT",
        [DUCKDB_TYPE_UINTEGER] = "UINTEGER",
        [DUCKDB_TYPE_UBIGINT] = "UBIGINT",
        [DUCKDB_TYPE_FLOAT] = "FLOAT",
        [DUCKDB_TYPE_DOUBLE] = "DOUBLE",
        [DUCKDB_TYPE_TIMESTAMP] = "TIMESTAMP",
        [DUCKDB_TYPE_DATE] = "DATE",
        [DUCKDB_TYPE_TIME] = "TIME",
        [DUCKDB_TYPE_INTERVAL] = "INTERVAL",
        [DUCKDB_TYPE_HUGEINT] = "HUGEINT",
        [DUCKDB_TYPE_UHUGEINT] = "UHUGEINT",
        [DUCKDB_TYPE_VARCHAR] = "VARCHAR",
        [DUCKDB_TYPE_BLOB] = "BLOB",
        [DUCKDB_TYPE_TIMESTAMP_S] = "TIMESTAMP_S",
        [DUCKDB_TYPE_TIMESTAMP_MS] = "TIMESTAMP_MS",
        [DUCKDB_TYPE_TIMESTAMP_NS] = "TIMESTAMP_NS",
        [DUCKDB_TYPE_ENUM] = "ENUM",
        [DUCKDB_TYPE_STRUCT] = "STRUCT",
        [DUCKDB_TYPE_MAP] = "MAP",
        [DUCKDB_TYPE_UUID] = "UUID",
        [DUCKDB_TYPE_UNION] = "UNION",
        [DUCKDB_TYPE_BIT] = "BIT",
        [DUCKDB_TYPE_TIME_TZ] = "TIME WITH TIME ZONE",
        [DUCKDB_TYPE_TIMESTAMP_TZ] = "TIMESTAMP WITH TIME ZONE",
        [DUCKDB_TYPE_SQLNULL] = "NULL",
    };
    int id = (int)duckdb_get_type_id(type);
    if (id == DUCKDB_TYPE_LIST) return child_name(duckdb_list_type_child_type(type), "[]", arena);
    if (id == DUCKDB_TYPE_ARRAY)
        return child_name(duckdb_array_type_child_type(type), "[n]", arena);
    if (id == DUCKDB_TYPE_DECIMAL)
        return str_format(arena, "DECIMAL(%u,%u)", (unsigned)duckdb_decimal_width(type),
                          (unsigned)duckdb_decimal_scale(type));
    bool known = id >= 0 && (size_t)id < COUNT_OF(NAMES) && NAMES[id];
    return known ? str_from_c(NAMES[id]) : str_format(arena, "TYPE %d", id);
}
