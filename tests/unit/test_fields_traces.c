// Fields on real traces, where the shared test data is present: what the independent decoder
// printed (its rules are in the data's README), WPP messages as the system prints them, and
// providers whose every payload byte must be explained.
#include "decode/describe.h"
#include "decode/fields.h"
#include "decode/replay.h"
#include "decode/world_build.h"
#include "support/shared_data.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include <jansson.h>

// One event that is not the kernel's, with its fields as JSON.
typedef struct Seen {
    int64_t us; // time since the start
    uint32_t pid, tid, payload_bytes;
    uint16_t id;
    Str provider, event, json;
    bool decoded, whole, used;
} Seen;

typedef struct Trace {
    Arena arena;
    VEC(Seen) events;
} Trace;

static void trace_done(Trace *trace) {
    vec_free(&trace->events);
    arena_done(&trace->arena);
}

static Str shared_traces(Arena *arena) {
    Str folder = shared_folder(ETW_SOURCE_DIR, "traces", arena);
    if (folder.n) return folder;
    arena_done(arena); // skip() does not return
    skip();
    return folder;
}

static void see_event(Trace *trace, const EtlHeader *header, Describer *describer,
                      const EventClass *class, const EtlEvent *event) {
    AUTO(arena_done) Arena scratch = {0};
    AUTO(buf_done) Buf json = {0};
    ClassDescription about;
    FieldsReport report = {0};
    describe_class(describer, class, &scratch, &about);
    const FieldsSchema *schema = schema_parse(about.schema, &scratch);
    if (schema)
        fields_json(schema, event->payload, event->pid, &scratch, &json, &report);
    else
        fields_raw_json(event->payload, about.decoded_by, &json);
    *vec_push(&trace->events) = (Seen){
        .us = (etl_ns_from_ticks(header, event->ticks) + 500) / 1000,
        .pid = event->pid,
        .tid = event->tid,
        .payload_bytes = (uint32_t)event->payload.n,
        .id = event->id,
        .provider = str_copy(&trace->arena, about.provider_name),
        .event = str_copy(&trace->arena, about.event_name),
        .json = str_copy(&trace->arena, buf_str(&json)),
        .decoded = schema != NULL,
        .whole = !report.missing && !report.extra_bytes && !report.cut,
    };
}

// `wanted`: kinds of events, as bits.
static void trace_read(Str path, unsigned wanted, Trace *trace) {
    Err err = {0};
    AUTO(etl_close) EtlFile *file = NULL;
    Survey survey;
    if (etl_open(path, &file, &err) != OK) fail_msg("%s", err.text);
    assert_int_equal(survey_run_names(file, 1, NULL, &survey, &err), OK);
    AUTO(world_close) World *world = world_open(file, &survey);
    AUTO(describer_close) Describer *describer = describer_open(world);
    AUTO(replay_close) Replay *replay = replay_open(file);
    const ClassTable *classes = world_classes(world);
    ClassCache *cache = mem_zero(1, sizeof *cache);
    EtlEvent event;
    uint64_t seq = 0;
    for (bool end = false;;) {
        assert_int_equal(replay_next(replay, &event, &seq, &end, &err), OK);
        if (end) break;
        if (!(wanted >> event.kind & 1)) continue;
        uint32_t index = 0;
        assert_true(class_find(classes, cache, &event, &index));
        see_event(trace, etl_header(file), describer, &classes->items.items[index], &event);
    }
    mem_free(cache);
}

enum { MANIFEST = 1 << ETL_MANIFEST, WPP = 1 << ETL_WPP };

// ---------------------------------------------------------------- every byte explained

static void explains_every_byte(void **state) {
    (void)state;
    // Events that are known to carry more than their description, by event name.
    static const char *const MORE[] = {"ClrEnableParameters"};
    static const struct {
        const char *name;
        size_t events;
    } CASES[] = {
        {"HTTP_Server.etl",          2041},
        {"KernelNetwork.etl",        8923},
        {"PktMon.etl",               403 },
        {"gcevents.etl",             69  },
        {"gcrundownevents.etl",      110 },
        {"net.4.5.2.x64.etl",        0   },
        {"net.4.5.x86.etl",          0   },
        {"AMSITrace.etl",            19  },
        {"dotnet-DynamicEvents.etl", 0   },
        {"primitive-types.etl",      5   },
    };
    for (size_t i = 0; i < COUNT_OF(CASES); i++) {
        AUTO(arena_done) Arena arena = {0};
        Trace trace = {0};
        Str path = path_join(&arena, shared_traces(&arena), str_from_c(CASES[i].name));
        trace_read(path, MANIFEST, &trace);
        if (CASES[i].events) assert_int_equal(trace.events.count, CASES[i].events);
        for (size_t k = 0; k < trace.events.count; k++) {
            const Seen *seen = &trace.events.items[k];
            bool more = str_eq(seen->event, str_from_c(MORE[0]));
            if (!seen->decoded || (!seen->whole && !more))
                fail_msg("%s: " STR_FMT " " STR_FMT " %u: " STR_FMT, CASES[i].name,
                         STR_ARG(seen->provider), STR_ARG(seen->event), seen->id,
                         STR_ARG(seen->json));
        }
        trace_done(&trace);
    }
}

static void self_describing(void **state) {
    (void)state;
    AUTO(arena_done) Arena arena = {0};
    Trace trace = {0};
    Str folder = shared_traces(&arena);
    trace_read(path_join(&arena, folder, STR("SelfDescribingSingleEvent.etl")), MANIFEST, &trace);
    assert_int_equal(trace.events.count, 1);
    assert_string_equal(trace.events.items[0].json.p, "{\"a\":{\"b\":\"Hello\",\"c\":\"World!\"}}");
    trace_done(&trace);
}

// ---------------------------------------------------------------- WPP

static Str message_of(const Seen *seen, Arena *arena) {
    json_t *object = json_loadb(seen->json.p, seen->json.n, 0, NULL);
    const char *text = json_string_value(json_object_get(object, "_message"));
    Str copy = str_copy(arena, str_from_c(text));
    json_decref(object);
    return copy;
}

static void wpp_messages(void **state) {
    (void)state;
    static const struct {
        const char *file, *message;
    } CASES[] = {
        {"wppstr-sample.etl",     "strtrace name=alpha id=0 tag=END"                                      },
        {"wppstr-sample.etl",     "strtrace name=bravo id=1 tag=END"                                      },
        {"wppstr-sample.etl",     "strtrace name=charlie id=2 tag=END"                                    },
        {"wppstr-sample.etl",     "widetrace user=root role=admin"                                        },
        {"wpptypes-sample.etl",   "sint i=42 neg=-1000 i64=-5000000000"                                   },
        {"wpptypes-sample.etl",   "uint u=4000000000 hex=0xabcdef x64=0xdeadbeefcafe"                     },
        {"wpptypes-sample.etl",   "ptr p=00007FF012345678 null=0000000000000000"                          },
        {"wpptypes-sample.etl",   "widths z=00042 h=0000beef"                                             },
        {"wpptypes-sample.etl",   "hr=0x80070005(ERROR_ACCESS_DENIED) "
                                "st=0xc0000022(STATUS_ACCESS_DENIED) "
                                "guid=11223344-5566-7788-99aa-bbccddeeff00"},
        {"wppenum-sample.etl",    "b=0x00000001(true) irql=0x00000002(DPC)"                               },
        {"wppenum-sample.etl",    "set=[1,3]"                                                             },
        {"wppemitter-sample.etl",
         "WppEmitter work item id=27 status=0x1b phase=startup provider=WppEmitter"                       },
        {"wppemitter-sample.etl",
         "WppEmitter detail seq=2 note=processing-record value=2 category=Detail"                         },
    };
    AUTO(arena_done) Arena arena = {0};
    Str folder = path_join(&arena, shared_traces(&arena), STR("wpp"));
    assert_int_equal(setenv("ETW_MCP_TMF", folder.p, 1), 0);
    for (size_t i = 0; i < COUNT_OF(CASES); i++) {
        Trace trace = {0};
        bool found = false;
        trace_read(path_join(&arena, folder, str_from_c(CASES[i].file)), WPP, &trace);
        for (size_t k = 0; k < trace.events.count; k++) {
            assert_true(trace.events.items[k].decoded && trace.events.items[k].whole);
            if (str_eq(message_of(&trace.events.items[k], &arena), str_from_c(CASES[i].message)))
                found = true;
        }
        if (!found) fail_msg("no message \"%s\"", CASES[i].message);
        trace_done(&trace);
    }
    (void)unsetenv("ETW_MCP_TMF");
}

// ---------------------------------------------------------------- baselines

typedef struct Kind { // one kind of the printed events, and the ids that its events have
    Str name, provider;
    uint16_t id;
} Kind;

typedef struct Baseline {
    Trace trace;
    VEC(Kind) kinds;
    size_t events, values, names; // compared
} Baseline;

static bool is_kernel_kind(Str kind) {
    return str_starts(kind, STR("Windows Kernel")) || str_starts(kind, STR("KernelTraceControl")) ||
           str_starts(kind, STR("MSNT_SystemTrace"));
}

// The text between `key` and `end`, moving on.
static Str cut(Str *rest, const char *key, const char *end) {
    Str mark = str_from_c(key);
    size_t at = str_find(*rest, mark);
    assert_true(at != SIZE_MAX);
    *rest = str_slice(*rest, at + mark.n, rest->n);
    at = str_find(*rest, str_from_c(end));
    assert_true(at != SIZE_MAX);
    Str part = str_slice(*rest, 0, at);
    *rest = str_slice(*rest, at + strlen(end), rest->n);
    return part;
}

static Str without(Str s, char c, Arena *arena) {
    AUTO(buf_done) Buf out = {0};
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] != c) buf_add_char(&out, s.p[i]);
    return str_copy(arena, buf_str(&out));
}

static bool number_of(Str text, Arena *arena, double *out) {
    Str plain = without(text, ',', arena);
    uint64_t u = 0;
    if (str_to_u64(plain, &u)) {
        *out = (double)u;
        return true;
    }
    return str_to_f64(plain, out);
}

// Is the printed text what the JSON value says? Only forms that print alike are compared.
static bool same_value(Str printed, const json_t *value, Arena *arena) {
    double a = 0, b = 0;
    if (json_is_boolean(value))
        return str_eq_nocase(printed, json_is_true(value) ? STR("true") : STR("false"));
    if (json_is_number(value))
        return number_of(printed, arena, &a) &&
               (a == json_number_value(value) || printed.n == 0 ||
                (a - json_number_value(value)) * (a - json_number_value(value)) < 1e-6);
    if (!json_is_string(value)) return false;
    Str text = {json_string_value(value), json_string_length(value)};
    if (str_ends(printed, STR("...")))
        return str_starts(str_trim(text), str_slice(printed, 0, printed.n - 3));
    if (number_of(printed, arena, &a) && number_of(text, arena, &b)) return a == b;
    return str_eq(printed, str_trim(text));
}

static const json_t *member_named(const json_t *object, Str name) {
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)object, key,
                        value) if (str_eq_nocase(str_from_c(key), name)) return value;
    return NULL;
}

// Fields of one printed line that the event has, and those of them that agree.
static void compare_fields(Str fields, const Seen *seen, Arena *arena, size_t *named,
                           size_t *same) {
    json_t *object = json_loadb(seen->json.p, seen->json.n, JSON_ALLOW_NUL, NULL);
    *named = *same = 0;
    while (fields.n) {
        size_t end = str_find(fields, STR("; "));
        Str pair = str_slice(fields, 0, end), name;
        fields = end == SIZE_MAX ? (Str){0} : str_slice(fields, end + 2, fields.n);
        if (str_ends(pair, STR(";"))) pair.n--;
        if (!str_next(&pair, '=', &name)) continue;
        const json_t *value = member_named(object, str_trim(name));
        if (!value) continue;
        (*named)++;
        *same += same_value(str_trim(pair), value, arena);
    }
    json_decref(object);
}

// Our event of a printed line: same time, thread and size; of several the one that agrees most.
static void match_line(Baseline *base, Str line, Arena *arena) {
    Str rest = line;
    Str time = cut(&rest, "EVENT ", ": "), kind = str_copy(arena, line);
    size_t at = str_find(rest, STR(" PID="));
    kind = str_slice(rest, 0, at);
    if (is_kernel_kind(kind)) return;
    double ms = 0, pid = 0, tid = 0, bytes = 0;
    assert_true(number_of(time, arena, &ms));
    assert_true(number_of(cut(&rest, "PID=", ";"), arena, &pid));
    assert_true(number_of(cut(&rest, "TID=", ";"), arena, &tid));
    assert_true(number_of(cut(&rest, "DataLen=", ";"), arena, &bytes));
    Str provider = str_slice(kind, 0, str_find(kind, STR("/")));
    Seen *best = NULL;
    size_t best_same = 0, best_named = 0;
    for (size_t i = 0; i < base->trace.events.count; i++) {
        Seen *seen = &base->trace.events.items[i];
        double off = ms * 1000 - (double)seen->us;
        if (seen->used || off > 1.5 || off < -1.5 || seen->pid != pid || seen->tid != tid) continue;
        if (seen->payload_bytes != bytes || !str_eq(seen->provider, provider)) continue;
        size_t named = 0, same = 0;
        compare_fields(rest, seen, arena, &named, &same);
        if (best && same <= best_same) continue;
        best = seen;
        best_same = same;
        best_named = named;
    }
    if (!best) {
        fail_msg("no event for: " STR_FMT, STR_ARG(line));
        return;
    }
    best->used = true;
    base->events++;
    base->names += best_named;
    base->values += best_same;
    *vec_push(&base->kinds) = (Kind){kind, best->provider, best->id};
}

// TraceEvent counts neither JIT helpers as loaded methods ...
static bool is_left_out(const Seen *seen) {
    return seen->id == 143 && str_find(seen->json, STR("\"JitHelper\"")) != SIZE_MAX;
}

static void match_count(const Baseline *base, Str line, Arena *arena) {
    size_t colon = str_rfind_char(line, ':');
    Str name = str_slice(line, STR("COUNT ").n, colon);
    double wanted = 0;
    size_t count = 0;
    if (is_kernel_kind(name)) return;
    assert_true(number_of(str_trim(str_slice(line, colon + 1, line.n)), arena, &wanted));
    VEC(Kind) ids = {0};
    for (size_t i = 0; i < base->kinds.count; i++) {
        const Kind *kind = &base->kinds.items[i];
        bool seen = !str_eq(kind->name, name);
        for (size_t k = 0; k < ids.count; k++) seen = seen || ids.items[k].id == kind->id;
        if (!seen) *vec_push(&ids) = *kind;
    }
    for (size_t i = 0; i < base->trace.events.count; i++) {
        const Seen *seen = &base->trace.events.items[i];
        for (size_t k = 0; k < ids.count; k++)
            count += seen->id == ids.items[k].id && str_eq(seen->provider, ids.items[k].provider) &&
                     !is_left_out(seen);
    }
    vec_free(&ids);
    if (count != (size_t)wanted)
        fail_msg(STR_FMT ": ours %zu of %zu kinds", STR_ARG(line), count, base->kinds.count);
}

static void baselines(void **state) {
    (void)state;
    // Values that agree, at least: flags and enumerations have other words there, dates another
    // form, and file names drive letters.
    static const struct {
        const char *name;
        size_t events;
        double share;
    } CASES[] = {
        {"net.4.5.2.x64",   294, 0.96},
        {"net.4.5.x86",     299, 0.97},
        {"gcevents",        51,  0.92},
        {"gcrundownevents", 24,  0.90},
        {"primitive-types", 5,   0.60},
    };
    for (size_t i = 0; i < COUNT_OF(CASES); i++) {
        AUTO(arena_done) Arena arena = {0};
        Baseline base = {0};
        Str folder = shared_traces(&arena), text, rest, line;
        Str path = path_join(&arena, folder, str_format(&arena, "%s.baseline.txt", CASES[i].name));
        Err err = {0};
        trace_read(path_join(&arena, folder, str_format(&arena, "%s.etl", CASES[i].name)), MANIFEST,
                   &base.trace);
        assert_int_equal(file_read_all(path, 64 << 20, &arena, &text, &err), OK);
        for (rest = text; str_next(&rest, '\n', &line);)
            if (str_starts(line, STR("EVENT "))) match_line(&base, str_trim(line), &arena);
        for (rest = text; str_next(&rest, '\n', &line);)
            if (str_starts(line, STR("COUNT "))) match_count(&base, str_trim(line), &arena);
        print_message("%s: %zu events, %zu of %zu values alike\n", CASES[i].name, base.events,
                      base.values, base.names);
        assert_int_equal(base.events, CASES[i].events);
        assert_true((double)base.values >= CASES[i].share * (double)base.names);
        vec_free(&base.kinds);
        trace_done(&base.trace);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(self_describing),
        cmocka_unit_test(explains_every_byte),
        cmocka_unit_test(wpp_messages),
        cmocka_unit_test(baselines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
