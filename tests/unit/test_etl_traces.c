// Real traces, where the shared test data is present: nothing lost, known counts, and damage done
// to copies in memory-sized files of the test's own.
#include "etl_bytes.h"

static const char *const FOLDERS[] = {ETW_SOURCE_DIR "/../shared"};

// The trace's path, or skips the test.
static Str shared_trace(Arena *arena, const char *name) {
    Str folder = os_env("ETW_SHARED");
    if (folder.n == 0) folder = str_from_c(FOLDERS[0]);
    Str path = path_join(arena, path_join(arena, folder, STR("traces")), str_from_c(name));
    FileInfo info;
    Err err = {0};
    if (os_stat(path, &info, &err) == OK && info.exists) return path;
    print_message("skipped: " STR_FMT " is not there (set ETW_SHARED)\n", STR_ARG(path));
    arena_done(arena); // skip() does not return
    skip();
    return path;
}

typedef struct Known {
    const char *name;
    uint64_t buffers, events, hooks[3];
} Known;

static const uint16_t HOOKS[3] = {0x0F2E, 0x1825, 0x1820}; // 0x1825 with 0x1826

// Zero: not known from another source. Hook counts of the two large files come from their readme.
static const Known KNOWN[] = {
    {"net.4.5.2.x64.etl",             360, 0,    {79528, 9107, 0} },
    {"net.4.5.x86.etl",               405, 0,    {16865, 0, 18532}},
    {"filtrace-diskio.etl",           50,  0,    {824, 0, 5107}   },
    {"HTTP_Server.etl",               36,  2042, {0}              },
    {"KernelNetwork.etl",             129, 8924, {0}              },
    {"smallEtlFile.etl",              2,   2,    {0}              },
    {"AMSITrace.etl",                 6,   0,    {0}              },
    {"PktMon.etl",                    3,   0,    {0}              },
    {"SelfDescribingSingleEvent.etl", 3,   0,    {0}              },
    {"diaghub.kernel.1.etl",          59,  0,    {0}              },
    {"dotnet-DynamicEvents.etl",      88,  0,    {0}              },
    {"gcevents.etl",                  5,   0,    {0}              },
    {"gcrundownevents.etl",           2,   0,    {0}              },
    {"image_data_32_v0.etl",          3,   0,    {0}              },
    {"process_data_32_v3.etl",        3,   0,    {0}              },
    {"primitive-types.etl",           2,   0,    {0}              },
    {"wpp/wppemitter-sample.etl",     2,   0,    {0}              },
    {"wpp/wppenum-sample.etl",        2,   0,    {0}              },
    {"wpp/wppstr-sample.etl",         2,   0,    {0}              },
    {"wpp/wpptypes-sample.etl",       2,   0,    {0}              },
};

typedef struct Counts {
    uint64_t hooks[3];
} Counts;

static void count_hooks(void *context, const EtlBuffer *buffer, const EtlEvent *event) {
    Counts *counts = context;
    (void)buffer;
    assert_true(event->pointer_size == 4 || event->pointer_size == 8);
    if (event->hook == HOOKS[0]) counts->hooks[0]++;
    if (event->hook == HOOKS[1] || event->hook == HOOKS[1] + 1) counts->hooks[1]++;
    if (event->hook == HOOKS[2]) counts->hooks[2]++;
}

static void test_nothing_is_lost(void **state) {
    (void)state;
    Arena arena = {0};
    for (size_t i = 0; i < COUNT_OF(KNOWN); i++) {
        EtlFile *file = NULL;
        Err err = {0};
        assert_int_equal(etl_open(shared_trace(&arena, KNOWN[i].name), &file, &err), OK);
        Counts counts = {0};
        Totals totals = walk_all(file, count_hooks, &counts);
        if (totals.losses > 0) fail_msg("%s: data loss", KNOWN[i].name);
        assert_int_equal(etl_buffer_count(file), KNOWN[i].buffers);
        assert_int_equal(etl_header(file)->buffers_written, KNOWN[i].buffers);
        if (KNOWN[i].events) assert_int_equal(totals.events, KNOWN[i].events);
        for (int h = 0; h < 3; h++)
            if (KNOWN[i].hooks[h]) assert_int_equal(counts.hooks[h], KNOWN[i].hooks[h]);
        assert_int_equal(totals.issues.count[ETL_ISSUE_TIME_BACKWARDS], 0);
        assert_int_equal(totals.kinds[ETL_OTHER], 0);
        etl_close(file);
    }
    arena_done(&arena);
}

// Per buffer: how many events, and a hash of their bytes.
typedef struct BufferSum {
    uint64_t offset, end, events, hash;
} BufferSum;

typedef struct Sums {
    VEC(BufferSum) items;
} Sums;

static void add_event(void *context, const EtlBuffer *buffer, const EtlEvent *event) {
    Sums *sums = context;
    size_t n = sums->items.count;
    if (n == 0 || sums->items.items[n - 1].offset != buffer->offset)
        *vec_push(&sums->items) =
            (BufferSum){.offset = buffer->offset, .end = buffer->offset + buffer->size_bytes};
    BufferSum *sum = &sums->items.items[sums->items.count - 1];
    sum->events++;
    sum->hash = bytes_hash(event->whole.p, event->whole.n, sum->hash);
}

static const BufferSum *find_sum(const Sums *sums, uint64_t offset) {
    for (size_t i = 0; i < sums->items.count; i++)
        if (sums->items.items[i].offset == offset) return &sums->items.items[i];
    return NULL;
}

// Every buffer of `whole` that lies in neither hole must be in `damaged`, event for event.
static void expect_kept(const Sums *whole, const Sums *damaged, uint64_t from, uint64_t to) {
    for (size_t i = 0; i < whole->items.count; i++) {
        const BufferSum *wanted = &whole->items.items[i];
        if (wanted->end > from && wanted->offset < to) continue;
        const BufferSum *got = find_sum(damaged, wanted->offset);
        if (!got || got->events != wanted->events || got->hash != wanted->hash)
            fail_msg("buffer at %llu is not intact after damage at %llu",
                     (unsigned long long)wanted->offset, (unsigned long long)from);
    }
}

static Str load_shared(Arena *arena, const char *name) {
    Str bytes;
    Err err = {0};
    assert_int_equal(file_read_all(shared_trace(arena, name), 64 << 20, arena, &bytes, &err), OK);
    return bytes;
}

static bool sums_of(const void *bytes, size_t size, Sums *sums) {
    EtlFile *file = NULL;
    Err err = {0};
    if (trace_open(bytes, size, &file, &err) != OK) {
        assert_true(err.text[0] != 0);
        return false;
    }
    (void)walk_all(file, add_event, sums);
    etl_close(file);
    return true;
}

static uint32_t next_random(uint32_t *seed) {
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

static const struct {
    const char *name;
    int rounds;
} VICTIMS[] = {
    {"smallEtlFile.etl",              200},
    {"SelfDescribingSingleEvent.etl", 100},
    {"PktMon.etl",                    100},
    {"HTTP_Server.etl",               60 },
    {"AMSITrace.etl",                 40 },
    {"filtrace-diskio.etl",           40 },
    {"net.4.5.2.x64.etl",             8  },
    {"net.4.5.x86.etl",               3  },
};

static void test_truncated_copies(void **state) {
    (void)state;
    uint32_t seed = 11;
    for (size_t v = 0; v < COUNT_OF(VICTIMS); v++) {
        Arena arena = {0};
        Str bytes = load_shared(&arena, VICTIMS[v].name);
        Sums whole = {0};
        assert_true(sums_of(bytes.p, bytes.n, &whole));
        for (int round = 0; round < VICTIMS[v].rounds; round++) {
            size_t cut = next_random(&seed) % bytes.n;
            Sums left = {0};
            bool opened = sums_of(bytes.p, cut, &left);
            assert_true(opened || cut < 1024);
            if (opened) expect_kept(&whole, &left, cut, UINT64_MAX);
            vec_free(&left.items);
        }
        vec_free(&whole.items);
        arena_done(&arena);
    }
}

static void test_flipped_copies(void **state) {
    (void)state;
    uint32_t seed = 12;
    for (size_t v = 0; v < COUNT_OF(VICTIMS); v++) {
        Arena arena = {0};
        Str bytes = load_shared(&arena, VICTIMS[v].name);
        Sums whole = {0};
        assert_true(sums_of(bytes.p, bytes.n, &whole));
        char *copy = arena_bytes(&arena, bytes.n);
        for (int round = 0; round < VICTIMS[v].rounds; round++) {
            memcpy(copy, bytes.p, bytes.n);
            // A run of damage in one place, in two rounds of three inside a buffer header.
            const BufferSum *hit = &whole.items.items[next_random(&seed) % whole.items.count];
            size_t at =
                round % 3 ? hit->offset + next_random(&seed) % 0x48 : next_random(&seed) % bytes.n;
            size_t n = 1 + next_random(&seed) % 8;
            if (n > bytes.n - at) n = bytes.n - at;
            for (size_t i = 0; i < n; i++) copy[at + i] = (char)next_random(&seed);
            Sums left = {0};
            if (sums_of(copy, bytes.n, &left)) expect_kept(&whole, &left, at, at + n);
            vec_free(&left.items);
        }
        vec_free(&whole.items);
        arena_done(&arena);
    }
}

// Many flips at once: only that nothing breaks.
static void test_riddled_copies(void **state) {
    (void)state;
    uint32_t seed = 13;
    for (size_t v = 0; v < COUNT_OF(VICTIMS); v++) {
        Arena arena = {0};
        Str bytes = load_shared(&arena, VICTIMS[v].name);
        char *copy = arena_bytes(&arena, bytes.n);
        for (int round = 0; round < VICTIMS[v].rounds; round++) {
            memcpy(copy, bytes.p, bytes.n);
            size_t flips = 1 + bytes.n / 500;
            for (size_t i = 0; i < flips; i++) {
                size_t at = (next_random(&seed) * 16777216ull + next_random(&seed)) % bytes.n;
                copy[at] = (char)(copy[at] ^ (1 << next_random(&seed) % 8));
            }
            Sums left = {0};
            (void)sums_of(copy, bytes.n, &left);
            vec_free(&left.items);
        }
        arena_done(&arena);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_is_lost),
        cmocka_unit_test(test_truncated_copies),
        cmocka_unit_test(test_flipped_copies),
        cmocka_unit_test(test_riddled_copies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
