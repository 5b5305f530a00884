// Real kernel payloads with the value of every field, collected by others, against the layouts:
// where the shared test data is present.
#include "decode/spec.h"

#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

static void shared_file(const char *name, char *path, size_t size) {
    Str root = os_env("ETW_SHARED");
    (void)snprintf(path, size, "%s/traces/%s", root.n ? root.p : ETW_SOURCE_DIR "/../shared", name);
    if (access(path, R_OK) == 0) return;
    print_message("skipped: %s is not there (set ETW_SHARED)\n", path);
    skip();
}

// Raw times are shown in nanoseconds since the start: with this header, they are shown as they are.
static const EtlHeader HEADER = {.ticks_per_s = 1000000000, .clock = ETL_CLOCK_QPC};

// The vectors' names of fields that have another name here.
static const char *const ALIASES[][2] = {
    {"BaseAddress",   "ImageBase"                },
    {"ModuleSize",    "ImageSize"                },
    {"ImageFileName", "FileName"                 },
    {"Reserved",      "OldThreadRemainingQuantum"},
};

static json_t *field_named(json_t *object, const char *name) {
    const char *key = NULL;
    json_t *value = NULL;
    json_object_foreach(object, key, value) {
        if (str_eq_nocase(str_from_c(key), str_from_c(name))) return value;
    }
    for (size_t i = 0; i < COUNT_OF(ALIASES); i++)
        if (str_eq(str_from_c(ALIASES[i][0]), str_from_c(name)))
            return json_object_get(object, ALIASES[i][1]);
    return NULL;
}

// The number a value of ours shows, whatever its form.
static bool number_of(const json_t *value, uint64_t *out) {
    if (json_is_integer(value)) {
        *out = (uint64_t)json_integer_value(value);
        return true;
    }
    if (!json_is_string(value)) return false;
    Str text = {json_string_value(value), json_string_length(value)};
    unsigned a = 0, b = 0, c = 0, d = 0;
    int end = 0;
    if (text.n && str_find(text, STR(".")) != SIZE_MAX) {
        Str rest = text, part;
        unsigned *parts[] = {&a, &b, &c, &d};
        while (end < 4 && str_next(&rest, '.', &part)) {
            int64_t n = 0;
            if (!str_to_i64(part, &n)) return false;
            *parts[end++] = (unsigned)n;
        }
        *out = a | b << 8 | c << 16 | d << 24;
        return end == 4;
    }
    int64_t negative = 0;
    if (str_to_i64(text, &negative)) {
        *out = (uint64_t)negative;
        return true;
    }
    return str_to_u64(text, out);
}

typedef struct Payload {
    uint8_t bytes[4096];
    size_t n;
} Payload;

static void read_hex(const char *hex, Payload *out) {
    static const char DIGITS[] = "0123456789abcdef";
    out->n = 0;
    for (size_t i = 0; hex[i] && hex[i + 1]; i += 2) {
        assert_true(out->n < sizeof out->bytes);
        size_t high = (size_t)(strchr(DIGITS, hex[i]) - DIGITS);
        size_t low = (size_t)(strchr(DIGITS, hex[i + 1]) - DIGITS);
        out->bytes[out->n++] = (uint8_t)(high << 4 | low);
    }
}

static const char *text_member(const json_t *object, const char *name) {
    return json_string_value(json_object_get(object, name));
}

// Difference in words, or NULL.
static const char *compare_field(json_t *ours, const json_t *field) {
    const char *name = text_member(field, "name");
    const json_t *wanted = json_object_get(field, "value");
    const json_t *found = field_named(ours, name);
    const char *type = text_member(field, "type");
    uint64_t number = 0, want = 0;
    // What old descriptions call Reserved in samples is flags and rank.
    if (!found && json_object_get(ours, "Rank"))
        number = (uint64_t)(json_integer_value(json_object_get(ours, "Flags")) |
                            json_integer_value(json_object_get(ours, "Rank")) << 8);
    else if (!found)
        return "is missing";
    if (json_is_null(wanted)) return NULL;
    if (str_ends(str_from_c(type), STR("string")))
        return json_equal(found, wanted) ? NULL : "has another text";
    if ((found && !number_of(found, &number)) || !number_of(wanted, &want)) return "is no number";
    // Ports are big-endian; the vectors give them as they lie.
    if (str_ends(str_from_c(name), STR("port"))) number = __builtin_bswap16((uint16_t)number);
    if (str_eq(str_from_c(type), STR("uint"))) {
        number = (uint32_t)number;
        want = (uint32_t)want;
    }
    return number == want ? NULL : "has another value";
}

static int check_vector(const json_t *vector) {
    static Payload payload;
    const char *name = text_member(vector, "case");
    Guid guid;
    uint16_t hook = 0;
    bool exact = false, complete = false;
    assert_true(guid_from_text(str_from_c(text_member(vector, "guid")), &guid));
    uint8_t opcode = (uint8_t)json_integer_value(json_object_get(vector, "opcode"));
    uint8_t version = (uint8_t)json_integer_value(json_object_get(vector, "version"));
    unsigned bits = (unsigned)json_integer_value(json_object_get(vector, "pointer_bits"));
    const EventSpec *spec =
        spec_class_hook(&guid, opcode, &hook) ? spec_find(hook, version, &exact) : NULL;
    if (!spec) {
        print_error("%s: no layout\n", name);
        return 1;
    }
    read_hex(text_member(vector, "payload"), &payload);
    Arena scratch = {0};
    Buf out = {0};
    Str bytes = {(const char *)payload.bytes, payload.n};
    SpecPayload ours_in = {&HEADER, bits / 8, bytes};
    (void)spec_json(spec, &ours_in, &scratch, &out, &complete);
    json_t *ours = json_loadb(out.p, out.n, 0, NULL);
    assert_non_null(ours);
    int wrong = exact ? 0 : 1;
    if (!exact) print_error("%s: version %u is not known\n", name, version);
    size_t index = 0;
    json_t *field = NULL;
    const json_t *fields = json_object_get(vector, "fields");
    json_array_foreach(fields, index, field) {
        const char *what = compare_field(ours, field);
        if (!what) continue;
        char *wanted = json_dumps(field, JSON_COMPACT);
        print_error("%s: %s %s: wanted %s, got %s\n", name, text_member(field, "name"), what,
                    wanted, out.p);
        free(wanted);
        wrong++;
    }
    json_decref(ours);
    buf_done(&out);
    arena_done(&scratch);
    return wrong;
}

// The vectors as JSON; integers that JSON readers cannot hold become texts.
static json_t *load_vectors(const char *path) {
    enum { SAFE_DIGITS = 15 };
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    Buf text = {0};
    char digits[64];
    size_t n = 0;
    for (int c = fgetc(file); c != EOF; c = fgetc(file)) {
        bool more =
            n ? c >= '0' && c <= '9' : text.n && text.p[text.n - 1] == ' ' && c > '0' && c <= '9';
        if (more) {
            assert_true(n < sizeof digits);
            digits[n++] = (char)c;
            continue;
        }
        const char *quote = n > SAFE_DIGITS ? "\"" : "";
        buf_addf(&text, "%s%.*s%s", quote, (int)n, digits, quote);
        n = 0;
        buf_add_char(&text, (char)c);
    }
    (void)fclose(file);
    json_error_t error;
    json_t *vectors = json_loadb(text.p, text.n, 0, &error);
    if (!vectors) fail_msg("%s: %s", path, error.text);
    buf_done(&text);
    return vectors;
}

static void test_vectors(void **state) {
    (void)state;
    char path[1024];
    shared_file("kernel-vectors.json", path, sizeof path);
    json_t *vectors = load_vectors(path);
    assert_int_equal(json_array_size(vectors), 121);
    int wrong = 0;
    size_t index = 0;
    json_t *vector = NULL;
    json_array_foreach(vectors, index, vector) wrong += check_vector(vector);
    json_decref(vectors);
    assert_int_equal(wrong, 0);
}

// ---------------------------------------------------------------- context switches

static uint8_t base64_value(char c) {
    static const char LETTERS[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *at = strchr(LETTERS, c);
    assert_non_null(at);
    return (uint8_t)(at - LETTERS);
}

enum { SWITCH_BYTES = 24 };

static void read_switch(const uint8_t *bytes, uint32_t *new_tid, uint32_t *old_tid) {
    bool exact = false, complete = false;
    const EventSpec *spec = spec_find(0x0524, 2, &exact);
    SpecPayload payload = {
        &HEADER, 8, {(const char *)bytes, SWITCH_BYTES}
    };
    Arena scratch = {0};
    Buf out = {0};
    assert_true(exact);
    assert_int_equal(spec_json(spec, &payload, &scratch, &out, &complete), SWITCH_BYTES);
    assert_true(complete);
    json_t *json = json_loadb(out.p, out.n, 0, NULL);
    *new_tid = (uint32_t)json_integer_value(json_object_get(json, "NewThreadId"));
    *old_tid = (uint32_t)json_integer_value(json_object_get(json, "OldThreadId"));
    json_decref(json);
    buf_done(&out);
    arena_done(&scratch);
}

// In each stretch (a jump in time begins another) a CPU's old thread is the one it switched to.
static void test_switches(void **state) {
    (void)state;
    enum { CPUS = 4, STRETCH_US = 100000 };
    char path[1024], line[256];
    shared_file("cswitch-v2-records.txt", path, sizeof path);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    uint32_t running[CPUS];
    uint64_t last_us = 0;
    size_t records = 0, followed = 0;
    memset(running, 0xFF, sizeof running);
    while (fgets(line, sizeof line, file)) {
        Str rest = str_trim(str_from_c(line)), cpu_text = {0}, base64 = {0}, time_text = {0};
        if (rest.n == 0 || rest.p[0] == '#') continue;
        assert_true(str_next(&rest, ' ', &cpu_text) && str_next(&rest, ' ', &base64) &&
                    str_next(&rest, ' ', &time_text));
        char time_hex[32];
        uint64_t us = 0, cpu = 0;
        (void)snprintf(time_hex, sizeof time_hex, "0x" STR_FMT, STR_ARG(time_text));
        assert_true(str_to_u64(str_from_c(time_hex), &us) && str_to_u64(cpu_text, &cpu));
        if (!base64.p || cpu >= CPUS || base64.n != 32) {
            fail_msg("not a record: %s", line);
            break;
        }
        uint8_t bytes[SWITCH_BYTES] = {0};
        for (size_t i = 0; i < SWITCH_BYTES / 3; i++) {
            uint32_t group = 0;
            for (size_t k = 0; k < 4; k++) group = group << 6 | base64_value(base64.p[4 * i + k]);
            for (size_t k = 0; k < 3; k++) bytes[3 * i + k] = (uint8_t)(group >> (16 - 8 * k));
        }
        uint32_t new_tid = 0, old_tid = 0;
        read_switch(bytes, &new_tid, &old_tid);
        if (us - last_us > STRETCH_US) memset(running, 0xFF, sizeof running);
        if (running[cpu] != UINT32_MAX) {
            assert_int_equal(old_tid, running[cpu]);
            followed++;
        }
        running[cpu] = new_tid;
        last_us = us;
        records++;
    }
    (void)fclose(file);
    assert_int_equal(records, 104);
    assert_true(followed > 90);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vectors),
        cmocka_unit_test(test_switches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
