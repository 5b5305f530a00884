// Child processes: how they end, that they can be ended, that their memory is limited.
#include "base/os.h"
#include "base/os_process.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const uint64_t LONG_NS = UINT64_C(60000000000);

static int run_shell(const char *script, uint64_t memory_bytes) {
    Str args[] = {STR("/bin/sh"), STR("-c"), str_from_c(script)};
    AUTO(process_close) Process *process = NULL;
    Err err = {0};
    int code = -1;
    assert_int_equal(process_start(args, COUNT_OF(args), memory_bytes, &process, &err), OK);
    assert_true(process_wait(process, LONG_NS, &code));
    return code;
}

static void test_exit_codes(void **state) {
    (void)state;
    assert_int_equal(run_shell("exit 0", 0), 0);
    assert_int_equal(run_shell("exit 3", 0), 3);
    assert_int_equal(run_shell("kill -9 $$", 0), 128 + 9);
    assert_int_equal(run_shell("read x && exit 1; exit 5", 0), 5); // nothing to read
}

static void test_can_be_ended(void **state) {
    (void)state;
    Str args[] = {STR("/bin/sh"), STR("-c"), STR("sleep 1000")};
    Process *process = NULL;
    int code = -1;
    uint64_t start = os_now_ns();
    assert_int_equal(process_start(args, COUNT_OF(args), 0, &process, NULL), OK);
    assert_false(process_wait(process, 1000000, &code));
    process_close(process);
    assert_true(os_now_ns() - start < LONG_NS);
}

static void test_refuses(void **state) {
    (void)state;
    Str missing[] = {STR("/nowhere/program")};
    Process *process = NULL;
    Err err = {0};
    assert_int_equal(process_start(missing, 1, 0, &process, &err), ERR_IO);
    assert_non_null(strstr(err.text, "/nowhere/program"));
    assert_int_equal(process_start(missing, 0, 0, &process, &err), ERR_ARG);
    assert_int_equal(process_start(missing, PROCESS_ARGS_MAX + 1, 0, &process, &err), ERR_ARG);
}

static void test_memory_limit(void **state) {
    (void)state;
    // A shell variable of 64 MB does not fit into 16 MB.
    static const char GROW[] = "x=0123456789abcdef; i=0; "
                               "while [ $i -lt 22 ]; do x=$x$x; i=$((i+1)); done; exit 0";
    assert_int_not_equal(run_shell(GROW, 16 << 20), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exit_codes),
        cmocka_unit_test(test_can_be_ended),
        cmocka_unit_test(test_refuses),
        cmocka_unit_test(test_memory_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
