// Kernel events of real traces against the listing of an independent decoder: counts of every kind,
// and each listed event field by field. Where the shared test data is present.
#include "decode_rows.h"

#include "decode/spec.h"

#include <jansson.h>

typedef struct Kind {
    const char *name; // in the listing, behind "Windows Kernel/"
    uint16_t hook;
} Kind;

static const Kind KINDS[] = {
    {"EventTrace",                 0x0000},
    {"EventTrace/Extension",       0x0005},
    {"EventTrace/EndExtension",    0x0020},
    {"EventTrace/RundownComplete", 0x0008},
    {"DiskIO/Read",                0x010A},
    {"DiskIO/Write",               0x010B},
    {"DiskIO/ReadInit",            0x010C},
    {"DiskIO/WriteInit",           0x010D},
    {"DiskIO/FlushBuffers",        0x010E},
    {"DiskIO/FlushInit",           0x010F},
    {"Memory/HardFault",           0x0220},
    {"Process/Start",              0x0301},
    {"Process/Stop",               0x0302},
    {"Process/DCStart",            0x0303},
    {"Process/DCStop",             0x0304},
    {"Process/PerfCtr",            0x0320},
    {"Process/PerfCtrRundown",     0x0321},
    {"Process/Defunct",            0x0327},
    {"Image/Load",                 0x030A},
    {"Image/Unload",               0x1402},
    {"Image/DCStart",              0x1403},
    {"Image/DCStop",               0x1404},
    {"Thread/Start",               0x0501},
    {"Thread/Stop",                0x0502},
    {"TcpIp/Send",                 0x060A},
    {"TcpIp/Recv",                 0x060B},
    {"TcpIp/Connect",              0x060C},
    {"TcpIp/Disconnect",           0x060D},
    {"TcpIp/Accept",               0x060F},
    {"TcpIp/TCPCopy",              0x0612},
    {"TcpIp/SendIPV6",             0x061A},
    {"TcpIp/RecvIPV6",             0x061B},
    {"TcpIp/ConnectIPV6",          0x061C},
    {"TcpIp/DisconnectIPV6",       0x061D},
    {"TcpIp/AcceptIPV6",           0x061F},
    {"TcpIp/TCPCopyIPV6",          0x0622},
    {"UdpIp/Send",                 0x080A},
    {"UdpIp/Recv",                 0x080B},
    {"UdpIp/SendIPV6",             0x081A},
    {"UdpIp/RecvIPV6",             0x081B},
    {"PerfInfo/Sample",            0x0F2E},
    {"PerfInfo/CollectionStart",   0x0F49},
    {"PerfInfo/CollectionEnd",     0x0F4A},
    {"SystemConfig/CPU",           0x0B0A},
    {"SystemConfig/PhyDisk",       0x0B0B},
    {"SystemConfig/LogDisk",       0x0B0C},
    {"SystemConfig/NIC",           0x0B0D},
    {"SystemConfig/Video",         0x0B0E},
    {"SystemConfig/Services",      0x0B0F},
    {"SystemConfig/Power",         0x0B10},
    {"SystemConfig/Network",       0x0B11},
    {"SystemConfig/IRQ",           0x0B15},
    {"SystemConfig/PnP",           0x0B16},
    {"SystemConfig/IDEChannel",    0x0B17},
    {"SysConfig/BuildInfo",        0x2020},
    {"SysConfig/SystemPaths",      0x2021},
    {"SysConfig/UnknownVolume",    0x2022},
    {"SysConfig/VolumeMapping",    0x2023},
    {"SysConfig/Opcode(37)",       0x2025},
};

// Names of fields in the listing that differ from ours, for one hook or for all (0xFFFF).
static const struct {
    uint16_t hook;
    const char *listed, *ours;
} ALIASES[] = {
    {0x0000, "LogFileName",       "LogFileNameString" },
    {0x0000, "SessionName",       "SessionNameString" },
    {0xFFFF, "PageDirectoryBase", "DirectoryTableBase"},
    {0xFFFF, "MemoryCount",       "PageFaultCount"    },
    {0xFFFF, "SampleSource",      "Source"            },
    {0xFFFF, "StartAddr",         "Affinity"          },
    {0xFFFF, "FileKey",           "FileObject"        },
};

// Shown by the listing with something the event does not hold (a name looked up, a letter), or
// read by it where an older layout had the field (the IRQ's number, a device's object).
static bool is_derived(uint16_t hook, Str name) {
    bool image = hook == 0x030A || hook >> 8 == 0x14;
    if (hook == 0x0B15) return str_eq(name, STR("IRQNum"));
    if (hook == 0x0B16) return str_eq(name, STR("PdoName"));
    if (hook == 0x0B0F) return str_eq(name, STR("ProcessName"));
    return (image || hook == 0x0220) && str_eq(name, STR("FileName"));
}

typedef struct Event {
    uint16_t hook, cpu;
    uint8_t version, pointer_size;
    int64_t ns;
    Str payload;
} Event;

typedef struct Trace {
    EtlHeader header;
    VEC(Event) events;
    Arena arena;
    uint64_t counts[COUNT_OF(KINDS)];
} Trace;

// The listing leaves out samples of the idle threads, unless a DPC or ISR ran.
static bool is_listed(const Event *event) {
    if (event->hook != 0x0F2E) return true;
    Rd r = rd_from_str(event->payload);
    (void)rd_ptr(&r, event->pointer_size);
    uint32_t tid = rd_u32(&r);
    rd_skip(&r, 2);
    return tid != 0 || rd_u8(&r) & 3;
}

static void read_trace(const char *path, Trace *trace) {
    Err err = {0};
    EtlIssues issues = {0};
    AUTO(etl_close) EtlFile *file = NULL;
    AUTO(etl_scratch_close) EtlScratch *scratch = etl_scratch_open();
    if (etl_open(str_from_c(path), &file, &err) != OK) fail_msg("%s", err.text);
    trace->header = *etl_header(file);
    for (size_t i = 0; i < etl_buffer_count(file); i++) {
        EtlCursor cursor;
        EtlEvent e;
        assert_int_equal(etl_load(file, i, scratch, &issues, &cursor, &err), OK);
        while (etl_next(&cursor, &e)) {
            Event event = {.hook = e.hook,
                           .cpu = e.cpu,
                           .version = e.version,
                           .pointer_size = e.pointer_size,
                           .ns = etl_ns_from_ticks(&trace->header, e.ticks),
                           .payload = e.payload};
            if (e.kind == ETL_CLASSIC) {
                if (!spec_class_hook(&e.provider, e.opcode, &event.hook)) continue;
            } else if (e.kind != ETL_SYSTEM && e.kind != ETL_PERFINFO) {
                continue;
            }
            if (!is_listed(&event)) continue;
            for (size_t k = 0; k < COUNT_OF(KINDS); k++)
                trace->counts[k] += KINDS[k].hook == event.hook;
            event.payload = str_copy(&trace->arena, e.payload);
            *vec_push(&trace->events) = event;
        }
    }
}

// "1,234.567" to thousandths; false when it is no such number.
static bool thousandths(Str text, int64_t *out) {
    char digits[40];
    size_t n = 0, dot = SIZE_MAX;
    for (size_t i = 0; i < text.n && n < sizeof digits - 4; i++) {
        char c = text.p[i];
        if (c == ',') continue;
        if (c == '.')
            dot = n;
        else
            digits[n++] = c;
    }
    for (size_t places = dot == SIZE_MAX ? 0 : n - dot; places < 3; places++) digits[n++] = '0';
    return (dot == SIZE_MAX || n - dot == 3) && str_to_i64((Str){digits, n}, out);
}

static bool listed_number(Str text, uint64_t *out) {
    char digits[40];
    size_t n = 0;
    for (size_t i = 0; i < text.n && n < sizeof digits; i++)
        if (text.p[i] != ',') digits[n++] = text.p[i];
    int64_t negative = 0;
    if (str_to_u64((Str){digits, n}, out)) return true;
    if (!str_to_i64((Str){digits, n}, &negative)) return false;
    *out = (uint64_t)negative;
    return true;
}

static const json_t *member(const json_t *object, uint16_t hook, Str name) {
    for (size_t i = 0; i < COUNT_OF(ALIASES); i++) {
        if (ALIASES[i].hook != 0xFFFF && ALIASES[i].hook != hook) continue;
        const json_t *found = json_object_get(object, ALIASES[i].ours);
        if (found && str_eq(str_from_c(ALIASES[i].listed), name)) return found;
    }
    const char *key = NULL;
    json_t *value = NULL;
    json_object_foreach((json_t *)(uintptr_t)object, key, value) {
        if (str_eq_nocase(str_from_c(key), name)) return value;
    }
    return NULL;
}

typedef enum Outcome { SAME, DIFFERENT, NOT_COMPARED } Outcome;

static Outcome compare_text(Str listed, Str ours) {
    uint64_t a = 0, b = 0;
    bool is_date = listed.n > 8 && listed.p[2] == '/' && listed.p[5] == '/';
    if (is_date) return NOT_COMPARED;
    if (str_starts(ours, STR("0x")) && (str_to_u64(ours, &a) || ours.n == 18)) {
        // Flags as words, or the bytes of a MAC address as one number.
        if (!listed_number(listed, &b)) return NOT_COMPARED;
        return a == b ? SAME : ours.n == 18 ? NOT_COMPARED : DIFFERENT;
    }
    if (str_ends(listed, STR("...")))
        return str_starts(ours, str_slice(listed, 0, listed.n - 3)) ? SAME : DIFFERENT;
    return str_eq(listed, ours) ? SAME : DIFFERENT;
}

static Outcome compare_value(Str listed, const json_t *ours) {
    if (json_is_string(ours))
        return compare_text(listed, (Str){json_string_value(ours), json_string_length(ours)});
    uint64_t number = 0;
    if (!json_is_integer(ours)) return NOT_COMPARED;
    if (!listed_number(listed, &number)) return NOT_COMPARED; // a date, True or False
    uint64_t value = (uint64_t)json_integer_value(ours);
    bool is_signed = str_starts(listed, STR("-")); // unsigned numbers shown as signed ones
    return is_signed ? ((uint32_t)number == (uint32_t)value ? SAME : DIFFERENT)
                     : (number == value ? SAME : DIFFERENT);
}

// ElapsedTimeMSec: a disk request's response, or the time since a fault began.
static Outcome compare_elapsed(const Trace *trace, const Event *event, Str listed,
                               const json_t *json) {
    enum { ROUNDING_NS = 600 };
    int64_t listed_us = 0, ns = 0;
    if (!thousandths(listed, &listed_us)) return NOT_COMPARED;
    const json_t *start = json_object_get(json, "InitialTime");
    const json_t *response = json_object_get(json, "HighResResponseTime");
    if (start)
        ns = event->ns - json_integer_value(start);
    else if (response)
        ns = etl_ns_from_duration(&trace->header, json_integer_value(response));
    else
        return NOT_COMPARED;
    int64_t off = ns - listed_us * 1000;
    return off <= ROUNDING_NS && off >= -ROUNDING_NS ? SAME : DIFFERENT;
}

typedef struct Tally {
    size_t lines, fields, wrong;
} Tally;

static void compare_fields(const Trace *trace, const Event *event, Str fields, Tally *tally,
                           Buf *why) {
    bool exact = false, complete = false;
    const EventSpec *spec = spec_find(event->hook, event->version, &exact);
    Arena scratch = {0};
    Buf text = {0};
    SpecPayload payload = {&trace->header, event->pointer_size, event->payload};
    (void)spec_json(spec, &payload, &scratch, &text, &complete);
    json_t *json = json_loadb(text.p, text.n, 0, NULL);
    assert_non_null(json);
    while (fields.n) {
        size_t end = str_find(fields, STR("; "));
        Str pair = str_slice(fields, 0, end);
        fields = end == SIZE_MAX ? (Str){0} : str_slice(fields, end + 2, fields.n);
        size_t equals = str_find(pair, STR("="));
        if (equals == SIZE_MAX) continue;
        Str name = str_slice(pair, 0, equals), listed = str_slice(pair, equals + 1, pair.n);
        Outcome outcome = NOT_COMPARED;
        const json_t *ours = member(json, event->hook, name);
        if (str_eq(name, STR("ElapsedTimeMSec")))
            outcome = compare_elapsed(trace, event, listed, json);
        else if (ours && !is_derived(event->hook, name))
            outcome = compare_value(listed, ours);
        tally->fields += outcome == SAME;
        if (outcome != DIFFERENT) continue;
        buf_addf(why, " " STR_FMT, STR_ARG(pair));
    }
    json_decref(json);
    buf_done(&text);
    arena_done(&scratch);
}

static bool kind_of(Str name, size_t *index) {
    for (*index = 0; *index < COUNT_OF(KINDS); (*index)++)
        if (str_eq(str_from_c(KINDS[*index].name), name)) return true;
    return false;
}

// The event of a line: same kind, time to the microsecond, CPU and length. Of several the first
// whose fields agree is meant.
static void compare_line(const Trace *trace, Str line, size_t kind, int64_t us, Tally *tally) {
    enum { ROUNDING_NS = 600 };
    size_t cpu_at = str_find(line, STR("ProceNum=")), length_at = str_find(line, STR("DataLen="));
    assert_true(cpu_at != SIZE_MAX && length_at != SIZE_MAX);
    uint64_t cpu = 0, length = 0;
    Str cpu_text = str_slice(line, cpu_at + 9, line.n);
    Str length_text = str_slice(line, length_at + 8, line.n);
    size_t fields_at = length_at + 8 + str_find(length_text, STR("; ")) + 2;
    assert_true(
        listed_number(str_slice(cpu_text, 0, str_find(cpu_text, STR("; "))), &cpu) &&
        listed_number(str_slice(length_text, 0, str_find(length_text, STR("; "))), &length));
    Buf first = {0};
    bool found = false, agreed = false;
    for (size_t i = 0; i < trace->events.count && !agreed; i++) {
        const Event *event = &trace->events.items[i];
        int64_t off = event->ns - us * 1000;
        if (event->hook != KINDS[kind].hook || off > ROUNDING_NS || off < -ROUNDING_NS ||
            event->cpu != cpu || event->payload.n != length)
            continue;
        Buf why = {0};
        Tally trial = {0};
        compare_fields(trace, event, str_slice(line, fields_at, line.n), &trial, &why);
        agreed = why.n == 0;
        if (agreed) tally->fields += trial.fields;
        if (!found) buf_add(&first, buf_str(&why));
        found = true;
        buf_done(&why);
    }
    tally->lines++;
    if (!agreed) {
        print_error("%s: " STR_FMT "\n", found ? first.p : "no such event", STR_ARG(line));
        tally->wrong++;
    }
    buf_done(&first);
}

static Str read_text(Arena *arena, const char *path) {
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    Buf text = {0};
    char part[4096];
    for (size_t n = fread(part, 1, sizeof part, file); n; n = fread(part, 1, sizeof part, file))
        buf_add(&text, (Str){part, n});
    (void)fclose(file);
    Str copy = str_copy(arena, buf_str(&text));
    buf_done(&text);
    return copy;
}

static void compare_listing(const Trace *trace, Str listing, Tally *tally) {
    static const Str KERNEL = {"Windows Kernel/", 15};
    Str line;
    while (str_next(&listing, '\n', &line)) {
        if (str_ends(line, STR("\r"))) line.n--;
        bool count = str_starts(line, STR("COUNT Windows Kernel/"));
        size_t at = str_find(line, KERNEL);
        if (at == SIZE_MAX) continue;
        Str rest = str_slice(line, at + KERNEL.n, line.n);
        size_t kind = 0;
        if (count) {
            size_t colon = str_find(rest, STR(":"));
            uint64_t wanted = 0;
            assert_true(kind_of(str_slice(rest, 0, colon), &kind));
            assert_true(listed_number(str_slice(rest, colon + 1, rest.n), &wanted));
            tally->lines++;
            if (trace->counts[kind] == wanted) continue;
            print_error("%s: %zu events, not " STR_FMT "\n", KINDS[kind].name,
                        (size_t)trace->counts[kind], STR_ARG(rest));
            tally->wrong++;
            continue;
        }
        if (!str_starts(line, STR("EVENT ")) || at > 40) continue;
        int64_t us = 0;
        Str time = str_slice(line, 6, str_find(line, STR(":")));
        assert_true(thousandths(time, &us));
        if (!kind_of(str_slice(rest, 0, str_find(rest, STR(" "))), &kind)) continue;
        compare_line(trace, rest, kind, us, tally);
    }
}

static void shared_path(const char *name, const char *end, char *path, size_t size) {
    Str root = os_env("ETW_SHARED");
    (void)snprintf(path, size, "%s/traces/%s%s", root.n ? root.p : ETW_SOURCE_DIR "/../shared",
                   name, end);
    if (access(path, R_OK) == 0) return;
    print_message("skipped: %s is not there (set ETW_SHARED)\n", path);
    skip();
}

static const struct {
    const char *name;
    size_t lines, fields; // at least so many compared
} LISTINGS[] = {
    {"net.4.5.2.x64",   196, 850},
    {"net.4.5.x86",     150, 800},
    {"gcevents",        2,   15 },
    {"gcrundownevents", 2,   15 },
    {"primitive-types", 2,   15 },
};

static void test_listings(void **state) {
    (void)state;
    size_t wrong = 0;
    for (size_t i = 0; i < COUNT_OF(LISTINGS); i++) {
        char path[1024], listing[1024];
        shared_path(LISTINGS[i].name, ".etl", path, sizeof path);
        shared_path(LISTINGS[i].name, ".baseline.txt", listing, sizeof listing);
        Trace trace = {0};
        Tally tally = {0};
        read_trace(path, &trace);
        compare_listing(&trace, read_text(&trace.arena, listing), &tally);
        print_message("%s: %zu lines, %zu fields, %zu wrong\n", LISTINGS[i].name, tally.lines,
                      tally.fields, tally.wrong);
        assert_true(tally.lines >= LISTINGS[i].lines && tally.fields >= LISTINGS[i].fields);
        wrong += tally.wrong;
        vec_free(&trace.events);
        arena_done(&trace.arena);
    }
    assert_int_equal(wrong, 0);
}

// ---------------------------------------------------------------- rows

// Starts of disk requests are not among them: the listing shows who logged them, not who asked.
static const struct {
    const char *kind;
    TableId table;
} TABLES[] = {
    {"DiskIO/Read",      T_DISK_IO   },
    {"DiskIO/Write",     T_DISK_IO   },
    {"Memory/HardFault", T_HARD_FAULT},
    {"PerfInfo/Sample",  T_SAMPLE    },
    {"TcpIp/SendIPV6",   T_TCP_EVENT },
    {"TcpIp/RecvIPV6",   T_TCP_EVENT },
    {"UdpIp/Send",       T_UDP_EVENT },
    {"UdpIp/Recv",       T_UDP_EVENT },
    {"UdpIp/SendIPV6",   T_UDP_EVENT },
    {"UdpIp/RecvIPV6",   T_UDP_EVENT },
};

static const Column *column_named(const Chunk *chunk, const char *name) {
    const TableDef *def = table_def(chunk->table);
    for (unsigned c = 0; c < def->column_count; c++)
        if (str_eq(str_from_c(def->columns[c].name), str_from_c(name))) return &chunk->columns[c];
    fail_msg("%s has no column %s", def->name, name);
    return NULL;
}

static uint32_t pid_of(const Collected *all, uint32_t upid) {
    for (size_t i = 0; i < all->chunks.count; i++) {
        const Chunk *chunk = all->chunks.items[i];
        if (chunk->table != T_PROCESS) continue;
        const uint32_t *upids = column_named(chunk, "upid")->values;
        const uint32_t *pids = column_named(chunk, "pid")->values;
        for (uint32_t r = 0; r < chunk->rows; r++)
            if (upids[r] == upid) return pids[r];
    }
    return ETL_NO_ID;
}

// Whether a row of the table at that time and CPU belongs to the process.
static bool row_of_process(const Collected *all, TableId table, int64_t us, uint32_t cpu,
                           uint32_t pid) {
    enum { ROUNDING_NS = 600 };
    for (size_t i = 0; i < all->chunks.count; i++) {
        const Chunk *chunk = all->chunks.items[i];
        if (chunk->table != table) continue;
        const int64_t *times = column_named(chunk, "ts_ns")->values;
        const uint16_t *cpus = column_named(chunk, "cpu")->values;
        const uint32_t *upids = column_named(chunk, "upid")->values;
        for (uint32_t r = 0; r < chunk->rows; r++) {
            int64_t off = times[r] - us * 1000;
            if (off <= ROUNDING_NS && off >= -ROUNDING_NS && cpus[r] == cpu &&
                pid_of(all, upids[r]) == pid)
                return true;
        }
    }
    return false;
}

static bool number_behind(Str line, const char *key, uint64_t *out) {
    size_t at = str_find(line, str_from_c(key));
    if (at == SIZE_MAX) return false;
    Str rest = str_slice(line, at + strlen(key), line.n);
    return listed_number(str_slice(rest, 0, str_find(rest, STR("; "))), out);
}

// Who did it: the process that the listing gives to disk requests, faults, samples and packets.
static void test_row_owners(void **state) {
    (void)state;
    static const char *const NAMES[] = {"net.4.5.2.x64", "net.4.5.x86"};
    size_t checked = 0, wrong = 0;
    for (size_t i = 0; i < COUNT_OF(NAMES); i++) {
        char path[1024], listing[1024];
        shared_path(NAMES[i], ".etl", path, sizeof path);
        shared_path(NAMES[i], ".baseline.txt", listing, sizeof listing);
        DecodeSummary summary;
        Collected all = decode_file(path, 2, &summary);
        Arena arena = {0};
        Str text = read_text(&arena, listing), line;
        while (str_next(&text, '\n', &line)) {
            for (size_t t = 0; t < COUNT_OF(TABLES); t++) {
                char kind[64];
                (void)snprintf(kind, sizeof kind, ": Windows Kernel/%s ", TABLES[t].kind);
                size_t at = str_find(line, str_from_c(kind));
                int64_t us = 0;
                uint64_t pid = 0, cpu = 0;
                if (at == SIZE_MAX || at > 40) continue;
                assert_true(thousandths(str_slice(line, 6, at), &us));
                assert_true(number_behind(line, " PID=", &pid));
                assert_true(number_behind(line, "ProceNum=", &cpu));
                checked++;
                if (row_of_process(&all, TABLES[t].table, us, (uint32_t)cpu, (uint32_t)pid))
                    continue;
                print_error("no row: " STR_FMT "\n", STR_ARG(line));
                wrong++;
            }
        }
        arena_done(&arena);
        collected_done(&all);
    }
    print_message("%zu owners\n", checked);
    assert_true(checked >= 80);
    assert_int_equal(wrong, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_listings),
        cmocka_unit_test(test_row_owners),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
