// Manifests, TMF files and built-in tables as layouts; hostile forms of each; layouts that compete.
#include "base/os.h"
#include "decode/builtin.h"
#include "decode/manifest.h"
#include "decode/tmf.h"
#include "support/etl_build_pay.h"
#include "support/fields_check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <time.h>

#include <cmocka.h>

#define GUID_TEXT "11111111-2222-3333-4444-555555555555"
#define HEAD "<m><provider name='P' guid='{" GUID_TEXT "}'>"

static Str json_of(const SourceAnswer *answer, Str payload, uint32_t pid, Arena *arena) {
    AUTO(buf_done) Buf schema = {0}, json = {0};
    schema_begin(&schema, 8);
    for (size_t i = 0; i < answer->layouts.count; i++)
        schema_add(&schema, &answer->layouts.items[i]);
    const FieldsSchema *parsed = schema_parse(buf_str(&schema), arena);
    assert_non_null(parsed);
    FieldsReport report;
    fields_json(parsed, payload, pid, arena, &json, &report);
    return str_copy(arena, buf_str(&json));
}

static Str bytes_of(const char *hex, Arena *arena) {
    AUTO(buf_done) Buf bytes = {0};
    assert_true(pay_hex(&bytes, str_from_c(hex)));
    return str_copy(arena, buf_str(&bytes));
}

static const char MANIFEST[] = HEAD
    "<tasks><task name='T' value='1'/></tasks>"
    "<maps><valueMap name='V'><map value='0x2' message='$(string.two)'/></valueMap>"
    "<bitMap name='B'><map value='1' message='One'/><map value='4' message='Four'/></bitMap></maps>"
    "<event value='1' version='0' task='T' opcode='win:Start' template='A'/>"
    "<event value='1' version='2' task='T' opcode='win:Info' template='B'/>"
    "<event value='2' symbol='S'/>"
    "<template tid='A'><data name='v' inType='win:UInt8' map='V'/>"
    "<data name='b' inType='win:UInt8' map='B'/><data name='s' inType='win:AnsiString'/></template>"
    "<template tid='B'><data name='n' inType='win:UInt8'/><struct name='list' count='n'>"
    "<data name='x' inType='win:UInt8'/><data name='y' inType='win:Int8'/></struct>"
    "<data name='l' inType='win:UInt16'/><data name='d' inType='win:Binary' length='l'/>"
    "<data name='p' inType='win:UInt16' outType='win:Port'/></template></provider>"
    "<stringTable><string id='two' value='Two '/></stringTable></m>";

static void manifests(void **state) {
    (void)state;
    static const struct {
        uint16_t id;
        uint8_t version;
        const char *payload, *name, *json;
        bool exact;
    } CASES[] = {
        {1, 0, "02 05 6869 00",             "T/Start", "{\"v\":\"Two\",\"b\":\"One|Four\",\"s\":\"hi\"}",   true },
        {1, 0, "03 08 00",                  "T/Start", "{\"v\":3,\"b\":\"0x8\",\"s\":\"\"}",                true },
        {1, 1, "02 01 00",                  "T/Start", "{\"v\":\"Two\",\"b\":\"One\",\"s\":\"\"}",          false},
        {1, 2, "02 01FF 02FE 0100 AA 0050", "T",
         "{\"n\":2,\"list\":[{\"x\":1,\"y\":-1},{\"x\":2,\"y\":-2}],\"l\":1,\"d\":\"0xaa\",\"p\":"
         "80}",                                                                                             true },
        {1, 9, "00 0000 0050 FF",           "T",
         "{\"n\":0,\"list\":[],\"l\":0,\"d\":\"0x\",\"p\":80,\"_extra_bytes\":1}",                          false},
        {1, 2, "02 01",                     "T",       "{\"n\":2,\"list\":[{\"x\":1}],\"_missing\":\"y\"}", true },
        {2, 0, "",                          "S",       "{}",                                                true },
    };
    Err err = {0};
    ManifestDoc *doc = manifest_parse(str_from_c(MANIFEST), &err);
    if (!doc) fail_msg("%s", err.text);
    for (size_t i = 0; i < COUNT_OF(CASES); i++) {
        AUTO(arena_done) Arena arena = {0};
        AUTO(source_done) SourceAnswer answer = {0};
        SourceKey key = {.id = CASES[i].id, .version = CASES[i].version};
        assert_true(guid_from_text(STR(GUID_TEXT), &key.provider));
        assert_true(manifest_find(doc, &key, &arena, &answer));
        assert_string_equal(answer.event_name.p, CASES[i].name);
        assert_int_equal(answer.exact, CASES[i].exact);
        Str json = json_of(&answer, bytes_of(CASES[i].payload, &arena), ETL_NO_ID, &arena);
        assert_string_equal(json.p, CASES[i].json);
    }
    manifest_close(doc);
}

static void refuses_hostile_manifests(void **state) {
    (void)state;
    static const char *const CASES[] = {
        "",
        "<m>",
        "<!DOCTYPE m [<!ENTITY a 'x'>]>" HEAD "<event value='1'/></provider></m>",
        "<!DOCTYPE m [<!ENTITY a SYSTEM 'file:///etc/hostname'>]>" HEAD
        "<event value='1'/>&a;</provider></m>",
        HEAD
        "<event value='1'/><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a>"
        "<a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a>",
        HEAD
        "<event value='1' template='A'/><template tid='A'><struct><struct><struct><struct><struct>"
        "<struct><struct><struct><struct><struct>",
        HEAD "<event value='70000'/></provider></m>",
    };
    for (size_t i = 0; i < COUNT_OF(CASES); i++) {
        Err err = {0};
        ManifestDoc *doc = manifest_parse(str_from_c(CASES[i]), &err);
        if (doc) fail_msg("case %zu is accepted", i);
        assert_true(err.status == ERR_INPUT && err.text[0]);
    }
}

static void messages(void **state) {
    (void)state;
    static const char TMF[] =
        "// a comment\n" GUID_TEXT " module // SRC=a.c MJ= MN=\n"
        "#typev a_c10 10 \"%0%!FUNC!: %10!s! is %11!5d!|%11!-5d!|%12!08X!\" // "
        "LEVEL=L FUNC=run\n{\nf(a, b), ItemString -- 10\nn, ItemLong -- 11\n"
        "m, ItemULong -- 12\n}\n"
        "#typev a_c11 11 \"%10!s! %11!s! %12!s!\" // FUNC=run\n{\n"
        "x, ItemListByte(no,yes) -- 10\ny, ItemNoSuchThing -- 11\n"
        "z, ItemLong -- 12\n}\n";
    static const struct {
        uint16_t number;
        const char *payload, *json;
    } CASES[] = {
        {10, "616200 FEFFFFFF EFBE0000",
         "{\"_message\":\"run: ab is    -2|-2   |0000BEEF\",\"f(a, b)\":\"ab\",\"n\":-2,"
         "\"m\":\"0xbeef\"}"                     },
        {10, "616200",
         "{\"_message\":\"run: ab is <missing>|<missing>|<missing>\","
         "\"f(a, b)\":\"ab\",\"_missing\":\"n\"}"},
        {11, "01 0203",
         "{\"_message\":\"0x00000001(yes) <missing> <missing>\",\"x\":\"yes\","
         "\"_missing\":\"y\",\"_extra_bytes\":2}"},
    };
    for (size_t i = 0; i < COUNT_OF(CASES); i++) {
        AUTO(arena_done) Arena arena = {0};
        AUTO(source_done) SourceAnswer answer = {0};
        Guid guid;
        assert_true(guid_from_text(STR(GUID_TEXT), &guid));
        assert_true(tmf_find(str_from_c(TMF), &guid, CASES[i].number, &arena, &answer));
        assert_string_equal(answer.provider_name.p, "module");
        Str json = json_of(&answer, bytes_of(CASES[i].payload, &arena), ETL_NO_ID, &arena);
        assert_string_equal(json.p, CASES[i].json);
        assert_false(tmf_find(str_from_c(TMF), &guid, 99, &arena, &answer));
    }
}

// ---------------------------------------------------------------- built-in tables

static size_t cell_number(Str cell) {
    uint64_t n = 0;
    return str_to_u64(cell, &n) ? (size_t)n : 0;
}

// Every event of every table compiles, types and references included.
static void check_table(Str path, Builtin *builtin, Arena *arena, size_t *events) {
    Str text, line, cell, last = {0};
    Err err = {0};
    assert_int_equal(file_read_all(path, 64 << 20, arena, &text, &err), OK);
    (void)str_next(&text, '\n', &line);
    while (str_next(&text, '\n', &line)) {
        Str cells[14] = {{0}}, rest = line;
        for (int i = 0; i < 14 && str_next(&rest, '\t', &cell); i++) cells[i] = cell;
        Str event = {line.p, (size_t)(cells[3].p + cells[3].n - line.p)};
        SourceKey key = {.id = (uint16_t)cell_number(cells[2]),
                         .version = (uint8_t)cell_number(cells[3])};
        assert_true(guid_from_text(cells[0], &key.provider));
        if (str_eq(event, last)) continue;
        last = event;
        AUTO(source_done) SourceAnswer answer = {0};
        AUTO(buf_done) Buf schema = {0};
        if (!builtin_find(builtin, &key, 19041, arena, &answer))
            fail_msg("not found: " STR_FMT, STR_ARG(line));
        assert_true(answer.exact && answer.layouts.count > 0);
        schema_begin(&schema, 8);
        for (size_t i = 0; i < answer.layouts.count; i++)
            schema_add(&schema, &answer.layouts.items[i]);
        if (!fields_check(buf_str(&schema), STR("0123456789abcdef0123456789abcdef")))
            fail_msg("no schema: " STR_FMT, STR_ARG(line));
        (*events)++;
    }
}

static void tables_compile(void **state) {
    (void)state;
    AUTO(arena_done) Arena arena = {0};
    Str folder = STR(ETW_SOURCE_DIR "/providers");
    NameList names;
    Err err = {0};
    size_t events = 0;
    Builtin *builtin = builtin_open();
    assert_int_equal(os_list_folder(folder, &arena, &names, &err), OK);
    for (size_t i = 0; i < names.count; i++)
        if (str_starts(names.items[i], STR("Microsoft-")))
            check_table(path_join(&arena, folder, names.items[i]), builtin, &arena, &events);
    builtin_close(builtin);
    assert_true(events >= 3821);
}

// A newer version is read as the newest known one, an older one not at all; the build decides
// between layouts of one version.
static void versions_and_builds(void **state) {
    (void)state;
    static const struct {
        const char *guid;
        uint16_t id;
        uint8_t version;
        uint32_t build;
        bool found, exact;
    } CASES[] = {
        {"22fb2cd6-0e7b-422b-a0c7-2fad1fd0e716", 1,    0,   19041, true,  true },
        {"22fb2cd6-0e7b-422b-a0c7-2fad1fd0e716", 1,    200, 19041, true,  false},
        {"22fb2cd6-0e7b-422b-a0c7-2fad1fd0e716", 9999, 0,   19041, false, false},
        {"33333333-0e7b-422b-a0c7-2fad1fd0e716", 1,    0,   19041, false, false},
    };
    Builtin *builtin = builtin_open();
    for (size_t i = 0; i < COUNT_OF(CASES); i++) {
        AUTO(arena_done) Arena arena = {0};
        AUTO(source_done) SourceAnswer answer = {0};
        SourceKey key = {.id = CASES[i].id, .version = CASES[i].version};
        assert_true(guid_from_text(str_from_c(CASES[i].guid), &key.provider));
        bool found = builtin_find(builtin, &key, CASES[i].build, &arena, &answer);
        assert_int_equal(found, CASES[i].found);
        if (found) assert_int_equal(answer.exact, CASES[i].exact);
    }
    // PacketFragment grew two fields with Windows 17763.
    static const struct {
        uint32_t build;
        size_t fields;
    } FRAGMENT[] = {
        {7601,  4},
        {26100, 6}
    };
    for (size_t i = 0; i < COUNT_OF(FRAGMENT); i++) {
        AUTO(arena_done) Arena arena = {0};
        AUTO(source_done) SourceAnswer answer = {0};
        SourceKey key = {.id = 1001};
        assert_true(guid_from_text(STR("2ed6006e-4729-4609-b423-3ee7bcd678ef"), &key.provider));
        assert_true(builtin_find(builtin, &key, FRAGMENT[i].build, &arena, &answer));
        assert_int_equal(answer.layouts.items[0].fields.count, FRAGMENT[i].fields);
    }
    builtin_close(builtin);
}

// ---------------------------------------------------------------- competing layouts, limits

static void add_layout(SourceAnswer *answer, size_t bytes, uint32_t pid) {
    static const char *const NAMES[] = {"a", "b", "c", "d", "e", "f", "g", "h"};
    FieldsLayout *layout = vec_push(&answer->layouts);
    *layout = (FieldsLayout){0};
    for (size_t i = 0; i < bytes; i++)
        *vec_push(&layout->fields) = (FieldsDef){.name = str_from_c(NAMES[i]), .type = IN_U8};
    if (pid) *vec_push(&layout->pids) = pid;
}

static void layouts_compete(void **state) {
    (void)state;
    static const struct {
        const char *payload;
        uint32_t pid;
        const char *json;
    } CASES[] = {
        {"0102",       ETL_NO_ID, "{\"a\":1,\"b\":2}"                           },
        {"010203",     ETL_NO_ID, "{\"a\":1,\"b\":2,\"c\":3}"                   },
        {"01020304",   ETL_NO_ID, "{\"a\":1,\"b\":2,\"_extra_bytes\":2}"        },
        {"01",         ETL_NO_ID, "{\"a\":1,\"_missing\":\"b\"}"                },
        {"0102030405", 7,         "{\"a\":1,\"b\":2,\"c\":3,\"_extra_bytes\":2}"},
    };
    AUTO(source_done) SourceAnswer answer = {0};
    add_layout(&answer, 2, 0);
    add_layout(&answer, 3, 7);
    for (size_t i = 0; i < COUNT_OF(CASES); i++) {
        AUTO(arena_done) Arena arena = {0};
        Str json = json_of(&answer, bytes_of(CASES[i].payload, &arena), CASES[i].pid, &arena);
        assert_string_equal(json.p, CASES[i].json);
    }
}

// The dearest event that a schema can describe: 65,535 structures of 4,000 empty lists.
static void work_is_bounded(void **state) {
    (void)state;
    enum { LISTS = 4000, PAYLOAD = 65000, SECONDS_MAX = 20 };
    AUTO(arena_done) Arena arena = {0};
    AUTO(source_done) SourceAnswer answer = {0};
    FieldsLayout *layout = vec_push(&answer.layouts);
    *layout = (FieldsLayout){0};
    *vec_push(&layout->fields) = (FieldsDef){.name = STR("zero"), .type = IN_U8};
    *vec_push(&layout->fields) = (FieldsDef){.name = STR("s"),
                                             .type = IN_STRUCT,
                                             .count_kind = COUNT_FIXED,
                                             .count = 65535,
                                             .members = LISTS + 1};
    *vec_push(&layout->fields) = (FieldsDef){.name = STR("x"), .type = IN_U8};
    for (int i = 0; i < LISTS; i++)
        *vec_push(&layout->fields) =
            (FieldsDef){.name = STR("e"), .type = IN_U8, .count_kind = COUNT_FIELD, .count = 0};
    char *bytes = arena_bytes(&arena, PAYLOAD);
    memset(bytes, 0, PAYLOAD);
    clock_t start = clock();
    Str json = json_of(&answer, (Str){bytes, PAYLOAD}, ETL_NO_ID, &arena);
    assert_true((clock() - start) / CLOCKS_PER_SEC < SECONDS_MAX);
    assert_true(json.n < 2 * LIMIT_EVENT_JSON_BYTES);
    assert_true(str_find(json, STR("\"_cut\":true")) != SIZE_MAX);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(manifests),
        cmocka_unit_test(refuses_hostile_manifests),
        cmocka_unit_test(messages),
        cmocka_unit_test(tables_compile),
        cmocka_unit_test(versions_and_builds),
        cmocka_unit_test(layouts_compete),
        cmocka_unit_test(work_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
