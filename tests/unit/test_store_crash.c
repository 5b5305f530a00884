// Killed writers, full disks, several processes: afterwards there is the old database or none, and
// the next load works.
#include "support/store_fill.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

static void sleep_us(long us) {
    (void)nanosleep(&(struct timespec){.tv_nsec = us * 1000}, NULL);
}

static size_t count_generations(StoreCase *c) {
    NameList names;
    size_t count = 0;
    if (os_list_folder(c->folder, &c->arena, &names, NULL) != OK) return 0;
    for (size_t i = 0; i < names.count; i++) count += names.items[i].p[0] == 'g';
    return count;
}

// Writes `rows` samples again and again until killed. Runs in a child, so failures are exit codes.
static _Noreturn void child_write(const StoreCase *c, uint64_t rows, unsigned times) {
    for (unsigned i = 0; i < times; i++) {
        StoreWriter *writer = NULL;
        Rows out;
        if (store_writer_open(c->folder, &c->identity, &writer, NULL) != OK) _exit(2);
        rows_init(&out, store_writer_sink(writer));
        fill_rows(&out, T_SAMPLE, 0, rows);
        fill_rows(&out, T_PROCESS, 0, rows / 10);
        if (rows_flush(&out, NULL) != OK) _exit(3);
        if (store_commit(writer, STR("auto"), NULL, NULL) != OK) _exit(4);
        store_writer_close(writer);
    }
    _exit(0);
}

static int64_t count_samples(StoreCase *c) {
    Database *database = NULL;
    Err err = {0};
    if (database_open(c->folder, NULL, &database, &err) != OK) fail_msg("%s", err.text);
    int64_t count = case_number(c, database, "SELECT count(*) FROM sample");
    database_close(database);
    return count;
}

static void killed_writers_leave_old_or_new(void **state) {
    (void)state;
    enum { ROUNDS = 25, OLD_ROWS = 1000, NEW_ROWS = 20000 };
    static const TableId TABLE = T_SAMPLE;
    StoreCase c;
    case_open(&c);
    case_write(&c, &TABLE, 1, OLD_ROWS);
    unsigned seen_old = 0, seen_new = 0;
    for (unsigned i = 0; i < ROUNDS; i++) {
        (void)fflush(NULL);
        pid_t pid = fork();
        if (pid == 0) child_write(&c, NEW_ROWS, 1000);
        sleep_us((long)(u64_hash(i) % 400000));
        assert_int_equal(kill(pid, SIGKILL), 0);
        assert_int_equal(waitpid(pid, NULL, 0), pid);
        Str why = {0};
        StoreState found = case_state(&c, &why);
        if (found != STORE_VALID) fail_msg("round %u: " STR_FMT, i, STR_ARG(why));
        int64_t count = count_samples(&c);
        assert_true(count == OLD_ROWS || count == NEW_ROWS);
        seen_old += count == OLD_ROWS;
        seen_new += count == NEW_ROWS;
        if (count == NEW_ROWS) case_write(&c, &TABLE, 1, OLD_ROWS);
    }
    print_message("old %u, new %u\n", seen_old, seen_new);
    case_write(&c, &TABLE, 1, OLD_ROWS);
    assert_int_equal(count_generations(&c), 1); // what the killed ones left is gone
    case_close(&c);
}

static void a_killed_first_load_leaves_none(void **state) {
    (void)state;
    static const TableId TABLE = T_SAMPLE;
    StoreCase c;
    case_open(&c);
    (void)fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        StoreWriter *writer = NULL;
        Rows out;
        if (store_writer_open(c.folder, &c.identity, &writer, NULL) != OK) _exit(2);
        rows_init(&out, store_writer_sink(writer));
        fill_rows(&out, T_SAMPLE, 0, 5 * ROW_GROUP_ROWS);
        (void)kill(getpid(), SIGKILL);
        _exit(3);
    }
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status));
    Str why;
    assert_int_equal(case_state(&c, &why), STORE_NONE);
    assert_int_equal(count_generations(&c), 1);
    case_write(&c, &TABLE, 1, 10);
    assert_int_equal(case_state(&c, &why), STORE_VALID);
    assert_int_equal(count_generations(&c), 1);
    case_close(&c);
}

static void closing_without_commit_leaves_nothing(void **state) {
    (void)state;
    static const TableId TABLE = T_SAMPLE;
    StoreCase c;
    case_open(&c);
    case_write(&c, &TABLE, 1, 10);
    StoreWriter *writer = NULL;
    Rows rows;
    assert_int_equal(store_writer_open(c.folder, &c.identity, &writer, NULL), OK);
    rows_init(&rows, store_writer_sink(writer));
    fill_rows(&rows, T_SAMPLE, 0, 5 * ROW_GROUP_ROWS);
    rows_done(&rows);
    assert_int_equal(count_generations(&c), 2);
    store_writer_close(writer);
    assert_int_equal(count_generations(&c), 1);
    assert_int_equal(count_samples(&c), 10);
    case_close(&c);
}

static void readers_keep_their_generation(void **state) {
    (void)state;
    static const TableId TABLE = T_SAMPLE;
    StoreCase c;
    case_open(&c);
    case_write(&c, &TABLE, 1, 10);
    Database *old = NULL, *new = NULL;
    assert_int_equal(database_open(c.folder, NULL, &old, NULL), OK);
    case_write(&c, &TABLE, 1, 20);
    assert_int_equal(count_generations(&c), 2);
    assert_int_equal(case_number(&c, old, "SELECT count(*) FROM sample"), 10);
    assert_int_equal(database_open(c.folder, NULL, &new, NULL), OK);
    assert_int_equal(case_number(&c, new, "SELECT count(*) FROM sample"), 20);
    database_close(old);
    assert_int_equal(count_generations(&c), 1);
    assert_int_equal(case_number(&c, new, "SELECT count(*) FROM sample"), 20);
    database_close(new);
    case_close(&c);
}

// One process writes while this one opens and reads.
static void readers_and_writers_meet(void **state) {
    (void)state;
    enum { ROWS = 3000, OPENS = 40 };
    static const TableId TABLE = T_SAMPLE;
    StoreCase c;
    case_open(&c);
    case_write(&c, &TABLE, 1, ROWS);
    (void)fflush(NULL);
    pid_t pids[2];
    for (unsigned i = 0; i < 2; i++) {
        pids[i] = fork();
        if (pids[i] == 0) child_write(&c, ROWS, 1000000);
    }
    for (unsigned i = 0; i < OPENS; i++) assert_int_equal(count_samples(&c), ROWS);
    for (unsigned i = 0; i < 2; i++) {
        int status = 0;
        assert_int_equal(kill(pids[i], SIGKILL), 0);
        assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
        if (!WIFSIGNALED(status)) fail_msg("a writer failed by itself: %d", WEXITSTATUS(status));
    }
    assert_int_equal(count_samples(&c), ROWS);
    case_close(&c);
}

// Needs a small file system: ETW_SMALL_DISK names one, root makes one.
static bool small_disk(StoreCase *c, Str *folder) {
    *folder = os_env("ETW_SMALL_DISK");
    if (folder->n) return true;
    *folder = case_path(c, "small");
    if (geteuid() != 0 || os_make_folders(*folder, NULL) != OK) return false;
    Str command = str_format(&c->arena, "mount -t tmpfs -o size=4m tmpfs " STR_FMT " 2>/dev/null",
                             STR_ARG(*folder));
    return system(command.p) == 0; // NOLINT: a fixed command of the test
}

static void full_disks_are_said(void **state) {
    (void)state;
    StoreCase c, small;
    Str folder;
    case_open(&c);
    if (!small_disk(&c, &folder)) {
        print_message("skipped: no small file system (set ETW_SMALL_DISK or run as root)\n");
        case_close(&c);
        skip();
    }
    case_open_in(&small, folder.p, "");
    static const TableId TABLE = T_SAMPLE;
    case_write(&small, &TABLE, 1, 1000);
    StoreWriter *writer = NULL;
    Rows rows;
    Err err = {0};
    assert_int_equal(store_writer_open(small.folder, &small.identity, &writer, NULL), OK);
    rows_init(&rows, store_writer_sink(writer));
    fill_rows(&rows, T_SAMPLE, 0, 5 * ROW_GROUP_ROWS);
    Status status = rows_flush(&rows, &err);
    if (status == OK) status = store_commit(writer, STR("auto"), NULL, &err);
    print_message("%s\n", err.text);
    assert_int_equal(status, ERR_IO);
    assert_non_null(strstr(err.text, "o space left"));
    store_writer_close(writer);
    assert_int_equal(count_samples(&small), 1000); // the old one is still there
    case_write(&small, &TABLE, 1, 2000);           // and its room is free again
    case_close(&small);
    if (!os_env("ETW_SMALL_DISK").n) {
        Str command = str_format(&c.arena, "umount " STR_FMT, STR_ARG(folder));
        assert_int_equal(system(command.p), 0); // NOLINT
    }
    case_close(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(killed_writers_leave_old_or_new),
        cmocka_unit_test(a_killed_first_load_leaves_none),
        cmocka_unit_test(closing_without_commit_leaves_nothing),
        cmocka_unit_test(readers_keep_their_generation),
        cmocka_unit_test(readers_and_writers_meet),
        cmocka_unit_test(full_disks_are_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
