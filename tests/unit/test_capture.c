// Capture scenarios: every profile against the catalogue of the tool contract and the rules of
// WPR's profile schema, texts against the profile they describe, quoting of the commands.
#include "base/os.h"
#include "support/shared_data.h"
#include "tools/handle_capture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>
#include <expat.h>

#define ALL "0x7FFFFFFFFFFFFFFF"
#define TCPIP "2f07e2ee-15db-40f1-90ef-9d7ba282188a"
#define AFD "e53c6823-7bb8-44bb-90dc-3f86090d48a6"
#define NDIS "2ed6006e-4729-4609-b423-3ee7bcd678ef"
#define QUIC "ff15e657-4f26-570e-88ab-0796b258d11c"
#define HTTP "dd5ef90a-6398-47a4-ad34-4dcecdef795f"
#define KERNEL_NETWORK "7dd42a49-5329-4832-8dfd-43d979153a88"
#define XDP "580bbdea-b364-4369-b291-d3539e35d20b"
#define XDP_WPP "d6143b5c-9fd6-44ba-ba02-fad9ea0c263d"
#define SCHANNEL "37d2c3cd-c5d4-4587-8531-4696c44244c8"
#define EBPF "394f321c-5cf4-404c-aa34-4df1428a7f9c"
#define NETEBPF "f2f2ca01-ad02-4a07-9e90-95a2334f3692"
#define BASE "ProcessThread Loader CSwitch ReadyThread SampledProfile DPC Interrupt IdleStates"
#define BASE_STACKS "CSwitch ReadyThread SampledProfile"

static Str s(const char *text) {
    return str_from_c(text);
}

// ---------------------------------------------------------------- the catalogue

typedef struct WantedProfile {
    const char *scenario, *name, *keywords, *stacks;
    int64_t event_kb, event_buffers;
    int seconds;
} WantedProfile;

static const WantedProfile PROFILES[] = {
    {"cpu",             "Cpu",            "ProcessThread Loader SampledProfile IdleStates", "SampledProfile", 0,    0,    10},
    {"cpu_dpc_isr",     "CpuDpcIsr",      BASE " DPCQueue",                                 BASE_STACKS,      0,    0,    10},
    {"network",         "Network",        BASE " NetworkTrace",                             BASE_STACKS,      1024, 1024, 10},
    {"network_minimal", "NetworkMinimal", BASE " NetworkTrace",                             BASE_STACKS,      1024, 1024, 10},
    {"network_packets", "NetworkPackets", BASE " NetworkTrace",                             BASE_STACKS,      1024, 2048, 5 },
    {"xdp_cpumap",      "XdpCpuMap",      BASE,                                             BASE_STACKS,      1024, 1024, 10},
    {"quic",            "Quic",           BASE " NetworkTrace",                             BASE_STACKS,      1024, 512,  10},
    {"ebpf",            "Ebpf",           BASE,                                             BASE_STACKS,      512,  1024, 10},
    {"general",         "General",        BASE " DiskIO Filename HardFaults",               BASE_STACKS,      256,  256,  15},
    {"locks",           "Locks",          BASE " SpinLock SynchronizationObjects",
     BASE_STACKS " SpinLock ExecutiveResource",                                                               0,    0,    5 },
};

typedef struct WantedProvider {
    const char *scenarios; // separated by blanks
    const char *guid, *keywords;
    int level;
    bool strict, non_paged;
} WantedProvider;

static const WantedProvider PROVIDERS[] = {
    {"network network_minimal network_packets", TCPIP,          ALL,        5,  false, false},
    {"network network_minimal network_packets", AFD,            ALL,        5,  false, false},
    {"network network_minimal network_packets", NDIS,           ALL,        5,  false, false},
    {"network network_minimal network_packets", QUIC,           ALL,        4,  false, false},
    {"network network_minimal network_packets", HTTP,           ALL,        4,  false, false},
    {"network network_minimal network_packets", KERNEL_NETWORK, ALL,        4,  false, false},
    {"network",                                 XDP,            "0x3F",     5,  true,  false},
    {"xdp_cpumap",                              XDP,            "0x3F",     25, true,  false},
    {"xdp_cpumap",                              XDP_WPP,        ALL,        5,  true,  true },
    {"quic",                                    QUIC,           ALL,        5,  false, true },
    {"quic",                                    TCPIP,          ALL,        4,  false, false},
    {"quic",                                    AFD,            ALL,        5,  false, false},
    {"quic",                                    SCHANNEL,       "0x7FFFFF", 5,  false, false},
    {"ebpf",                                    EBPF,           ALL,        5,  false, true },
    {"ebpf",                                    NETEBPF,        ALL,        5,  false, true },
    {"ebpf general",                            TCPIP,          ALL,        4,  false, false},
};

static bool has_word(const char *words, Str wanted) {
    Str rest = s(words), word = {0};
    while (str_next(&rest, ' ', &word))
        if (str_eq(word, wanted)) return true;
    return false;
}

static size_t count_words(const char *words) {
    size_t count = 0;
    Str rest = s(words), word = {0};
    while (str_next(&rest, ' ', &word)) count += word.n > 0;
    return count;
}

static void read_profile(const char *scenario, Arena *arena, CaptureProfile *out) {
    Err err = {0};
    if (capture_profile_read(s(scenario), arena, out, &err) != OK) fail_msg("%s", err.text);
}

static void test_profiles_match_the_catalogue(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT_OF(PROFILES); i++) {
        const WantedProfile *wanted = &PROFILES[i];
        Arena arena = {0};
        CaptureProfile profile = {0};
        read_profile(wanted->scenario, &arena, &profile);
        assert_true(str_eq(profile.name, s(wanted->name)));
        assert_int_equal(profile.keyword_count, count_words(wanted->keywords));
        for (size_t k = 0; k < profile.keyword_count; k++)
            assert_true(has_word(wanted->keywords, profile.keywords[k]));
        assert_int_equal(profile.stack_count, count_words(wanted->stacks));
        for (size_t k = 0; k < profile.stack_count; k++)
            assert_true(has_word(wanted->stacks, profile.stacks[k]));
        assert_int_equal(profile.kernel_kb, 4096);
        assert_int_equal(profile.kernel_buffers, 320);
        assert_int_equal(profile.event_kb, wanted->event_kb);
        assert_int_equal(profile.event_buffers, wanted->event_buffers);
        assert_true(profile.to_file && profile.to_memory);
        const Scenario *scenario = scenario_find(s(wanted->scenario));
        assert_non_null(scenario);
        assert_int_equal(scenario->seconds, wanted->seconds);
        arena_done(&arena);
    }
}

static void check_provider(const ProfileProvider *provider, const char *scenario) {
    for (size_t i = 0; i < COUNT_OF(PROVIDERS); i++) {
        const WantedProvider *wanted = &PROVIDERS[i];
        if (!has_word(wanted->scenarios, s(scenario))) continue;
        if (!str_eq(provider->guid, s(wanted->guid))) continue;
        assert_int_equal(provider->level, wanted->level);
        assert_true(str_eq(provider->keywords, s(wanted->keywords)));
        assert_int_equal(provider->strict, wanted->strict);
        assert_int_equal(provider->non_paged, wanted->non_paged);
        assert_false(provider->stack);
        return;
    }
    fail_msg("%s: %.*s is not in the catalogue", scenario, STR_ARG(provider->guid));
}

static void test_providers_match_the_catalogue(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT_OF(PROFILES); i++) {
        const char *scenario = PROFILES[i].scenario;
        size_t wanted = 0;
        for (size_t k = 0; k < COUNT_OF(PROVIDERS); k++)
            wanted += has_word(PROVIDERS[k].scenarios, s(scenario));
        Arena arena = {0};
        CaptureProfile profile = {0};
        read_profile(scenario, &arena, &profile);
        assert_int_equal(profile.provider_count, wanted);
        for (size_t k = 0; k < profile.provider_count; k++)
            check_provider(&profile.providers[k], scenario);
        arena_done(&arena);
    }
}

// Names of the GUIDs, from the schemas the decoder is built with.
static Str schema_file(Arena *arena, const char *name) {
    Str own = str_format(arena, "%s/providers/%s", ETW_SOURCE_DIR, name);
    FileInfo info = {0};
    if (os_stat(own, &info, NULL) == OK && info.is_file) return own;
    Str folder = shared_folder(ETW_SOURCE_DIR, "schemas", arena);
    return folder.n ? path_join(arena, folder, s(name)) : (Str){0};
}

static Str name_of_guid(Str table, Str guid) {
    Str line = {0};
    while (str_next(&table, '\n', &line)) {
        Str column = {0};
        if (!str_next(&line, '\t', &column) || !str_eq_nocase(column, guid)) continue;
        return str_next(&line, '\t', &column) ? str_trim(column) : (Str){0};
    }
    return (Str){0};
}

static void test_provider_names_match_the_schemas(void **state) {
    (void)state;
    Arena arena = {0};
    Str path = schema_file(&arena, "providers.tsv"), table = {0};
    Err err = {0};
    if (!path.n || file_read_all(path, 4 << 20, &arena, &table, &err) != OK) {
        print_message("skipped: no providers.tsv\n");
        arena_done(&arena);
        skip();
    }
    size_t known = 0;
    for (size_t i = 0; i < COUNT_OF(PROFILES); i++) {
        CaptureProfile profile = {0};
        read_profile(PROFILES[i].scenario, &arena, &profile);
        for (size_t k = 0; k < profile.provider_count; k++) {
            Str name = name_of_guid(table, profile.providers[k].guid);
            if (!name.n) continue; // WPP and TraceLogging providers have no manifest
            known++;
            assert_true(str_eq(name, profile.providers[k].name));
        }
    }
    assert_true(known >= 20);
    arena_done(&arena);
}

// Events that the tools live on: level and keyword of each, and scenarios that must record it.
static const struct {
    const char *guid;
    int event, level;
    uint64_t keyword;
    const char *scenarios;
} NEEDED[] = {
    {TCPIP, 1332, 4, UINT64_C(0x100000000), "network network_minimal network_packets quic general"},
    {TCPIP, 1074, 4, UINT64_C(0x200000000), "network network_minimal network_packets quic general"},
    {TCPIP, 1169, 4, UINT64_C(0x100000000), "network network_minimal network_packets quic ebpf"   },
    {TCPIP, 1170, 4, UINT64_C(0x200000000), "network network_minimal network_packets quic ebpf"   },
    {TCPIP, 1160, 5, UINT64_C(0x200000000), "network network_minimal network_packets"             },
    {NDIS,  1001, 4, UINT64_C(0x40000000),  "network network_minimal network_packets"             },
    {XDP,   0,    5, UINT64_C(0x3F),        "network xdp_cpumap"                                  },
};

static void test_needed_events_are_recorded(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT_OF(NEEDED); i++) {
        Str rest = s(NEEDED[i].scenarios), scenario = {0};
        while (str_next(&rest, ' ', &scenario)) {
            Arena arena = {0};
            CaptureProfile profile = {0};
            read_profile(str_to_c(&arena, scenario), &arena, &profile);
            bool found = false;
            for (size_t k = 0; k < profile.provider_count; k++) {
                const ProfileProvider *provider = &profile.providers[k];
                uint64_t keywords = 0;
                if (!str_eq(provider->guid, s(NEEDED[i].guid))) continue;
                assert_true(str_to_u64(provider->keywords, &keywords));
                found = provider->level >= NEEDED[i].level && (keywords & NEEDED[i].keyword) != 0;
            }
            if (!found) fail_msg("%.*s misses event %d", STR_ARG(scenario), NEEDED[i].event);
            arena_done(&arena);
        }
    }
}

// ---------------------------------------------------------------- the schema of WPR

// Flags that WPR documents (Keyword and Stack of a SystemProvider), as far as profiles use them.
static const char KERNEL_FLAGS[] =
    "AllFaults CpuConfig CSwitch DiskIO DiskIOInit DPC DPCQueue Drivers FileIO FileIOInit Filename "
    "HardFaults IdleStates Interrupt KernelQueue Loader MemoryInfo MemoryInfoWS NetworkTrace Pool "
    "Power ProcessCounter ProcessThread ReadyThread Registry SampledProfile SpinLock "
    "SynchronizationObjects VAMap VirtualAllocation";
static const char STACK_FLAGS[] =
    "CSwitch DiskFlushInit DiskReadInit DiskWriteInit ExecutiveResource FileCreate HardFault "
    "ImageLoad PoolAllocation ReadyThread SampledProfile SpinLock ThreadCreate VirtualAllocation";
static const char CUSTOM_EVENTS[] =
    "ImageId BuildInfo VolumeMapping EventMetadata PerfTrackMetadata WinSAT NetworkInterface";

// An element, its parent, the attributes it must have and may have.
typedef struct ElementRule {
    const char *name, *parents, *required, *optional;
    int rank; // order below <Profiles>; 0: anywhere
} ElementRule;

static const ElementRule ELEMENTS[] = {
    {"WindowsPerformanceRecorder", "-",                              "Version",                                     "Author Comments",                   0},
    {"Profiles",                   "WindowsPerformanceRecorder",     "",                                            "",                                  0},
    {"SystemCollector",            "Profiles",                       "Id Name",                                     "",                                  1},
    {"EventCollector",             "Profiles",                       "Id Name",                                     "",                                  1},
    {"BufferSize",                 "SystemCollector EventCollector", "Value",                                       "",                                  0},
    {"Buffers",                    "SystemCollector EventCollector", "Value",                                       "",                                  0},
    {"SystemProvider",             "Profiles",                       "Id",                                          "Base",                              2},
    {"EventProvider",              "Profiles",                       "Id Name",                                     "Level Strict NonPagedMemory Stack", 3},
    {"Keywords",                   "SystemProvider EventProvider",   "",                                            "",                                  0},
    {"Keyword",                    "Keywords",                       "Value",                                       "",                                  0},
    {"Stacks",                     "SystemProvider",                 "",                                            "",                                  0},
    {"Stack",                      "Stacks",                         "Value",                                       "",                                  0},
    {"Profile",                    "Profiles",                       "Id Name Description DetailLevel LoggingMode", "Base",                              4},
    {"Collectors",                 "Profile",                        "",                                            "",                                  0},
    {"SystemCollectorId",          "Collectors",                     "Value",                                       "",                                  0},
    {"SystemProviderId",           "SystemCollectorId",              "Value",                                       "",                                  0},
    {"EventCollectorId",           "Collectors",                     "Value",                                       "",                                  0},
    {"EventProviders",             "EventCollectorId",               "",                                            "",                                  0},
    {"EventProviderId",            "EventProviders",                 "Value",                                       "",                                  0},
    {"TraceMergeProperties",       "WindowsPerformanceRecorder",     "",                                            "",                                  0},
    {"TraceMergeProperty",         "TraceMergeProperties",           "Id Name",                                     "",                                  0},
    {"DeletePreMergedTraceFiles",  "TraceMergeProperty",             "Value",                                       "",                                  0},
    {"FileCompression",            "TraceMergeProperty",             "Value",                                       "",                                  0},
    {"CustomEvents",               "TraceMergeProperty",             "",                                            "",                                  0},
    {"CustomEvent",                "CustomEvents",                   "Value",                                       "",                                  0},
};

enum { DEPTH_MAX = 16, IDS_MAX = 64 };
typedef struct Checker {
    const char *file;
    Arena arena;
    Str path[DEPTH_MAX];
    unsigned depth;
    int rank;
    Str ids[IDS_MAX];
    size_t id_count;
    bool in_event_provider;
    char problem[200];
} Checker;

static const ElementRule *rule_of(const char *name) {
    for (size_t i = 0; i < COUNT_OF(ELEMENTS); i++)
        if (strcmp(ELEMENTS[i].name, name) == 0) return &ELEMENTS[i];
    return NULL;
}

static void complain(Checker *checker, const char *what, const char *value) {
    Err err = {0};
    (void)err_set(&err, ERR_INPUT, "%s: %s: %s", checker->file, what, value);
    if (!checker->problem[0]) memcpy(checker->problem, err.text, sizeof checker->problem - 1);
}

static const char *attribute(const char **attributes, const char *name) {
    for (size_t i = 0; attributes[i]; i += 2)
        if (strcmp(attributes[i], name) == 0) return attributes[i + 1];
    return "";
}

static void check_attributes(Checker *checker, const ElementRule *rule, const char **attributes) {
    size_t required = 0;
    for (size_t i = 0; attributes[i]; i += 2) {
        bool must = has_word(rule->required, s(attributes[i]));
        required += must;
        if (!must && !has_word(rule->optional, s(attributes[i])))
            complain(checker, "attribute that the schema has not", attributes[i]);
    }
    if (required != count_words(rule->required)) complain(checker, "attribute missing", rule->name);
}

static bool knows_id(const Checker *checker, const char *id) {
    for (size_t i = 0; i < checker->id_count; i++)
        if (str_eq(checker->ids[i], s(id))) return true;
    return false;
}

static void check_ids(Checker *checker, const ElementRule *rule, const char **attributes) {
    const char *id = attribute(attributes, "Id"), *value = attribute(attributes, "Value");
    if (id[0]) {
        if (knows_id(checker, id)) complain(checker, "id used twice", id);
        if (strpbrk(id, ": ")) complain(checker, "id with a colon or blank", id);
        assert_true(checker->id_count < IDS_MAX);
        checker->ids[checker->id_count++] = str_copy(&checker->arena, s(id));
    }
    if (str_ends(s(rule->name), s("Id")) && !knows_id(checker, value))
        complain(checker, "id that is not defined before", value);
    const char *base = attribute(attributes, "Base");
    if (base[0] && !knows_id(checker, base)) complain(checker, "unknown base", base);
    if (strcmp(rule->name, "Profile") == 0) {
        Str wanted =
            str_format(&checker->arena, "%s.%s.%s", attribute(attributes, "Name"),
                       attribute(attributes, "DetailLevel"), attribute(attributes, "LoggingMode"));
        if (!str_eq(wanted, s(id))) complain(checker, "id is not Name.DetailLevel.Mode", id);
        if (strcmp(attribute(attributes, "DetailLevel"), "Verbose") != 0)
            complain(checker, "detail level", id);
    }
}

static void check_value(Checker *checker, const ElementRule *rule, const char *value) {
    uint64_t mask = 0;
    bool keyword = strcmp(rule->name, "Keyword") == 0;
    if (keyword && checker->in_event_provider) {
        if (!str_starts(s(value), s("0x")) || !str_to_u64(s(value), &mask) || !mask ||
            mask > UINT64_C(0x7FFFFFFFFFFFFFFF))
            complain(checker, "keyword mask", value);
    } else if (keyword && !has_word(KERNEL_FLAGS, s(value))) {
        complain(checker, "kernel flag", value);
    }
    if (strcmp(rule->name, "Stack") == 0 && !has_word(STACK_FLAGS, s(value)))
        complain(checker, "stack flag", value);
    if (strcmp(rule->name, "CustomEvent") == 0 && !has_word(CUSTOM_EVENTS, s(value)))
        complain(checker, "custom event", value);
}

static void on_start(void *context, const char *name, const char **attributes) {
    Checker *checker = context;
    const ElementRule *rule = rule_of(name);
    Str parent = checker->depth ? checker->path[checker->depth - 1] : s("-");
    assert_true(checker->depth < DEPTH_MAX);
    checker->path[checker->depth++] = str_copy(&checker->arena, s(name));
    if (!rule) {
        complain(checker, "element that the schema has not", name);
        return;
    }
    if (!has_word(rule->parents, parent)) complain(checker, "element in the wrong place", name);
    if (rule->rank && rule->rank < checker->rank) complain(checker, "element too late", name);
    if (rule->rank) checker->rank = rule->rank;
    if (rule->rank == 2 || rule->rank == 3) checker->in_event_provider = rule->rank == 3;
    check_attributes(checker, rule, attributes);
    check_ids(checker, rule, attributes);
    check_value(checker, rule, attribute(attributes, "Value"));
}

static void on_end(void *context, const char *name) {
    (void)name;
    ((Checker *)context)->depth--;
}

static void check_structure(Str text, Checker *checker) {
    XML_Parser parser = XML_ParserCreate("UTF-8");
    XML_SetUserData(parser, checker);
    XML_SetElementHandler(parser, on_start, on_end);
    if (XML_Parse(parser, text.p, (int)text.n, 1) != XML_STATUS_OK)
        complain(checker, "not well-formed", XML_ErrorString(XML_GetErrorCode(parser)));
    XML_ParserFree(parser);
    arena_done(&checker->arena);
}

static void test_profiles_are_valid(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT_OF(PROFILES); i++) {
        Arena arena = {0};
        CaptureProfile profile = {0};
        read_profile(PROFILES[i].scenario, &arena, &profile);
        Checker checker = {.file = PROFILES[i].scenario};
        check_structure(profile.text, &checker);
        if (checker.problem[0]) fail_msg("%s", checker.problem);
        assert_int_equal(profile.custom_event_count, count_words(CUSTOM_EVENTS));
        arena_done(&arena);
    }
}

// The checks above can fail.
static void test_the_checks_see_mistakes(void **state) {
    (void)state;
    static const char *const WRONG[] = {
        "<WindowsPerformanceRecorder Version='1.0'>",
        "<WindowsPerformanceRecorder Version='1.0'><Profile/></WindowsPerformanceRecorder>",
        "<WindowsPerformanceRecorder Version='1.0'><Profiles><SystemProvider Id='a'><Keywords>"
        "<Keyword Value='Colour'/></Keywords></SystemProvider></Profiles>"
        "</WindowsPerformanceRecorder>",
        "<WindowsPerformanceRecorder Version='1.0'><Profiles><EventProvider Id='a' Name='b'/>"
        "<SystemProvider Id='c'/></Profiles></WindowsPerformanceRecorder>",
        "<WindowsPerformanceRecorder Version='1.0'><Profiles><EventProvider Id='a' Name='b'>"
        "<Keywords><Keyword Value='0xFFFFFFFFFFFFFFFF'/></Keywords></EventProvider></Profiles>"
        "</WindowsPerformanceRecorder>",
    };
    for (size_t i = 0; i < COUNT_OF(WRONG); i++) {
        Checker checker = {.file = "wrong"};
        check_structure(s(WRONG[i]), &checker);
        assert_true(checker.problem[0]);
    }
}

// ---------------------------------------------------------------- texts

// A word of a description and the provider or kernel flag it stands for.
static const struct {
    const char *word, *guid, *flag;
} CLAIMS[] = {
    {"XDP",              XDP,      NULL            },
    {"QUIC",             QUIC,     NULL            },
    {"HTTP",             HTTP,     NULL            },
    {"Schannel",         SCHANNEL, NULL            },
    {"eBPF",             EBPF,     NULL            },
    {"ackets",           NDIS,     NULL            },
    {"ockets",           AFD,      NULL            },
    {"TCP",              TCPIP,    NULL            },
    {"CPU samples",      NULL,     "SampledProfile"},
    {"context switches", NULL,     "CSwitch"       },
    {"DPCs",             NULL,     "DPC"           },
    {"nterrupt",         NULL,     "Interrupt"     },
    {"isk transfers",    NULL,     "DiskIO"        },
    {"ard faults",       NULL,     "HardFaults"    },
    {"pinlock",          NULL,     "SpinLock"      },
};

static bool profile_has(const CaptureProfile *profile, const char *guid, const char *flag) {
    for (size_t i = 0; guid && i < profile->provider_count; i++)
        if (str_eq(profile->providers[i].guid, s(guid))) return true;
    for (size_t i = 0; flag && i < profile->keyword_count; i++)
        if (str_eq(profile->keywords[i], s(flag))) return true;
    return false;
}

static Str description_of(Str xml) {
    size_t at = str_find(xml, s("Comments=\""));
    assert_true(at != SIZE_MAX);
    Str rest = str_slice(xml, at + 10, xml.n);
    return str_slice(rest, 0, str_find(rest, s("\"")));
}

static void test_texts_match_the_profiles(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT_OF(PROFILES); i++) {
        Arena arena = {0};
        CaptureProfile profile = {0};
        const Scenario *scenario = scenario_find(s(PROFILES[i].scenario));
        read_profile(scenario->name, &arena, &profile);
        Str said = str_format(&arena, "%s " STR_FMT, scenario->records,
                              STR_ARG(description_of(profile.text)));
        for (size_t k = 0; k < COUNT_OF(CLAIMS); k++) {
            bool there = profile_has(&profile, CLAIMS[k].guid, CLAIMS[k].flag);
            // "What network_minimal records": the same as another scenario, checked there.
            bool claimed = str_find(said, s(CLAIMS[k].word)) != SIZE_MAX;
            if (claimed && !there) fail_msg("%s claims %s", scenario->name, CLAIMS[k].word);
        }
        bool has_xdp = profile_has(&profile, XDP, NULL);
        bool notes_xdp = scenario->notes && strstr(scenario->notes, "Microsoft-XDP");
        assert_true(has_xdp || !notes_xdp);
        arena_done(&arena);
    }
}

static void test_scenarios_are_complete(void **state) {
    (void)state;
    for (size_t i = 0; i < SCENARIO_COUNT; i++) {
        const Scenario *scenario = SCENARIOS[i];
        assert_true(!i || strcmp(SCENARIOS[i - 1]->name, scenario->name) < 0);
        assert_ptr_equal(scenario_find(s(scenario->name)), scenario);
        assert_non_null(scenario->title);
        assert_non_null(scenario->records);
        assert_non_null(scenario->misses);
        assert_non_null(scenario->overhead);
        assert_non_null(scenario->size);
        assert_non_null(scenario->tools);
        assert_true(scenario->seconds >= 1 && scenario->seconds <= 60);
        assert_int_equal(scenario->kind == CAPTURE_BUILT_IN, scenario->built_in != NULL);
    }
    assert_null(scenario_find(s("profiles/cpu.wprp")));
    assert_null(scenario_find(s("")));
}

// ---------------------------------------------------------------- commands

static void test_paths_are_quoted(void **state) {
    (void)state;
    static const struct {
        const char *path, *wanted;
    } CASES[] = {
        {"C:\\a\\b.etl",             "'C:\\a\\b.etl'"                                    },
        {"C:\\o'neil\\b.etl",        "'C:\\o''neil\\b.etl'"                              },
        {"'; rm -r C:\\; '",         "'''; rm -r C:\\; '''"                              },
        {"$(whoami)`x",              "'$(whoami)`x'"                                     },
        {"a\xe2\x80\x99"
         "b",               "'a\xe2\x80\x99\xe2\x80\x99"
         "b'"                                                      },
        {"\xe2\x80\x98\xe2\x80\x9b", "'\xe2\x80\x98\xe2\x80\x98\xe2\x80\x9b\xe2\x80\x9b'"},
        {"",                         "''"                                                },
    };
    Arena arena = {0};
    for (size_t i = 0; i < COUNT_OF(CASES); i++)
        assert_true(str_eq(capture_quote(s(CASES[i].path), &arena), s(CASES[i].wanted)));
    arena_done(&arena);
}

static void test_wrong_paths_are_refused(void **state) {
    (void)state;
    static const char *const WRONG[] = {"",       "  ",      "C:\\a\nwpr -stop x", "C:\\a\tb",
                                        "C:\\\"", "C:\\a|b", "C:\\*.etl",          "a\x7f"};
    for (size_t i = 0; i < COUNT_OF(WRONG); i++) {
        Err err = {0};
        assert_int_equal(capture_path_check(s(WRONG[i]), &err), ERR_ARG);
        assert_non_null(strstr(err.text, "output_path"));
    }
    Arena arena = {0};
    char *longest = arena_bytes(&arena, 5000);
    memset(longest, 'a', 5000);
    assert_int_equal(capture_path_check((Str){longest, 5000}, NULL), ERR_LIMIT);
    assert_int_equal(capture_path_check(s("C:\\traces\\it's.etl"), NULL), OK);
    arena_done(&arena);
}

static void test_start_commands(void **state) {
    (void)state;
    Arena arena = {0};
    CaptureOrder order = {.scenario = scenario_find(s("cpu")), .path = s("C:\\x.etl")};
    assert_string_equal(capture_start_command(&order, false, &arena).p,
                        "wpr -start .\\cpu.wprp -filemode");
    assert_string_equal(capture_start_command(&order, true, &arena).p, "wpr -start .\\cpu.wprp");
    order.scenario = scenario_find(s("disk"));
    assert_string_equal(capture_start_command(&order, false, &arena).p,
                        "wpr -start CPU -start DiskIO -start FileIO -filemode");
    order.scenario = scenario_find(s("pktmon"));
    assert_string_equal(capture_start_command(&order, true, &arena).p,
                        "pktmon start --capture --pkt-size 0 -f 'C:\\x.etl'");
    arena_done(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_profiles_match_the_catalogue),
        cmocka_unit_test(test_providers_match_the_catalogue),
        cmocka_unit_test(test_provider_names_match_the_schemas),
        cmocka_unit_test(test_needed_events_are_recorded),
        cmocka_unit_test(test_profiles_are_valid),
        cmocka_unit_test(test_the_checks_see_mistakes),
        cmocka_unit_test(test_texts_match_the_profiles),
        cmocka_unit_test(test_scenarios_are_complete),
        cmocka_unit_test(test_paths_are_quoted),
        cmocka_unit_test(test_wrong_paths_are_refused),
        cmocka_unit_test(test_start_commands),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
