// Decoding from bytes to rows on traces built for the purpose (synthetic): lives, images over time,
// stacks from their parts, who runs. Real traces stand at the end.
#include "decode_rows.h"

#include "base/os.h"

#include <fcntl.h>
#include <pthread.h>

typedef struct Case {
    const char *name, *script, *what, *expected;
} Case;

// clang-format off
static const Case CASES[] = {
    {
     "start and end rundown and both ends of a life",
     "trace cpus=1\n"
     "process rundown 0ms pid=100 name=old.exe\n"
     "process start 5ms pid=200 parent=100 name=new.exe cmd=\"new.exe -x\" sid=S-1-5-18\n"
     "process end 9ms pid=200 parent=100 name=new.exe exit=7\n"
     "process rundown-end 20ms pid=100 name=old.exe\n"
     "process rundown-end 20ms pid=300 name=late.exe\n",
     "process: pid name start_ns end_ns exit_status user_sid parent_upid origin",
     "100 old.exe - - - - - rundown\n"
     "200 new.exe 5000000 9000000 7 S-1-5-18 1 start\n"
     "300 late.exe - - - - - rundown\n"
     "4200 - - - - - - inferred\n"},
    {"a process id used twice gives two lives",
     "trace cpus=1\n"
     "process start 1ms pid=100 name=a.exe\n"
     "process end 2ms pid=100 name=a.exe\n"
     "process start 3ms pid=100 name=b.exe\n"
     "sample 1.5ms tid=7 ip=0x1000\n"
     "thread start 1ms pid=100 tid=7\n"
     "thread end 2ms pid=100 tid=7\n"
     "thread start 3ms pid=100 tid=7\n"
     "sample 3.5ms tid=7 ip=0x1000\n",
     "sample: ts_ns upid utid", "1500000 1 1\n3500000 2 2\n"},
    {"a thread id that moves to another process",
     "trace cpus=1\n"
     "process rundown 0ms pid=100 name=a.exe\n"
     "process rundown 0ms pid=200 name=b.exe\n"
     "thread rundown 0ms pid=100 tid=7\n"
     "thread start 5ms pid=200 tid=7\n",
     "thread: tid pid start_ns end_ns upid",
     "4242 4200 - - 3\n7 100 - 5000000 1\n7 200 5000000 - 2\n"},
    {"who is only mentioned is inferred",
     "trace cpus=1\n"
     "sample 1ms tid=9 ip=0x1000\n"
     "disk read 2ms bytes=512 tid=9 by=9 by_pid=90\n",
     "thread: tid pid origin", "4242 4200 inferred\n9 90 inferred\n"},
    {"one idle thread for all processors",
     "trace cpus=2\n"
     "cswitch 1ms cpu=0 new=5 old=0\n"
     "cswitch 1ms cpu=1 new=6 old=0\n",
     "process: pid name origin", "0 Idle inferred\n4200 - inferred\n"},
    {"one address, two images one after the other",
     "trace cpus=1\n"
     "process rundown 0ms pid=100 name=a.exe\n"
     "thread rundown 0ms pid=100 tid=7\n"
     "image load 1ms pid=100 base=0x10000 size=0x1000 name=\\Device\\X\\first.dll timestamp=1\n"
     "image unload 3ms pid=100 base=0x10000 size=0x1000 name=\\Device\\X\\first.dll "
     "timestamp=1\n"
     "image load 4ms pid=100 base=0x10000 size=0x2000 name=\\Device\\X\\second.dll "
     "timestamp=2\n"
     "sample 2ms tid=7 ip=0x10020\n"
     "sample 5ms tid=7 ip=0x10020\n"
     "sample 5.5ms tid=7 ip=0x90000\n",
     "sample: ts_ns frame_id",
     "2000000 100000020\n5000000 200000020\n5500000 8000000000090000\n"},
    {"kernel images of the end rundown cover the whole trace",
     "trace cpus=1\n"
     "sample 1ms tid=7 ip=0xfffff80000001234\n"
     "image rundown-end 9ms pid=0 base=0xfffff80000000000 size=0x10000 "
     "name=\\SystemRoot\\k.sys\n",
     "sample: frame_id", "100001234\n"},
    {"flags and interval of samples",
     "trace cpus=1\n"
     "interval start 0ms interval=10000\n"
     "interval change 5ms interval=1250 old_interval=10000\n"
     "sample 1ms tid=0 ip=0xfffff80000001234\n"
     "sample 2ms tid=0 ip=0xfffff80000001234 flags=1\n"
     "sample 6ms tid=7 ip=0x1000 count=3\n",
     "sample: ts_ns weight_ns ticks in_dpc in_isr is_idle",
     "1000000 1000000 1 0 0 1\n2000000 1000000 1 1 0 0\n6000000 375000 3 0 0 0\n"},
    {"kernel and user parts become one stack, whoever logs them",
     "trace cpus=2\n"
     "process rundown 0ms pid=100 name=a.exe\n"
     "thread rundown 0ms pid=100 tid=7\n"
     "sample 1ms cpu=0 tid=7 ip=0xfffff80000000010\n"
     "stack walk 1.1ms cpu=0 event=1ms pid=100 tid=7 "
     "frames=0xfffff80000000010,0xfffff80000000020\n"
     "stack walk 8ms cpu=1 event=1ms pid=100 tid=7 frames=0x1000,0x2000\n",
     "stack: stack_id parent_id depth frame_id",
     "1 - 1 8000000000002000\n2 1 2 8000000000001000\n3 2 3 fffff80000000020\n"
     "4 3 4 fffff80000000010\n"},
    {"a stack goes to the event of its thread, not to a stranger of the same time",
     "trace cpus=2\n"
     "sample 1ms cpu=0 tid=7 ip=0x1000\n"
     "sample 1ms cpu=1 tid=8 ip=0x1000\n"
     "stack walk 2ms cpu=1 event=1ms pid=100 tid=8 frames=0x1000\n"
     "stack walk 2ms cpu=0 event=1ms pid=100 tid=9 frames=0x1000\n",
     "sample: cpu stack_id", "0 -\n1 1\n"},
    {"a key means its first definition after the use",
     "trace cpus=1\n"
     "sample 1ms tid=7 ip=0x1000\n"
     "stack kernel 1ms event=1ms pid=100 tid=7 key=0x50\n"
     "stack delete 2ms key=0x50 frames=0xfffff80000000010\n"
     "sample 3ms tid=7 ip=0x1000\n"
     "stack kernel 3ms event=3ms pid=100 tid=7 key=0x50\n"
     "sample 5ms tid=7 ip=0x1000\n"
     "stack kernel 5ms event=5ms pid=100 tid=7 key=0x60\n"
     "stack rundown 9ms key=0x50 frames=0xfffff80000000020\n",
     "sample: ts_ns stack_id", "1000000 1\n3000000 2\n5000000 -\n"},
    {"records of stacks at the first and the last time there is",
     "trace cpus=1\n"
     "sample 1ms tid=7 ip=0x1000 stack=0x1000\n"
     "event 2ms hook=0x1820 version=2 "
     "payload=000000000000008064000000070000001000000000F8FFFF\n"
     "event 3ms hook=0x1820 version=2 "
     "payload=FFFFFFFFFFFFFF7F64000000070000001000000000F8FFFF\n",
     "sample: ts_ns stack_id", "1000000 2\n"},
    {"undefined keys are counted",
     "trace cpus=1\n"
     "sample 5ms tid=7 ip=0x1000\n"
     "stack kernel 5ms event=5ms pid=100 tid=7 key=0x60\n",
     "decode_issue: kind severity count", "stack_key_undefined data_loss 1\n"},
    {"the waker is who runs on the processor, unless a DPC did it",
     "trace cpus=1\n"
     "thread rundown 0ms pid=100 tid=7\n"
     "thread rundown 0ms pid=100 tid=8\n"
     "thread rundown 0ms pid=100 tid=9\n"
     "ready 1ms tid=8\n"
     "cswitch 2ms new=9 old=7\n"
     "ready 3ms tid=8\n"
     "ready 4ms tid=8 flags=1\n",
     "ready_thread: ts_ns tid waker_utid in_dpc",
     "1000000 8 1 0\n3000000 8 3 0\n4000000 8 - 1\n"},
    {"a cut record of a life is counted",
     "trace cpus=1\n"
     "process start 1ms pid=100 name=a.exe cut=20\n"
     "thread start 1ms pid=100 tid=7 cut=30\n"
     "process start 2ms pid=200 name=b.exe\n",
     "decode_issue: kind count", "short_payload 2\n"},
    {"a short payload is counted and its neighbours are kept",
     "trace cpus=1\n"
     "sample 1ms tid=7 ip=0x1000 cut=9\n"
     "sample 2ms tid=7 ip=0x1000\n",
     "decode_issue: kind count", "short_payload 1\n"},
    {"file names by time, volumes to letters",
     "trace cpus=1\n"
     "system volume 0ms nt=\\Device\\HarddiskVolume3\\ dos=C:\\\n"
     "file name-create 1ms key=0x10 name=\\Device\\HarddiskVolume3\\one.txt\n"
     "file rundown 9ms key=0x10 name=\\Device\\HarddiskVolume3\\two.txt\n"
     "disk read 2ms key=0x10 bytes=512 tid=7\n"
     "disk read 3ms key=0x20 bytes=512 tid=7\n",
     "disk_io: ts_ns file", "2000000 C:\\one.txt\n3000000 -\n"},
};
// clang-format on

static void write_script(const char *script, const char *path) {
    Err err = {0};
    if (etl_build_script_file(str_from_c(script), str_from_c(path), &err) != OK)
        fail_msg("%s\n%s", err.text, script);
}

static void test_cases(void **state) {
    (void)state;
    char path[] = "/tmp/etw-test-decode-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    (void)close(fd);
    int wrong = 0;
    for (size_t i = 0; i < COUNT_OF(CASES); i++) {
        write_script(CASES[i].script, path);
        for (unsigned workers = 1; workers <= 2; workers++) {
            DecodeSummary summary;
            Collected all = decode_file(path, workers, &summary);
            Buf got = {0};
            rows_text(&all, CASES[i].what, &got);
            if (!str_eq(buf_str(&got), str_from_c(CASES[i].expected))) {
                print_error("%s (%u workers)\nexpected:\n%sgot:\n%s\n", CASES[i].name, workers,
                            CASES[i].expected, got.n ? got.p : "");
                wrong++;
            }
            buf_done(&got);
            collected_done(&all);
        }
    }
    (void)unlink(path);
    assert_int_equal(wrong, 0);
}

// ---------------------------------------------------------------- real traces

static bool shared_path(const char *name, char *out, size_t size) {
    const char *root = getenv("ETW_SHARED");
    (void)snprintf(out, size, "%s/traces/%s", root ? root : ETW_SOURCE_DIR "/../shared", name);
    return access(out, R_OK) == 0;
}

typedef struct RealTrace {
    const char *name;
    uint64_t samples, unpaired, unresolved;
} RealTrace;

// Counts of the traces' README.
static const RealTrace REAL[] = {
    {"net.4.5.2.x64.etl", 79528, 0, 0},
    {"net.4.5.x86.etl",   16865, 0, 0},
};

static void test_real_traces(void **state) {
    (void)state;
    char path[1024];
    for (size_t i = 0; i < COUNT_OF(REAL); i++) {
        if (!shared_path(REAL[i].name, path, sizeof path)) {
            print_message("skipped: %s is not here\n", path);
            skip();
        }
        DecodeSummary summary;
        Collected all = decode_file(path, 2, &summary);
        assert_int_equal(summary.rows[T_SAMPLE], REAL[i].samples);
        assert_int_equal(summary.data_loss_issues, 0);
        Buf issues = {0};
        rows_text(&all, "decode_issue: kind", &issues);
        assert_string_equal(issues.p ? issues.p : "", "");
        buf_done(&issues);
        collected_done(&all);
    }
}

// Nothing may depend on how many threads decoded.
static void test_same_rows_with_any_workers(void **state) {
    (void)state;
    char path[1024];
    if (!shared_path("net.4.5.2.x64.etl", path, sizeof path)) {
        print_message("skipped: %s is not here\n", path);
        skip();
    }
    static const char *const TABLES[] = {
        "sample: ts_ns seq cpu upid utid frame_id stack_id weight_ns",
        "stack: stack_id parent_id frame_id",
        "frame: frame_id address image_id method_id",
        "event_class: class_id id hook events bytes stacks",
        "disk_io: ts_ns file stack_id utid",
        "thread: utid upid tid start_ns end_ns",
        "image: image_id module_id upid base"};
    DecodeSummary summary;
    Collected one = decode_file(path, 1, &summary), many = decode_file(path, 3, &summary);
    for (size_t i = 0; i < COUNT_OF(TABLES); i++) {
        Buf a = {0}, b = {0};
        rows_text(&one, TABLES[i], &a);
        rows_text(&many, TABLES[i], &b);
        assert_true(a.n > 0);
        if (!str_eq(buf_str(&a), buf_str(&b))) fail_msg("%s differs", TABLES[i]);
        buf_done(&a);
        buf_done(&b);
    }
    collected_done(&one);
    collected_done(&many);
}

// ---------------------------------------------------------------- files that change

typedef struct Vandal {
    const char *path;
    const Str *states; // of the file, written over it in turns
    atomic_bool stop;
} Vandal;

static void *vandalize(void *context) {
    Vandal *vandal = context;
    for (uint64_t i = 0; !atomic_load(&vandal->stop); i++) {
        Str bytes = vandal->states[i % 2];
        int fd = open(vandal->path, O_WRONLY);
        if (fd < 0) break;
        (void)!pwrite(fd, bytes.p, bytes.n, 0);
        if (i % 3 == 0) (void)!ftruncate(fd, (off_t)(u64_hash(i) % bytes.n));
        (void)close(fd);
    }
    return NULL;
}

// The file is read twice, and in between it may become another one: rows or a sentence, never the
// end of the program.
static void test_file_changes_while_it_is_read(void **state) {
    (void)state;
    enum { ROUNDS = 40 };
    static const char FIRST[] =
        "trace cpus=2\nprocess rundown 0ms pid=100 name=a.exe\n"
        "thread rundown 0ms pid=100 tid=7\n"
        "repeat 40000 every 1us from 1ms {\nsample 0ms tid=7 ip=0x1000\n}\n";
    static const char SECOND[] = "trace cpus=1\ndisk read 1ms bytes=512 tid=9\n"
                                 "repeat 40000 every 1us from 1ms {\ncswitch 0ms new=5 old=0\n}\n"
                                 "file rundown 9ms key=0x10 name=\\Device\\X\\two.txt\n";
    char path[] = "/tmp/etw-test-decode-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    (void)close(fd);
    AUTO(arena_done) Arena arena = {0};
    Str states[2];
    static const char *const SCRIPTS[] = {FIRST, SECOND};
    for (size_t i = 0; i < 2; i++) {
        write_script(SCRIPTS[i], path);
        assert_int_equal(file_read_all(str_from_c(path), 1 << 24, &arena, &states[i], NULL), OK);
    }
    Vandal vandal = {.path = path, .states = states};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, vandalize, &vandal), 0);
    unsigned outcomes[2] = {0};
    for (unsigned i = 0; i < ROUNDS; i++) {
        AUTO(etl_close) EtlFile *file = NULL;
        Err err = {0};
        if (etl_open(str_from_c(path), &file, &err) != OK) continue;
        Collected all = {.sink = {.push = collect}, .lock = PTHREAD_MUTEX_INITIALIZER};
        DecodeOptions options = {.workers = 1 + i % 2};
        DecodeSummary summary;
        Status status = decode_trace(file, STR("x.etl"), &options, &all.sink, NULL, &summary, &err);
        if (status != OK) assert_true(err.text[0] != 0);
        outcomes[status == OK]++;
        collected_done(&all);
    }
    atomic_store(&vandal.stop, true);
    (void)pthread_join(thread, NULL);
    (void)unlink(path);
    print_message("%u read as something, %u refused\n", outcomes[1], outcomes[0]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cases),
        cmocka_unit_test(test_real_traces),
        cmocka_unit_test(test_same_rows_with_any_workers),
        cmocka_unit_test(test_file_changes_while_it_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
