// Damaged and hostile symbol files: what is said of each, in how much time and memory.
#define _GNU_SOURCE // wait4
#include "support/pdb_build.h"
#include "support/shared_data.h"
#include "sym/pdb_report.h"
#include "sym/sym.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum {
    CPU_MS = 1000,
    MEMORY_KIB = 64 << 10,
    EXIT_WRONG = 3,
};

#if defined(__SANITIZE_ADDRESS__)
static const bool MEASURES = false; // the sanitizer's own would be counted
#else
static const bool MEASURES = true;
#endif

typedef struct HostileCase {
    const char *file;
    const char *says; // part of the error; NULL: opens
    int functions;    // at least; only when it opens
} HostileCase;

static const HostileCase CASES[] = {
    {"01-empty.pdb",                    "an empty file",                 0 },
    {"02-magic-only.pdb",               "ends inside the MSF header",    0 },
    {"03-blocksize-0.pdb",              "page size of 0",                0 },
    {"04-blocksize-3000.pdb",           "page size of 3000",             0 },
    {"05-blocksize-2g.pdb",             "page size of",                  0 },
    {"06-dirsize-ffff.pdb",             "directory of 4294967295 bytes", 0 },
    {"07-dirsize-3.pdb",                "directory of 3 bytes",          0 },
    {"08-mappage-oob.pdb",              "outside the file",              0 },
    {"09-numpages-big.pdb",             NULL,                            10},
    {"10-truncated.pdb",                "outside the file",              0 },
    {"11-dirpage-oob.pdb",              "outside the file",              0 },
    {"12-nstreams-4g.pdb",              "cannot hold",                   0 },
    {"13-nstreams-big.pdb",             "cannot hold",                   0 },
    {"14-streamsize-2g.pdb",            "claims",                        0 },
    {"15-streampage-oob.pdb",           "outside the file",              0 },
    {"16-page-reuse.pdb",               NULL,                            0 },
    {"20-dbi-neg-sizes.pdb",            "parts of the DBI stream",       0 },
    {"21-dbi-sum-overflow.pdb",         "parts of the DBI stream",       0 },
    {"22-dbi-short.pdb",                "DBI stream",                    0 },
    {"23-dbi-empty.pdb",                NULL,                            0 },
    {"24-module-stream-oob.pdb",        NULL,                            1 },
    {"25-module-symsize-big.pdb",       NULL,                            1 },
    {"26-module-name-unterminated.pdb", NULL,                            1 },
    {"30-symrec-len0.pdb",              NULL,                            1 },
    {"31-symrec-len-ffff.pdb",          NULL,                            1 },
    {"32-pub-segment-oob.pdb",          NULL,                            10},
    {"33-pub-offset-wrap.pdb",          NULL,                            10},
    {"34-pub-name-unterminated.pdb",    NULL,                            1 },
    {"35-proc-end-self.pdb",            NULL,                            10},
    {"36-proc-end-oob.pdb",             NULL,                            10},
    {"40-c13-size-big.pdb",             NULL,                            10},
    {"41-lineblock-size0.pdb",          NULL,                            10},
    {"42-linecount-overflow.pdb",       NULL,                            10},
    {"43-file-offset-oob.pdb",          NULL,                            10},
    {"50-named-keys-big.pdb",           NULL,                            10},
    {"51-info-short.pdb",               "info stream",                   0 },
    {"52-named-count-big.pdb",          NULL,                            10},
    {"60-msfz-ok.pdb",                  NULL,                            10},
    {"61-msfz-version1.pdb",            "version 1",                     0 },
    {"62-msfz-trunc.pdb",               "is not possible",               0 },
    {"63-msfz-diru-4g.pdb",             "directory of 4294967295 bytes", 0 },
    {"64-msfz-nchunks.pdb",             "is not possible",               0 },
    {"65-msfz-dirkind9.pdb",            "does not decompress",           0 },
    {"66-msfz-chunk-bomb.pdb",          "is not possible",               0 },
    {"67-msfz-chunk-short.pdb",         "does not decompress",           0 },
    {"68-msfz-chunk-kind7.pdb",         "is not possible",               0 },
    {"69-msfz-chunk-offset.pdb",        "is not possible",               0 },
    {"70-msfz-frag-chunk-oob.pdb",      "fragments of stream",           0 },
    {"71-msfz-numstreams0.pdb",         "cannot hold 0 streams",         0 },
    {"72-msfz-numstreams-big.pdb",      "cannot hold",                   0 },
    {"73-msfz-zeros-64m.pdb",           NULL,                            0 }, // 64 MB of zeros: legal
    {"80-msf2.pdb",                     "before 2002",                   0 },
    {"81-bsjb.pdb",                     "portable PDB",                  0 },
    {"82-html.pdb",                     "text, not a symbol file",       0 },
    {"83-mscf.pdb",                     "damaged cabinet",               0 },
};

static int check_file(Str path, const HostileCase *c) {
    AUTO(symfile_close) SymFile *file = NULL;
    Err err = {0};
    Status status = symfile_open(path, NULL, &file, &err);
    if (status != OK) {
        if (c->says && str_find(str_from_c(err.text), str_from_c(c->says)) != SIZE_MAX) return 0;
        printf("%s: says %s\n", c->file, err.text);
        return EXIT_WRONG;
    }
    uint32_t count = symtab_count(symfile_table(file));
    if (c->says || count < (uint32_t)c->functions) {
        printf("%s: opens, with %u functions\n", c->file, count);
        return EXIT_WRONG;
    }
    for (int part = PDB_REPORT_SUMMARY; part <= PDB_REPORT_ADDRESS; part++) {
        AUTO(buf_done) Buf out = {0};
        PdbReportOptions options = {.part = (PdbReportPart)part, .address = 0x1067};
        if (pdb_report(path, &options, &out, &err) != OK && err.text[0] == 0) return EXIT_WRONG;
    }
    return 0;
}

static long ms_of(struct timeval t) {
    return t.tv_sec * 1000 + t.tv_usec / 1000;
}

// Each file in a process of its own: a crash is one file's failure, and memory can be measured.
// Time is that of the processor, since other tests run beside this one. Returns the peak in KiB.
static long run_case(Str folder, const HostileCase *c) {
    AUTO(arena_done) Arena arena = {0};
    Str path = path_join(&arena, folder, str_from_c(c->file));
    (void)fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        int code = check_file(path, c);
        (void)fflush(stdout);
        _exit(code);
    }
    int result = 0;
    struct rusage usage = {0};
    assert_int_equal(wait4(child, &result, 0, &usage), child);
    long cpu_ms = ms_of(usage.ru_utime) + ms_of(usage.ru_stime);
    if (!WIFEXITED(result) || WEXITSTATUS(result) != 0)
        fail_msg("%s: ended with %d", c->file, result);
    if (MEASURES && cpu_ms > CPU_MS) fail_msg("%s: took %ld ms", c->file, cpu_ms);
    if (MEASURES && usage.ru_maxrss > MEMORY_KIB)
        fail_msg("%s: took %ld KiB", c->file, usage.ru_maxrss);
    return usage.ru_maxrss;
}

static void test_hostile_files(void **state) {
    (void)state;
    AUTO(arena_done) Arena arena = {0};
    Str folder = shared_folder(ETW_SOURCE_DIR, "pdbs/hostile", &arena);
    if (folder.n == 0) skip();
    long most = 0;
    for (size_t i = 0; i < COUNT_OF(CASES); i++) {
        long here = run_case(folder, &CASES[i]);
        if (here > most) most = here;
    }
    printf("%zu files, at most %ld KiB\n", COUNT_OF(CASES), most);
}

// A PDB whose modules all name one long stream must not be read a thousand times.
static void test_modules_that_share_a_stream(void **state) {
    (void)state;
    AUTO(pdb_build_free) PdbBuild *b = pdb_build_new();
    pdb_build_section(b, 0x1000, 0x1000, 0x60000020);
    uint32_t m = pdb_build_module(b, "a.obj");
    pdb_build_procedure(b, m, 0x1110, (CodeRange){1, 0x10, 0x10}, "f");
    pdb_build_end(b, m);
    for (int i = 0; i < 10; i++) (void)pdb_build_module(b, "more.obj");
    pdb_build_share_stream(b);
    AUTO(buf_done) Buf file = {0};
    pdb_build_msf(b, (MsfSpec){0}, &file);
    AUTO(symfile_close) SymFile *symbols = NULL;
    assert_int_equal(symfile_open_bytes(buf_str(&file), STR("x.pdb"), &symbols, NULL), OK);
    assert_int_equal(symtab_count(symfile_table(symbols)), 1);
    assert_int_equal(symtab_info(symfile_table(symbols))->procedures, 1);
    assert_true(symtab_info(symfile_table(symbols))->damaged);
}

// A file that shrinks between opening and reading: an error line or a partial table, no signal.
static void test_file_that_shrinks(void **state) {
    (void)state;
    AUTO(arena_done) Arena arena = {0};
    Str path = str_format(&arena, "%s/test_sym_hostile.%d.pdb", ETW_BINARY_DIR, os_process_id());
    AUTO(pdb_build_free) PdbBuild *b = pdb_build_sample();
    AUTO(buf_done) Buf file = {0};
    pdb_build_msf(b, (MsfSpec){.page_size = 512}, &file);
    for (off_t left = 0; left < (off_t)file.n; left += 1024) {
        assert_int_equal(file_write_atomic(path, buf_str(&file), NULL), OK);
        AUTO(pdb_close) Pdb *pdb = NULL;
        assert_int_equal(pdb_open(path, &pdb, NULL), OK);
        assert_int_equal(truncate(path.p, left), 0);
        AUTO(symtab_close) SymTab *table = NULL;
        assert_int_equal(symtab_from_pdb(pdb, &table, NULL), OK);
        AUTO(pdb_lines_close) PdbLines *lines = NULL;
        assert_int_equal(pdb_lines_open(pdb, &lines, NULL), OK);
    }
    assert_int_equal(os_remove_file(path, NULL), OK);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hostile_files),
        cmocka_unit_test(test_modules_that_share_a_stream),
        cmocka_unit_test(test_file_that_shrinks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
