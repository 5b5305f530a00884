// Files and folders: what is refused and how it is said, atomic replacement, removal that follows
// no links.
#include "base/os.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static Arena arena;
static Str folder;

static int setup(void **state) {
    (void)state;
    folder = str_format(&arena, "%s/test_os.%d", ETW_BINARY_DIR, os_process_id());
    return os_make_folders(folder, NULL) == OK ? 0 : -1;
}

static int teardown(void **state) {
    (void)state;
    Status status = os_remove_tree(folder, NULL);
    arena_done(&arena);
    return status == OK ? 0 : -1;
}

static Str in(const char *name) {
    return path_join(&arena, folder, str_from_c(name));
}

static FileInfo info_of(Str path) {
    FileInfo info;
    assert_int_equal(os_stat(path, &info, NULL), OK);
    return info;
}

static void test_refusals(void **state) {
    (void)state;
    assert_int_equal(mkfifo(str_to_c(&arena, in("pipe")), 0600), 0);
    static const struct {
        const char *name;
        Status status;
        const char *says;
    } CASES[] = {
        {"missing",       ERR_NOT_FOUND, "missing"      },
        {"missing/below", ERR_NOT_FOUND, "missing/below"},
        {"",              ERR_INPUT,     "folder"       },
        {"pipe",          ERR_INPUT,     "regular"      }, // and does not wait for a writer
    };
    for (size_t i = 0; i < COUNT_OF(CASES); i++) {
        Str path = CASES[i].name[0] ? in(CASES[i].name) : folder;
        File *file = NULL;
        Err err = {0};
        assert_int_equal(file_open(path, &file, &err), CASES[i].status);
        assert_non_null(strstr(err.text, CASES[i].says));
    }
    File *file = NULL;
    Str with_zero = {"a\0b", 3};
    Str too_long = {arena_alloc(&arena, 10000), 10000};
    memset((void *)(uintptr_t)too_long.p, 'x', 10000);
    assert_int_equal(file_open((Str){0}, &file, NULL), ERR_ARG);
    assert_int_equal(file_open(with_zero, &file, NULL), ERR_ARG);
    assert_int_equal(file_open(too_long, &file, NULL), ERR_ARG);
}

static void test_write_and_read(void **state) {
    (void)state;
    Str path = in("data");
    Err err = {0};
    Str back;
    assert_int_equal(file_write_atomic(path, STR("first, longer text"), &err), OK);
    assert_int_equal(file_write_atomic(path, STR("second"), &err), OK);
    assert_int_equal(file_read_all(path, 6, &arena, &back, &err), OK);
    assert_true(str_eq(back, STR("second")));
    assert_int_equal(file_read_all(path, 5, &arena, &back, &err), ERR_LIMIT);
    AUTO(file_close) File *file = NULL;
    assert_int_equal(file_open(path, &file, &err), OK);
    char bytes[10];
    size_t got = 99;
    assert_int_equal(file_read_at(file, 4, bytes, sizeof bytes, &got, &err), OK);
    assert_int_equal(got, 2);
    assert_memory_equal(bytes, "nd", 2);
    assert_int_equal(file_read_at(file, 100, bytes, sizeof bytes, &got, &err), OK);
    assert_int_equal(got, 0);
    // Nothing temporary is left beside it, and a folder that is not there is an error.
    NameList names = {0};
    assert_int_equal(os_list_folder(folder, &arena, &names, &err), OK);
    for (size_t i = 0; i < names.count; i++)
        assert_true(!str_starts(names.items[i], STR("data")) || names.items[i].n == 4);
    assert_int_not_equal(file_write_atomic(in("no/where"), STR("x"), &err), OK);
    assert_false(info_of(in("no")).exists);
}

static void test_remove_tree_follows_no_links(void **state) {
    (void)state;
    assert_int_equal(os_make_folders(in("kept"), NULL), OK);
    assert_int_equal(file_write_atomic(in("kept/file"), STR("x"), NULL), OK);
    assert_int_equal(os_make_folders(in("gone/a/b/c"), NULL), OK);
    assert_int_equal(os_make_folders(in("gone/a/b/c"), NULL), OK); // again is no error
    assert_int_equal(file_write_atomic(in("gone/a/file"), STR("x"), NULL), OK);
    assert_int_equal(symlink("../kept", str_to_c(&arena, in("gone/link"))), 0);
    assert_int_equal(symlink("../nowhere", str_to_c(&arena, in("gone/broken"))), 0);
    assert_int_equal(os_remove_tree(in("gone"), NULL), OK);
    assert_false(info_of(in("gone")).exists);
    assert_true(info_of(in("kept/file")).is_file);
    assert_int_equal(os_remove_tree(in("gone"), NULL), OK);
    assert_int_not_equal(os_make_folders(in("kept/file/below"), NULL), OK);
}

static void test_paths(void **state) {
    (void)state;
    static const struct {
        const char *path, *name, *stem, *folder;
    } CASES[] = {
        {"a/b.etl",      "b.etl",   "b",       "a"    },
        {"b.etl",        "b.etl",   "b",       "."    },
        {"a/b.c.etl",    "b.c.etl", "b.c",     "a"    },
        {"C:\\x\\y.dll", "y.dll",   "y",       "C:\\x"},
        {"a/.hidden",    ".hidden", ".hidden", "a"    },
    };
    for (size_t i = 0; i < COUNT_OF(CASES); i++) {
        Str path = str_from_c(CASES[i].path);
        assert_true(str_eq(path_name(path), str_from_c(CASES[i].name)));
        assert_true(str_eq(path_stem(path), str_from_c(CASES[i].stem)));
        assert_true(str_eq(path_folder(path), str_from_c(CASES[i].folder)));
    }
    Str real;
    assert_int_equal(file_write_atomic(in("real"), STR("x"), NULL), OK);
    assert_int_equal(symlink("real", str_to_c(&arena, in("alias"))), 0);
    assert_int_equal(os_real_path(in("alias"), &arena, &real, NULL), OK);
    assert_true(str_ends(real, STR("/real")));
    assert_int_equal(os_real_path(in("nothing"), &arena, &real, NULL), ERR_NOT_FOUND);
    assert_true(
        str_eq(os_wall_text(&arena, INT64_C(951827696) * 1000000000), STR("2000-02-29T12:34:56Z")));
}

static void test_process(void **state) {
    (void)state;
    assert_true(os_process_alive(os_process_id()));
    assert_false(os_process_alive(0x3FFFFFFF));
    assert_true(os_cpu_count() >= 1 && os_memory_bytes() > 0 && os_peak_memory_bytes() > 0);
    uint64_t before = os_now_ns();
    assert_true(os_now_ns() >= before);
    assert_int_equal(os_env("ETW_TEST_NO_SUCH_VARIABLE").n, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_write_and_read),
        cmocka_unit_test(test_remove_tree_follows_no_links),
        cmocka_unit_test(test_paths),
        cmocka_unit_test(test_process),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
