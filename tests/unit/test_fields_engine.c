// Fields of events from TraceLogging metadata and from TRACE_EVENT_INFO: the same list of typed
// fields, written by tests/support as both, must read back as one JSON text.
#include "decode/event_info.h"
#include "decode/tracelogging.h"
#include "support/etl_build_meta.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

enum { BOTH, TRACELOGGING_ONLY, INFO_ONLY };

typedef struct Case {
    const char *fields; // separated by blanks
    const char *json;
    int form;
} Case;

static const Case CASES[] = {
    {"",                                            "{}",                                        BOTH             },
    {"a:u8:255 b:i8:-1 c:u16:65535",                "{\"a\":255,\"b\":-1,\"c\":65535}",          BOTH             },
    {"a:i16:-2 b:u32:4294967295 c:i32:-3",          "{\"a\":-2,\"b\":4294967295,\"c\":-3}",      BOTH             },
    {"a:i64:-4 b:u64:18446744073709551615",         "{\"a\":-4,\"b\":\"18446744073709551615\"}", BOTH             },
    {"a:bool:1 b:bool:0",                           "{\"a\":true,\"b\":false}",                  BOTH             },
    {"a:f64:0.5 b:f32:-2",                          "{\"a\":0.5,\"b\":-2}",                      BOTH             },
    {"a:wstr:Hello b:astr:World",                   "{\"a\":\"Hello\",\"b\":\"World\"}",         BOTH             },
    {"a:ptr:0xffff1234 b:hex32:16 c:hex64:17",
     "{\"a\":\"0xffff1234\",\"b\":\"0x10\",\"c\":\"0x11\"}",                                     BOTH             },
    {"a:guid:68fdd900-4a3e-11d1-84f4-0000f80464e3",
     "{\"a\":\"68fdd900-4a3e-11d1-84f4-0000f80464e3\"}",                                         BOTH             },
    {"a:cwstr:ab b:castr:cd",                       "{\"a\":\"ab\",\"b\":\"cd\"}",               BOTH             },
    {"a:u32:1 a:u32:2",                             "{\"a\":1,\"a_2\":2}",                       BOTH             },
    {"s:struct/fields=2 x:u8:1 y:wstr:z t:u8:9",    "{\"s\":{\"x\":1,\"y\":\"z\"},\"t\":9}",     BOTH             },
    {"a:u16[]:1,2,3 b:u8:7",                        "{\"a\":[1,2,3],\"b\":7}",                   TRACELOGGING_ONLY},
    {"a:u16[3]:1,2,3",                              "{\"a\":[1,2,3]}",                           BOTH             },
    {"n:u32:2 a:u16/count=n:5,6",                   "{\"n\":2,\"a\":[5,6]}",                     INFO_ONLY        },
    {"n:u16:3 a:wstr/len=n:abc b:u8:1",             "{\"n\":3,\"a\":\"abc\",\"b\":1}",           INFO_ONLY        },
    {"p:u16/out=22:80",                             "{\"p\":20480}",                             INFO_ONLY        },
    {"p:u32/out=23:16777343",                       "{\"p\":\"127.0.0.1\"}",                     INFO_ONLY        },
    {"s:u32/out=31:3221225506",                     "{\"s\":\"0xc0000022 ACCESS_DENIED\"}",      INFO_ONLY        },
};

static size_t parse_fields(const char *text, MetaField *fields) {
    Str rest = str_from_c(text), part;
    size_t count = 0;
    Err err = {0};
    while (str_next(&rest, ' ', &part))
        if (part.n && meta_field_parse(part, &fields[count++], &err) != OK)
            fail_msg("%s", err.text);
    return count;
}

static Str read_back(const FieldsLayout *layout, Str payload, Arena *arena) {
    AUTO(buf_done) Buf schema = {0}, json = {0};
    schema_begin(&schema, 8);
    schema_add(&schema, layout);
    const FieldsSchema *parsed = schema_parse(buf_str(&schema), arena);
    assert_non_null(parsed);
    FieldsReport report;
    fields_json(parsed, payload, ETL_NO_ID, arena, &json, &report);
    return str_copy(arena, buf_str(&json));
}

static void one_case(const Case *c, bool tracelogging, Arena *arena) {
    MetaField fields[META_FIELDS_MAX];
    size_t count = parse_fields(c->fields, fields);
    AUTO(buf_done) Buf payload = {0}, meta = {0};
    AUTO(layout_done) FieldsLayout layout = {0};
    Err err = {0};
    assert_int_equal(meta_put_values(&payload, 8, fields, count, tracelogging, &err), OK);
    if (tracelogging) {
        Str name;
        meta_put_schema(&meta, STR("Event"), 0, fields, count);
        assert_true(tracelogging_layout(buf_str(&meta), arena, &layout, &name));
        assert_true(str_eq(name, STR("Event")));
    } else {
        MetaEvent event = {.id = 5, .fields = fields, .field_count = count};
        meta_put_event_info(&meta, &event);
        assert_true(event_info_layout(buf_str(&meta), NULL, NULL, arena, &layout));
    }
    Str json = read_back(&layout, buf_str(&payload), arena);
    assert_string_equal(json.p, c->json);
}

static void same_from_both(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT_OF(CASES); i++) {
        AUTO(arena_done) Arena arena = {0};
        if (CASES[i].form != INFO_ONLY) one_case(&CASES[i], true, &arena);
        if (CASES[i].form != TRACELOGGING_ONLY) one_case(&CASES[i], false, &arena);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_from_both),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
