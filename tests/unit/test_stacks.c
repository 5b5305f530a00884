// The stack tools' arithmetic against a plain count over every sample's own path: inclusive and
// exclusive weights, callers and callees, chains, denominators. Built traces (synthetic) with
// recursion, missing stacks, lost parts, unresolved addresses and many CPUs, and real ones.
#include "base/os.h"
#include "support/etl_build_script.h"
#include "support/shared_data.h"
#include "tools/chain.h"
#include "tools/engine_internal.h"
#include "tools/flame.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define IMAGES                                                                                     \
    "process start 1ms pid=100 name=a.exe\n"                                                       \
    "thread start 1ms pid=100 tid=101\nthread start 1ms pid=100 tid=102\n"                         \
    "image rundown 1ms pid=0 base=0xfffff80000000000 size=0x100000 name=\\SystemRoot\\nt.exe\n"    \
    "image load 1ms pid=100 base=0x7ff600000000 size=0x100000 name=\\Device\\HarddiskVolume3\\"    \
    "a.exe\n"                                                                                      \
    "interval start 1ms source=0 interval=10000 name=Timer\n"

// Deep recursion through one and through two functions, stacks that are absent, a stack whose
// kernel part is lost, an address without a module.
static const char RECURSIVE[] =
    "trace cpus=2 build=19041\n" IMAGES "repeat 5 every 1ms from 10ms {\n"
    "sample 0 tid=101 ip=a.exe+1 stack=a.exe+1,a.exe+2,a.exe+2,a.exe+3\n}\n"
    "repeat 3 every 1ms from 15ms {\n"
    "sample 0 tid=101 ip=a.exe+2 stack=a.exe+2,a.exe+4,a.exe+2,a.exe+4,a.exe+2,a.exe+3\n}\n"
    "repeat 2 every 1ms from 18ms {\n"
    "sample 0 tid=101 ip=a.exe+2 stack=a.exe+2,a.exe+2,a.exe+2,a.exe+2\n}\n"
    "sample 20ms tid=101 ip=0xfffff80000000010 stack=a.exe+4,a.exe+3\n"
    "sample 21ms tid=101 ip=0x12345 stack=0x12345,a.exe+2,a.exe+5\n"
    "repeat 4 every 1ms from 10ms {\nsample 0 cpu=1 tid=102 ip=a.exe+2\n}\n"
    "sample 14ms cpu=1 tid=102 ip=a.exe+3 count=3 stack=a.exe+3,a.exe+4,a.exe+2,a.exe+4\n";

// Random stacks from few functions over 100 CPUs: recursion of every kind.
static const char MANY_CPUS[] =
    "trace cpus=100 build=19041 seed=7\n" IMAGES "repeat 40 every 1ms from 10ms {\nrepeat 10 {\n"
    "sample 0 cpu=${i*10} tid=${1000+i} ip=a.exe+${j%4} stack=a.exe+${j%4},a.exe+${rand(4)},"
    "a.exe+${rand(4)},a.exe+${rand(4)},a.exe+${rand(3)}\n"
    "sample 0 cpu=${i*10+9} tid=${2000+i} ip=0xfffff80000000010\n}\n}\n";

typedef struct Bench {
    Arena arena;
    Engine *engine;
    TraceHold hold;
    const StackSet *set;
    StackWeights weights;
    StackTree tree;
    FunctionWeight *functions;
} Bench;

static const char SQL[] = "SELECT stack_id, frame_id, sum(weight_ns)::BIGINT, count(*) FROM sample "
                          "WHERE ts_ns >= $start_ns GROUP BY ALL";

static void bench_open(Bench *bench, Str path) {
    Err err = {0};
    EngineOptions options = {.quiet = true};
    const char *id = NULL;
    *bench = (Bench){0};
    assert_int_equal(engine_open(&options, &bench->engine, &err), OK);
    if (engine_load(bench->engine, path, true, NULL, &bench->arena, &id, &err) != OK)
        fail_msg("%s", err.text);
    assert_int_equal(
        trace_hold(bench->engine, str_from_c(id), NULL, &bench->arena, &bench->hold, &err), OK);
    assert_int_equal(
        stack_cache_get(bench->hold.data->stacks, bench->hold.session, &bench->set, &err), OK);
}

static void bench_weigh(Bench *bench, int64_t start_ns) {
    Err err = {0};
    Arg arg = {.name = "start_ns", .type = ARG_I64, .i64 = start_ns};
    StackQuery query = {str_from_c(SQL), &arg, 1};
    if (stack_weights(bench->set, bench->hold.session, &query, &bench->arena, &bench->weights,
                      &err) != OK)
        fail_msg("%s", err.text);
    stack_tree_build(bench->set, &bench->weights, &bench->arena, &bench->tree);
    bench->functions = stack_function_weights(&bench->tree, &bench->arena);
}

static void bench_close(Bench *bench) {
    stack_cache_release(bench->hold.data->stacks, bench->set);
    trace_let_go(&bench->hold);
    engine_close(bench->engine);
    arena_done(&bench->arena);
}

// ---------------------------------------------------------------- plain counts

typedef struct Path {
    uint32_t *frames; // innermost first
    uint32_t count;
    int64_t weight;
} Path;
typedef struct Paths {
    Path *items;
    size_t count;
    int64_t weight;
} Paths;

static Paths paths_of(Bench *bench) {
    Paths paths = {ARENA_ARRAY(&bench->arena, Path, bench->weights.count), 0, 0};
    for (size_t i = 0; i < bench->weights.count; i++) {
        const StackWeight *entry = &bench->weights.items[i];
        if (!entry->node) continue;
        Path *path = &paths.items[paths.count++];
        path->frames = ARENA_ARRAY(&bench->arena, uint32_t, bench->set->longest);
        path->count = stack_path(bench->set, entry, path->frames);
        path->weight = entry->weight;
        paths.weight += entry->weight;
    }
    return paths;
}

static bool path_holds(const Path *path, uint32_t function) {
    for (uint32_t i = 0; i < path->count; i++)
        if (path->frames[i] == function) return true;
    return false;
}

// Whether the frames of `chain` stand next to each other in the path, towards the leaf or the root.
static bool path_holds_chain(const Path *path, const uint32_t *chain, uint32_t length,
                             bool callees) {
    for (uint32_t at = 0; at + length <= path->count; at++) {
        uint32_t k = 0;
        while (k < length && path->frames[at + k] == chain[callees ? length - 1 - k : k]) k++;
        if (k == length) return true;
    }
    return false;
}

static void check_functions(Bench *bench, const Paths *paths) {
    int64_t exclusive = 0;
    for (uint32_t f = 0; f <= bench->set->function_count; f++) {
        int64_t holds = 0, leaf = 0;
        for (size_t i = 0; i < paths->count; i++) {
            holds += path_holds(&paths->items[i], f) ? paths->items[i].weight : 0;
            leaf += paths->items[i].frames[0] == f ? paths->items[i].weight : 0;
        }
        assert_int_equal(bench->functions[f].inclusive, holds);
        assert_int_equal(bench->functions[f].exclusive, leaf);
        assert_true(holds >= leaf);
        exclusive += leaf;
    }
    assert_int_equal(exclusive, paths->weight);
    assert_int_equal(exclusive + bench->weights.bare_weight, bench->weights.weight);
}

static void check_roots(const Bench *bench, const Paths *paths) {
    int64_t roots = 0;
    for (uint32_t node = 1; node <= bench->set->node_count; node = bench->set->end[node]) {
        assert_int_equal(bench->set->parent[node], 0);
        roots += stack_tree_weight(&bench->tree, node);
    }
    assert_int_equal(roots, paths->weight);
}

// The neighbour that counts: of the outermost occurrence for callers, the innermost for callees.
static uint32_t neighbour_of(const Path *path, uint32_t function, bool callees, uint32_t end) {
    uint32_t at = callees ? 0 : path->count - 1;
    while (path->frames[at] != function) at = callees ? at + 1 : at - 1;
    if (callees) return at ? path->frames[at - 1] : end;
    return at + 1 < path->count ? path->frames[at + 1] : end;
}

static void check_neighbours(Bench *bench, const Paths *paths, uint32_t function, bool callees) {
    Arena arena = {0};
    uint32_t end = bench->set->function_count + 1;
    int64_t *wanted = ARENA_ARRAY(&arena, int64_t, (size_t)end + 1);
    for (size_t i = 0; i < paths->count; i++)
        if (path_holds(&paths->items[i], function))
            wanted[neighbour_of(&paths->items[i], function, callees, end)] +=
                paths->items[i].weight;
    Neighbours got = stack_neighbours(&bench->tree, function, callees, &arena);
    assert_int_equal(got.total, bench->functions[function].inclusive);
    for (size_t i = 0; i < got.count; i++) {
        const Neighbour *item = &got.items[i];
        assert_int_equal(item->weight, wanted[item->is_end ? end : item->function]);
        wanted[item->is_end ? end : item->function] = 0;
    }
    for (uint32_t f = 0; f <= end; f++) assert_int_equal(wanted[f], 0);
    arena_done(&arena);
}

static void check_row(const Paths *paths, const Chain *chain, size_t at, bool callees) {
    uint32_t frames[64], length = chain->rows[at].depth + 1;
    assert_true(length <= COUNT_OF(frames));
    for (size_t row = at, k = length; k-- > 0; row = chain->rows[row].parent)
        frames[k] = chain->rows[row].function;
    int64_t whole = 0, frame = 0;
    for (size_t i = 0; i < paths->count; i++) {
        const Path *path = &paths->items[i];
        if (path_holds_chain(path, frames, length, callees)) whole += path->weight;
        bool parent = length == 1 || path_holds_chain(path, frames, length - 1, callees);
        if (parent && path_holds(path, frames[length - 1])) frame += path->weight;
    }
    assert_int_equal(chain->rows[at].chain_weight, whole);
    assert_int_equal(chain->rows[at].frame_weight, frame);
    assert_true(frame >= whole);
    assert_true(whole <= chain->rows[chain->rows[at].parent].chain_weight);
}

static void check_chain(Bench *bench, const Paths *paths, uint32_t function, bool callees) {
    Arena arena = {0};
    ChainOptions options = {
        .callees = callees, .policy = BRANCH_ALL, .depth_max = 8, .rows_max = 60};
    Chain chain = {0};
    chain_build(&bench->tree, function, &options, &arena, &chain);
    assert_true(chain.count > 0);
    for (size_t i = 0; i < chain.count; i++) check_row(paths, &chain, i, callees);
    options.policy = BRANCH_DOMINANT;
    Chain single = {0};
    chain_build(&bench->tree, function, &options, &arena, &single);
    for (size_t i = 0; i < single.count; i++) {
        assert_int_equal(single.rows[i].depth, i);
        check_row(paths, &single, i, callees);
    }
    arena_done(&arena);
}

static void check_flame(const Bench *bench, bool compares) {
    Flame flame;
    flame_open(&flame, compares);
    flame.name = flame.baseline_name = STR("test");
    flame_add(&flame, bench->set, &bench->weights, NULL, 0);
    if (compares) flame_add(&flame, bench->set, &bench->weights, NULL, 1);
    flame_finish(&flame);
    assert_int_equal(flame.nodes.items[0].total[0], bench->weights.weight);
    assert_int_equal(flame.nodes.items[0].total[1], compares ? bench->weights.weight : 0);
    static const size_t LIMITS[] = {0, 400, 24000};
    for (size_t i = 0; i < COUNT_OF(LIMITS); i++) {
        FlameSink sink = {0};
        FlameCut cut = {0};
        flame_write(&flame, FLAME_FOLDED, LIMITS[i], &sink, &cut);
        int64_t sum = 0;
        Str rest = buf_str(&sink.text), line = {0};
        while (str_next(&rest, '\n', &line)) {
            double us = 0;
            assert_true(str_to_f64(str_slice(line, str_rfind_char(line, ' ') + 1, line.n), &us));
            sum += (int64_t)(us * 1000 + 0.5);
        }
        assert_int_equal(sum, bench->weights.weight);
        buf_done(&sink.text);
    }
    flame_close(&flame);
}

// Everything that must hold, on samples from `start_ns` on. `few`: only some functions of large
// traces are counted by hand.
static void check_all(Bench *bench, int64_t start_ns, size_t few) {
    bench_weigh(bench, start_ns);
    Paths paths = paths_of(bench);
    check_roots(bench, &paths);
    check_flame(bench, false);
    check_flame(bench, true);
    if (!few) check_functions(bench, &paths);
    size_t done = 0;
    for (uint32_t f = 0; f <= bench->set->function_count && (!few || done < few); f++) {
        if (!bench->functions[f].inclusive) continue;
        if (few && bench->functions[f].inclusive * 20 < paths.weight) continue;
        done++;
        for (int side = 0; side < 2; side++) {
            check_neighbours(bench, &paths, f, side == 1);
            check_chain(bench, &paths, f, side == 1);
        }
    }
    assert_true(done > 0);
}

// ---------------------------------------------------------------- tests

static void check_script(const char *script, int64_t start_ns) {
    Err err = {0};
    Arena arena = {0};
    Str folder = str_format(&arena, "%s/stacks-%d", ETW_BINARY_DIR, os_process_id());
    Str path = path_join(&arena, folder, STR("test.etl"));
    assert_int_equal(os_make_folders(folder, &err), OK);
    if (etl_build_script_file(str_from_c(script), path, &err) != OK) fail_msg("%s", err.text);
    Bench bench;
    bench_open(&bench, path);
    check_all(&bench, 0, 0);
    check_all(&bench, start_ns, 0);
    bench_close(&bench);
    assert_int_equal(os_remove_tree(folder, &err), OK);
    arena_done(&arena);
}

static void test_recursion_and_missing_parts(void **state) {
    (void)state;
    check_script(RECURSIVE, 14000000);
}

static void test_many_cpus(void **state) {
    (void)state;
    check_script(MANY_CPUS, 30000000);
}

static void test_real_traces(void **state) {
    (void)state;
    static const char *const NAMES[] = {"net.4.5.2.x64.etl", "net.4.5.x86.etl",
                                        "filtrace-diskio.etl"};
    Arena arena = {0};
    Str folder = shared_folder(ETW_SOURCE_DIR, "traces", &arena);
    if (!folder.n) skip();
    for (size_t i = 0; i < COUNT_OF(NAMES); i++) {
        Bench bench;
        Err err = {0};
        Str bytes = {0}, path = str_format(&arena, "%s/stacks-real-%d/%s", ETW_BINARY_DIR,
                                           os_process_id(), NAMES[i]);
        Str own = path_folder(path);
        assert_int_equal(os_make_folders(own, &err), OK);
        assert_int_equal(file_read_all(path_join(&arena, folder, str_from_c(NAMES[i])), 1 << 27,
                                       &arena, &bytes, &err),
                         OK);
        assert_int_equal(file_write_atomic(path, bytes, &err), OK);
        bench_open(&bench, path);
        check_all(&bench, 0, 12);
        bench_close(&bench);
        assert_int_equal(os_remove_tree(own, &err), OK);
    }
    arena_done(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_recursion_and_missing_parts),
        cmocka_unit_test(test_many_cpus),
        cmocka_unit_test(test_real_traces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
