// Symbol paths, local stores, and a symbol server on the loopback that answers well and badly.
#include "support/http_mock.h"
#include "support/pdb_build.h"
#include "support/pdb_build_internal.h"
#include "sym/sym.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>
#include <zlib.h>

#define KEY "443322116655887799AABBCCDDEEFF013"
#define LEAF "/app.pdb/" KEY

typedef struct World {
    Arena arena;
    Str folder; // of this test alone
    Buf good, packed, compressed, wrong, gzip;
    HttpMock *mock;
} World;

static void gzip_of(Str bytes, Buf *out) {
    z_stream z = {0};
    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
    uLong room = deflateBound(&z, (uLong)bytes.n);
    AUTO(buf_done) Buf in = {0};
    buf_add(&in, bytes);
    uint8_t *to = mem_alloc(room);
    z.next_in = (Bytef *)(void *)in.p;
    z.avail_in = (uInt)in.n;
    z.next_out = to;
    z.avail_out = (uInt)room;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    buf_add(out, (Str){(const char *)to, room - z.avail_out});
    (void)deflateEnd(&z);
    mem_free(to);
}

static int world_open(void **state) {
    static unsigned number = 0;
    World *w = mem_zero(1, sizeof *w);
    w->folder =
        str_format(&w->arena, "%s/test_sym_find.%d.%u", ETW_BINARY_DIR, os_process_id(), ++number);
    AUTO(pdb_build_free) PdbBuild *b = pdb_build_sample();
    pdb_build_msf(b, (MsfSpec){0}, &w->good);
    pdb_build_msfz(b, (MsfzSpec){.kind = 1}, &w->compressed);
    cabinet_build(buf_str(&w->good), CABINET_MSZIP, &w->packed);
    gzip_of(buf_str(&w->good), &w->gzip);
    AUTO(pdb_build_free) PdbBuild *other = pdb_build_sample();
    Guid guid = SAMPLE_GUID;
    guid.bytes[0] ^= 1;
    pdb_build_identity(other, &guid, SAMPLE_AGE, SAMPLE_AGE);
    pdb_build_msf(other, (MsfSpec){0}, &w->wrong);
    w->mock = http_mock_start();
    assert_int_equal(os_make_folders(w->folder, NULL), OK);
    *state = w;
    return 0;
}

static int world_close(void **state) {
    World *w = *state;
    http_mock_stop(w->mock);
    assert_int_equal(os_remove_tree(w->folder, NULL), OK);
    Buf *bufs[] = {&w->good, &w->packed, &w->compressed, &w->wrong, &w->gzip};
    for (size_t i = 0; i < COUNT_OF(bufs); i++) buf_done(bufs[i]);
    arena_done(&w->arena);
    mem_free(w);
    return 0;
}

static SymbolPath *open_path(World *w, Str text, SymbolPathOptions options) {
    SymbolPath *path = NULL;
    options.default_store = path_join(&w->arena, w->folder, STR("default"));
    options.connect_seconds = 2;
    options.stall_seconds = 1;
    options.retry_wait_ms = 1;
    assert_int_equal(symbol_path_open(text, &options, &path, NULL), OK);
    return path;
}

static SymbolId sample_id(void) {
    return (SymbolId){.name = STR("app.pdb"), .guid = SAMPLE_GUID, .age = SAMPLE_AGE};
}

static Str server_path(World *w, const char *store) {
    return str_format(&w->arena, "srv*" STR_FMT "/%s*http://127.0.0.1:%u", STR_ARG(w->folder),
                      store, http_mock_port(w->mock));
}

static SymbolResult find(World *w, SymbolPath *path) {
    SymbolResult result;
    SymbolId id = sample_id();
    assert_int_equal(symbol_find(path, &id, NULL, &w->arena, &result, NULL), OK);
    return result;
}

static void write_file(World *w, const char *name, Str bytes) {
    Str path = path_join(&w->arena, w->folder, str_from_c(name));
    assert_int_equal(os_make_folders(path_folder(path), NULL), OK);
    assert_int_equal(file_write_atomic(path, bytes, NULL), OK);
}

static bool has_file(World *w, const char *name) {
    FileInfo info;
    Str path = path_join(&w->arena, w->folder, str_from_c(name));
    return os_stat(path, &info, NULL) == OK && info.is_file;
}

// Nothing but finished files: no part file stays behind.
static void assert_no_parts(World *w, Str folder) {
    NameList names;
    if (os_list_folder(folder, &w->arena, &names, NULL) != OK) return;
    for (size_t i = 0; i < names.count; i++) {
        Str child = path_join(&w->arena, folder, names.items[i]);
        FileInfo info;
        assert_int_equal(os_stat(child, &info, NULL), OK);
        if (info.is_folder)
            assert_no_parts(w, child);
        else
            assert_false(str_ends(child, STR(".part")));
    }
}

static const char *describe_path(World *w, const char *text) {
    AUTO(symbol_path_close)
    SymbolPath *path = open_path(w, str_from_c(text), (SymbolPathOptions){0});
    AUTO(buf_done) Buf out = {0};
    for (size_t i = 0; i < symbol_path_count(path); i++) {
        const SymbolPlace *p = symbol_path_place(path, i);
        buf_addf(&out, "%s%s:" STR_FMT "%s", i ? " " : "", symbol_place_kind_name(p->kind),
                 STR_ARG(p->is_default ? STR("default") : p->location), p->usable ? "" : "(!)");
    }
    return str_to_c(&w->arena, buf_str(&out));
}

static void test_path_grammar(void **state) {
    static const struct {
        const char *text, *places;
    } CASES[] = {
        {"",                              ""                                                   },
        {";;",                            ""                                                   },
        {"/a",                            "folder:/a"                                          },
        {"/a/;/b",                        "folder:/a folder:/b"                                },
        {" /a ; /b ",                     "folder:/a folder:/b"                                },
        {"\"/with blank\"",               "folder:/with blank"                                 },
        {"/",                             "folder:/"                                           },
        {"srv*/a",                        "store:/a"                                           },
        {"SRV*/a",                        "store:/a"                                           },
        {"srv*/a*/b",                     "store:/a store:/b"                                  },
        {"srv*/a*http://h/x",             "store:/a server:http://h/x"                         },
        {"srv*/a*http://h/x/",            "store:/a server:http://h/x"                         },
        {"srv*/a*/b*https://h",           "store:/a store:/b server:https://h"                 },
        {"srv*/a*HTTPS://h",              "store:/a server:HTTPS://h"                          },
        {"srv*http://h",                  "store:default server:http://h"                      },
        {"srv*/a*http://h*http://i",      "store:/a server:http://h server:http://i"           },
        {"srv*",                          "store:default"                                      },
        {"srv",                           "store:default"                                      },
        {"srv**http://h",                 "store:default server:http://h"                      },
        {"srv*/a*",                       "store:/a store:default"                             },
        {"srv*/a**http://h",              "store:/a store:default server:http://h"             },
        {"symsrv*symsrv.dll*/a*http://h", "store:/a server:http://h"                           },
        {"SymSrv*symsrv.dll*/a",          "store:/a"                                           },
        {"symsrv*symsrv.dll",             "store:default"                                      },
        {"symsrv*",                       "store:default"                                      },
        {"cache*/c",                      "cache:/c"                                           },
        {"cache*",                        "cache:default"                                      },
        {"cache",                         "cache:default"                                      },
        {"Cache*/c;srv*http://h",         "cache:/c server:http://h"                           },
        {"cache*/c;srv*/a*http://h",      "cache:/c store:/a server:http://h"                  },
        {"http://h/symbols",              "store:default server:http://h/symbols"              },
        {"/srv",                          "folder:/srv"                                        },
        {"srvx*/a",                       "folder:srvx*/a"                                     },
        {"cached",                        "folder:cached"                                      },
        {"C:\\symbols",                   "folder:C:\\symbols(!)"                              },
        {"srv*C:\\symbols*https://h",     "store:C:\\symbols(!) store:default server:https://h"},
        {"\\\\share\\sym",                "folder:\\\\share\\sym(!)"                           },
        {"srv*\\\\share\\sym*/a",         "store:\\\\share\\sym(!) store:/a"                   },
        {"ftp://h/x",                     "folder:ftp://h/x(!)"                                },
        {"srv*/a*ftp://h/x",              "store:/a store:ftp://h/x(!)"                        },
        {"/a;srv*/b;cache*/c;/d",         "folder:/a store:/b cache:/c folder:/d"              },
    };
    for (size_t i = 0; i < COUNT_OF(CASES); i++)
        assert_string_equal(describe_path(*state, CASES[i].text), CASES[i].places);
}

static void test_path_description(void **state) {
    World *w = *state;
    Str text =
        str_format(&w->arena, STR_FMT ";/nowhere/at/all;C:\\s;srv*http://h/x", STR_ARG(w->folder));
    AUTO(symbol_path_close) SymbolPath *path = open_path(w, text, (SymbolPathOptions){0});
    AUTO(buf_done) Buf out = {0}, want = {0};
    symbol_path_describe(path, &out);
    buf_addf(&want, "folder " STR_FMT ": 0 entries\n", STR_ARG(w->folder));
    buf_add_c(&want, "folder /nowhere/at/all: does not exist\n"
                     "folder C:\\s: a Windows drive, not reachable on this machine\n");
    buf_addf(&want, "store " STR_FMT "/default: empty: made when first needed (default)\n",
             STR_ARG(w->folder));
    buf_add_c(&want, "server http://h/x: asked for what is not found locally\n");
    assert_string_equal(out.p, want.p);
}

static void test_keys(void **state) {
    World *w = *state;
    SymbolId id = sample_id();
    assert_string_equal(symbol_store_path(&id, &w->arena).p, "app.pdb/" KEY "/app.pdb");
    id.age = 0x1A;
    assert_string_equal(symbol_key(&id, &w->arena).p, "443322116655887799AABBCCDDEEFF011A");
    id.portable = true;
    assert_string_equal(symbol_key(&id, &w->arena).p, "443322116655887799AABBCCDDEEFF01FFFFFFFF");
    SymbolId image = {.name = STR("x.exe"),
                      .is_image = true,
                      .time_date_stamp = 0x3E6C7F7,
                      .image_size = 0x1A000};
    assert_string_equal(symbol_store_path(&image, &w->arena).p, "x.exe/03E6C7F71a000/x.exe");
}

static void test_names(void **state) {
    (void)state;
    static const char *const GOOD[] = {"a.pdb",        "ntkrnlmp.pdb",
                                       "a b.pdb",      "x+y~$#()[]{}!@%&=,.pdb",
                                       "\xC3\xA4.pdb", "console.pdb"};
    static const char *const BAD[] = {"",        ".",        "..",       ".a",   "a.",       " a",
                                      "a ",      "a/b",      "a\\b",     "a:b",  "a*b",      "a?b",
                                      "a\"b",    "a<b",      "a|b",      "a\nb", "\xFF.pdb", "con",
                                      "NUL.pdb", "com1.pdb", "a\x7F.pdb"};
    for (size_t i = 0; i < COUNT_OF(GOOD); i++)
        assert_true(symbol_name_is_safe(str_from_c(GOOD[i])));
    for (size_t i = 0; i < COUNT_OF(BAD); i++)
        assert_false(symbol_name_is_safe(str_from_c(BAD[i])));
    AUTO(buf_done) Buf longest = {0};
    for (int i = 0; i < 121; i++) buf_add_char(&longest, 'a');
    assert_false(symbol_name_is_safe(buf_str(&longest)));
}

// Each case: files put into the test's folder, a symbol path below it, what must come out.
static void test_local_places(void **state) {
    World *w = *state;
    const struct {
        const char *file;
        Str content;
        const char *path;
        SymbolOutcome outcome;
        const char *found; // below the test's folder
    } cases[] = {
        {"c0/app.pdb",                                           buf_str(&w->good),                   "$/c0",                    SYMBOL_CACHED,    "c0/app.pdb"                                          },
        {"c1/APP.PDB",                                           buf_str(&w->good),                   "$/c1",                    SYMBOL_CACHED,    "c1/APP.PDB"                                          },
        {"c2/symbols/pdb/app.pdb",                               buf_str(&w->good),                   "$/c2",                    SYMBOL_CACHED,
         "c2/symbols/pdb/app.pdb"                                                                                                                                                                        },
        {"c3/dll/app.pdb",                                       buf_str(&w->good),                   "$/c3",                    SYMBOL_CACHED,    "c3/dll/app.pdb"                                      },
        {"c4/app.pdb/" KEY "/app.pdb",                           buf_str(&w->good),                   "$/c4",                    SYMBOL_CACHED,
         "c4/app.pdb/" KEY "/app.pdb"                                                                                                                                                                    },
        {"c5/App.pdb/443322116655887799aabbccddeeff013/app.PDB", buf_str(&w->good),                   "srv*$/c5",
         SYMBOL_CACHED,                                                                                                                            "c5/App.pdb/443322116655887799aabbccddeeff013/app.PDB"},
        {"c6/app.pdb/" KEY "/msfz0/app.pdb",                     buf_str(&w->compressed),             "srv*$/c6",                SYMBOL_CACHED,
         "c6/app.pdb/" KEY "/msfz0/app.pdb"                                                                                                                                                              },
        {"c7/app.pdb/" KEY "/app.pd_",                           buf_str(&w->packed),                 "srv*$/c7",                SYMBOL_CACHED,
         "c7/app.pdb/" KEY "/app.pdb"                                                                                                                                                                    },
        {"c8/app.pdb/" KEY "/app.pd_",                           buf_str(&w->packed),                 "srv*$/new8*$/c8",         SYMBOL_CACHED,
         "new8/app.pdb/" KEY "/app.pdb"                                                                                                                                                                  },
        {"c9/app.pdb/" KEY "/app.pdb",                           buf_str(&w->good),                   "srv*$/new9*$/c9",         SYMBOL_CACHED,
         "new9/app.pdb/" KEY "/app.pdb"                                                                                                                                                                  },
        {"c10/app.pdb/" KEY "/app.pdb",                          buf_str(&w->good),                   "cache*$/new10;srv*$/c10", SYMBOL_CACHED,
         "new10/app.pdb/" KEY "/app.pdb"                                                                                                                                                                 },
        {"c11/app.pdb",                                          buf_str(&w->wrong),                  "$/c11",                   SYMBOL_MISMATCH,  NULL                                                  },
        {"c12/app.pdb/" KEY "/app.pdb",                          buf_str(&w->wrong),                  "srv*$/c12",               SYMBOL_MISMATCH,  NULL                                                  },
        {"c13/app.pdb",                                          STR("<html>"),                       "$/c13",                   SYMBOL_DAMAGED,   NULL                                                  },
        {"c14/other.pdb",                                        buf_str(&w->good),                   "$/c14",                   SYMBOL_NOT_FOUND, NULL                                                  },
        {"c15/app.pdb/" KEY "/file.ptr",                         STR("PATH:../../../c0/app.pdb\r\n"), "srv*$/c15",
         SYMBOL_CACHED,                                                                                                                            "c15/app.pdb/" KEY "/../../../c0/app.pdb"             },
        {"c16/app.pdb/" KEY "/file.ptr",                         STR("MSG: moved away"),              "srv*$/c16",               SYMBOL_NOT_FOUND,
         NULL                                                                                                                                                                                            },
        {"c17/app.pdb/" KEY "/file.ptr",                         STR("PATH:\\\\build\\x\\app.pdb"),   "srv*$/c17",
         SYMBOL_NOT_FOUND,                                                                                                                         NULL                                                  },
        {"c18/app.pdb/" KEY "/file.ptr",                         STR("PATH:file.ptr"),                "srv*$/c18",               SYMBOL_NOT_FOUND,
         NULL                                                                                                                                                                                            }, // points at itself
        {"c19/app.pd_",                                          buf_str(&w->packed),                 "$/c19",                   SYMBOL_CACHED,
         "default/app.pdb/" KEY "/app.pdb"                                                                                                                                                               },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        write_file(w, cases[i].file, cases[i].content);
        AUTO(buf_done) Buf text = {0};
        for (const char *p = cases[i].path; *p; p++)
            if (*p == '$')
                buf_add(&text, w->folder);
            else
                buf_add_char(&text, *p);
        AUTO(symbol_path_close)
        SymbolPath *path = open_path(w, buf_str(&text), (SymbolPathOptions){0});
        SymbolResult result = find(w, path);
        if (result.outcome != cases[i].outcome)
            fail_msg("case %zu: %s: " STR_FMT, i, symbol_outcome_name(result.outcome),
                     STR_ARG(result.detail));
        if (!cases[i].found) continue;
        Str want = path_join(&w->arena, w->folder, str_from_c(cases[i].found));
        assert_string_equal(str_to_c(&w->arena, result.path), want.p);
    }
    assert_no_parts(w, w->folder);
}

static void test_two_tier_store(void **state) {
    World *w = *state;
    write_file(w, "tier/index2.txt", STR(""));
    write_file(w, "tier/ap/app.pdb/" KEY "/app.pdb", buf_str(&w->good));
    Str text = str_format(&w->arena, "srv*" STR_FMT "/tier", STR_ARG(w->folder));
    AUTO(symbol_path_close) SymbolPath *path = open_path(w, text, (SymbolPathOptions){0});
    assert_int_equal(find(w, path).outcome, SYMBOL_CACHED);
    SymbolCandidate candidates[4];
    assert_int_equal(symbol_candidates(path, STR("APP.pdb"), &w->arena, candidates, 4), 1);
    assert_true(candidates[0].readable && guid_eq(&candidates[0].guid, &SAMPLE_GUID));
    assert_int_equal(candidates[0].age, SAMPLE_AGE);
    assert_true(str_eq(candidates[0].folder_key, STR(KEY)));
}

static void test_images(void **state) {
    World *w = *state;
    ImageSpec spec = {.time_date_stamp = 0x12345678, .image_size = 0x5000, .machine = MACHINE_X64};
    AUTO(buf_done) Buf image = {0};
    image_build(&spec, &image);
    write_file(w, "i/app.dll/123456785000/app.dll", buf_str(&image));
    Str text = str_format(&w->arena, "srv*" STR_FMT "/i", STR_ARG(w->folder));
    AUTO(symbol_path_close) SymbolPath *path = open_path(w, text, (SymbolPathOptions){0});
    SymbolId id = {.name = STR("c:\\dir\\app.dll"),
                   .is_image = true,
                   .time_date_stamp = 0x12345678,
                   .image_size = 0x5000};
    SymbolResult result;
    assert_int_equal(symbol_find(path, &id, NULL, &w->arena, &result, NULL), OK);
    assert_int_equal(result.outcome, SYMBOL_CACHED);
    id.image_size = 0x6000;
    assert_int_equal(symbol_find(path, &id, NULL, &w->arena, &result, NULL), OK);
    assert_int_equal(result.outcome, SYMBOL_NOT_FOUND);
    id.name = STR("..");
    assert_int_equal(symbol_find(path, &id, NULL, &w->arena, &result, NULL), OK);
    assert_int_equal(result.outcome, SYMBOL_BAD_NAME);
}

#define PLAIN LEAF "/app.pdb"
#define POINTER LEAF "/file.ptr"

static MockReply whole(int status, Str body) {
    return (MockReply){.status = status, .body = body};
}

static MockReply moved(int status, const char *location) {
    return (MockReply){.status = status, .location = location, .body = STR("moved")};
}

static MockReply badly(MockMode mode, Str body) {
    return (MockReply){.status = 200, .mode = mode, .body = body};
}

typedef struct AnswerCase {
    const char *path;
    MockReply reply;
    SymbolOutcome outcome;
    long status;
    unsigned requests;
} AnswerCase;

static void expect_answer(World *w, SymbolPath *path, const AnswerCase *c) {
    unsigned before = http_mock_requests(w->mock);
    SymbolResult r = find(w, path);
    unsigned requests = http_mock_requests(w->mock) - before;
    long status = r.attempt_count ? r.attempts[r.attempt_count - 1].http_status : 0;
    if (r.outcome != c->outcome || status != c->status || requests != c->requests)
        fail_msg("%s %d: %s, status %ld, %u requests: " STR_FMT, c->path, c->reply.status,
                 symbol_outcome_name(r.outcome), status, requests, STR_ARG(r.detail));
    assert_true(r.url.n > 0);
    assert_int_equal(r.path.n != 0, r.outcome == SYMBOL_DOWNLOADED);
}

// The same again: from the store when it was found, else asked and now answered well; only a plain
// "no" is believed without asking.
static void expect_good_answer(World *w, SymbolPath *path, const AnswerCase *c) {
    http_mock_set(w->mock, LEAF "/app.pdb", (MockReply){.status = 200, .body = buf_str(&w->good)});
    unsigned before = http_mock_requests(w->mock);
    SymbolOutcome next = find(w, path).outcome;
    bool found = c->outcome == SYMBOL_DOWNLOADED, no = c->outcome == SYMBOL_NOT_ON_SERVER;
    assert_int_equal(next, no ? SYMBOL_NOT_ON_SERVER : found ? SYMBOL_CACHED : SYMBOL_DOWNLOADED);
    assert_int_equal(http_mock_requests(w->mock), before + (!found && !no));
}

// One answer of a server, the class it must give, and whether a good answer works right after it.
static void test_server_answers(void **state) {
    World *w = *state;
    unsigned port = http_mock_port(w->mock);
    const char *elsewhere = str_format(&w->arena, "http://localhost:%u/elsewhere/app.pdb", port).p;
    const char *page = str_format(&w->arena, "http://127.0.0.1:%u/login", port).p;
    const char *pointer =
        str_format(&w->arena, "PATH:http://127.0.0.1:%u/elsewhere/app.pdb", port).p;
    Str html = STR("<!DOCTYPE html><html><body>Please sign in to read this page.</body></html>");
    const Str good = buf_str(&w->good), compressed = buf_str(&w->compressed);
    const MockReply zipped = {
        .status = 200, .header = "Content-Encoding: gzip", .body = buf_str(&w->gzip)};
    const AnswerCase cases[] = {
        {PLAIN,      whole(200,                      good),                 SYMBOL_DOWNLOADED,    200, 1},
        {PLAIN,      moved(301,                      elsewhere),            SYMBOL_DOWNLOADED,    200, 2},
        {PLAIN,      moved(302,                      page),                 SYMBOL_NETWORK_ERROR, 200, 2},
        {PLAIN,      moved(302,                      "file:///etc/passwd"), SYMBOL_NETWORK_ERROR, 302, 1},
        {PLAIN,      whole(200,                      html),                 SYMBOL_NETWORK_ERROR, 200, 1},
        {PLAIN,      whole(200,                      STR("")),              SYMBOL_NETWORK_ERROR, 200, 1},
        {PLAIN,      whole(401,                      html),                 SYMBOL_NETWORK_ERROR, 401, 1},
        {PLAIN,      whole(403,                      html),                 SYMBOL_NETWORK_ERROR, 403, 1},
        {PLAIN,      whole(500,                      html),                 SYMBOL_NETWORK_ERROR, 500, 3},
        {PLAIN,      whole(503,                      html),                 SYMBOL_NETWORK_ERROR, 503, 3},
        {PLAIN,      badly(MOCK_SLOW,                good),                 SYMBOL_DOWNLOADED,    200, 1},
        {PLAIN,      badly(MOCK_CUT,                 good),                 SYMBOL_NETWORK_ERROR, 200, 3},
        {PLAIN,      badly(MOCK_STALL,               good),                 SYMBOL_NETWORK_ERROR, 200, 3},
        {PLAIN,      whole(200,                      buf_str(&w->wrong)),   SYMBOL_MISMATCH,      200, 1},
        {PLAIN,      whole(200,                      compressed),           SYMBOL_DOWNLOADED,    200, 1},
        {PLAIN,      zipped,                         SYMBOL_DOWNLOADED,     200,                  1  },
        {LEAF "/app.pd_", whole(200,           buf_str(&w->packed)),     SYMBOL_DOWNLOADED,                  200,   2 },
        {POINTER, whole(200,           str_from_c(pointer)),     SYMBOL_DOWNLOADED,                  200,   4},
        {POINTER, whole(200, STR("PATH:elsewhere/app.pdb")),     SYMBOL_DOWNLOADED,                  200,   4 },
        {POINTER, whole(200,       STR("PATH:/etc/passwd")),  SYMBOL_NOT_ON_SERVER,                  404,   4},
        {POINTER, whole(200,           STR("PATH:../../x")),  SYMBOL_NOT_ON_SERVER,                  404,   4 },
        {POINTER, whole(200,             STR("MSG: sorry")),  SYMBOL_NOT_ON_SERVER,                  404,   4},
        {POINTER, whole(200,                          html),  SYMBOL_NOT_ON_SERVER,                  404,   4 },
        {LEAF "/msfz0/app.pdb", whole(200,                    compressed),     SYMBOL_DOWNLOADED,                  200,   4},
        {"/nothing", whole(200,                          html),  SYMBOL_NOT_ON_SERVER,                  404,   4 },
        {PLAIN, whole(410,                          html),  SYMBOL_NOT_ON_SERVER,                  404,   4},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char store[32];
        (void)snprintf(store, sizeof store, "answer%zu", i);
        http_mock_clear(w->mock);
        http_mock_set(w->mock, "/elsewhere/app.pdb", whole(200, good));
        http_mock_set(w->mock, "/login", whole(200, html));
        http_mock_set(w->mock, cases[i].path, cases[i].reply);
        AUTO(symbol_path_close)
        SymbolPath *path = open_path(w, server_path(w, store), (SymbolPathOptions){0});
        expect_answer(w, path, &cases[i]);
        expect_good_answer(w, path, &cases[i]);
    }
    assert_no_parts(w, w->folder);
}

static void test_request_headers(void **state) {
    World *w = *state;
    AUTO(symbol_path_close)
    SymbolPath *path = open_path(w, server_path(w, "head"), (SymbolPathOptions){0});
    http_mock_set(w->mock, LEAF "/app.pdb", (MockReply){.status = 200, .body = buf_str(&w->good)});
    (void)find(w, path);
    Str head = http_mock_last_request(w->mock, &w->arena);
    assert_true(str_find(head, STR("User-Agent: Microsoft-Symbol-Server/")) != SIZE_MAX);
    assert_true(str_find(head, STR("Accept: application/msfz0")) != SIZE_MAX);
    assert_true(has_file(w, "head/app.pdb/" KEY "/app.pdb"));
}

static void test_compressed_download_goes_to_its_own_folder(void **state) {
    World *w = *state;
    AUTO(symbol_path_close)
    SymbolPath *path = open_path(w, server_path(w, "z"), (SymbolPathOptions){0});
    http_mock_set(w->mock, LEAF "/app.pdb",
                  (MockReply){.status = 200, .body = buf_str(&w->compressed)});
    assert_int_equal(find(w, path).outcome, SYMBOL_DOWNLOADED);
    assert_true(has_file(w, "z/app.pdb/" KEY "/msfz0/app.pdb"));
    assert_false(has_file(w, "z/app.pdb/" KEY "/app.pdb"));
}

static void test_network_is_off_unless_wanted(void **state) {
    World *w = *state;
    http_mock_set(w->mock, LEAF "/app.pdb", (MockReply){.status = 200, .body = buf_str(&w->good)});
    AUTO(symbol_path_close)
    SymbolPath *off = open_path(w, server_path(w, "off"), (SymbolPathOptions){.no_download = true});
    SymbolResult r = find(w, off);
    assert_int_equal(r.outcome, SYMBOL_SKIPPED);
    assert_true(str_ends(r.url, STR(LEAF "/app.pdb")));
    AUTO(symbol_path_close)
    SymbolPath *local =
        open_path(w, path_join(&w->arena, w->folder, STR("x")), (SymbolPathOptions){0});
    assert_int_equal(find(w, local).outcome, SYMBOL_NOT_FOUND);
    assert_int_equal(http_mock_requests(w->mock), 0);
}

static void test_missing_answers_are_kept(void **state) {
    World *w = *state;
    SymbolPathOptions options = {.missing_file =
                                     path_join(&w->arena, w->folder, STR("missing.txt"))};
    Str text = server_path(w, "m");
    SymbolPath *first = open_path(w, text, options);
    assert_int_equal(find(w, first).outcome, SYMBOL_NOT_ON_SERVER);
    symbol_path_close(first);
    http_mock_set(w->mock, LEAF "/app.pdb", (MockReply){.status = 200, .body = buf_str(&w->good)});
    unsigned asked = http_mock_requests(w->mock);
    SymbolPath *second = open_path(w, text, options);
    assert_int_equal(find(w, second).outcome, SYMBOL_NOT_ON_SERVER);
    assert_int_equal(http_mock_requests(w->mock), asked);
    symbol_path_close(second);
    options.retry_missing = true;
    SymbolPath *third = open_path(w, text, options);
    assert_int_equal(find(w, third).outcome, SYMBOL_DOWNLOADED);
    symbol_path_close(third);
}

static void test_failing_server_is_left_alone(void **state) {
    World *w = *state;
    AUTO(symbol_path_close)
    SymbolPath *path = open_path(w, server_path(w, "f"), (SymbolPathOptions){0});
    for (int i = 0; i < 5; i++) {
        SymbolId id = sample_id();
        SymbolResult r;
        id.name = str_format(&w->arena, "f%d.pdb", i);
        const char *url = str_format(&w->arena, "/f%d.pdb/" KEY "/f%d.pdb", i, i).p;
        http_mock_set(w->mock, url, (MockReply){.status = 401});
        assert_int_equal(symbol_find(path, &id, NULL, &w->arena, &r, NULL), OK);
        assert_int_equal(r.outcome, SYMBOL_NETWORK_ERROR);
    }
    assert_int_equal(http_mock_requests(w->mock), 3);
}

static void test_unreachable_server(void **state) {
    World *w = *state;
    HttpMock *gone = http_mock_start();
    unsigned port = http_mock_port(gone);
    http_mock_stop(gone);
    Str text =
        str_format(&w->arena, "srv*" STR_FMT "/u*http://127.0.0.1:%u", STR_ARG(w->folder), port);
    AUTO(symbol_path_close) SymbolPath *path = open_path(w, text, (SymbolPathOptions){0});
    SymbolResult r = find(w, path);
    assert_int_equal(r.outcome, SYMBOL_NETWORK_ERROR);
    assert_true(r.detail.n > 0);
}

// Without libcurl everything but servers works, and the reason says what helps.
static void test_without_libcurl(void **state) {
    World *w = *state;
    SymbolPath *path =
        open_path(w, server_path(w, "cache"), (SymbolPathOptions){.libcurl = STR("libnone.so.4")});
    for (int i = 0; i < 5; i++) { // and it is no outage of the server's
        SymbolResult r = find(w, path);
        assert_int_equal(r.outcome, SYMBOL_NETWORK_ERROR);
        assert_true(str_starts(r.detail, STR("libcurl cannot be loaded")));
        assert_int_not_equal(str_find(r.detail, STR("libnone.so.4")), SIZE_MAX);
    }
    write_file(w, "cache" LEAF "/app.pdb", buf_str(&w->good));
    assert_int_equal(find(w, path).outcome, SYMBOL_CACHED);
    symbol_path_close(path);
    path = open_path(w, server_path(w, "cache"), (SymbolPathOptions){.libcurl = STR("libm.so.6")});
    assert_int_equal(os_remove_tree(path_join(&w->arena, w->folder, STR("cache")), NULL), OK);
    SymbolResult r = find(w, path);
    assert_int_equal(r.outcome, SYMBOL_NETWORK_ERROR);
    assert_int_equal(http_mock_requests(w->mock), 0);
    symbol_path_close(path);
}

static void test_second_server_is_asked(void **state) {
    World *w = *state;
    HttpMock *other = http_mock_start();
    http_mock_set(other, LEAF "/app.pdb", (MockReply){.status = 200, .body = buf_str(&w->good)});
    Str text = str_format(&w->arena, STR_FMT "*http://127.0.0.1:%u", STR_ARG(server_path(w, "s2")),
                          http_mock_port(other));
    AUTO(symbol_path_close) SymbolPath *path = open_path(w, text, (SymbolPathOptions){0});
    assert_int_equal(find(w, path).outcome, SYMBOL_DOWNLOADED);
    http_mock_stop(other);
}

// A server that is out of order does not hide the next one; and what it answers when it is back is
// taken, since an outage is never remembered as "not there".
static void test_second_server_after_a_failure(void **state) {
    World *w = *state;
    HttpMock *other = http_mock_start();
    const MockReply good = {.status = 200, .body = buf_str(&w->good)};
    http_mock_set(other, LEAF "/app.pdb", good);
    static const MockReply FAILURES[] = {{.status = 500}, {.status = 401}, {.status = 503}};
    for (size_t i = 0; i < COUNT_OF(FAILURES); i++) {
        char store[32];
        (void)snprintf(store, sizeof store, "fail%zu", i);
        http_mock_set(w->mock, LEAF "/app.pdb", FAILURES[i]);
        Str first = server_path(w, store);
        Str text = str_format(&w->arena, STR_FMT ";srv*" STR_FMT "/%s*http://127.0.0.1:%u",
                              STR_ARG(first), STR_ARG(w->folder), store, http_mock_port(other));
        AUTO(symbol_path_close) SymbolPath *both = open_path(w, text, (SymbolPathOptions){0});
        assert_int_equal(find(w, both).outcome, SYMBOL_DOWNLOADED);
        assert_int_equal(find(w, both).outcome, SYMBOL_CACHED);
    }
    AUTO(symbol_path_close)
    SymbolPath *path = open_path(w, server_path(w, "back"), (SymbolPathOptions){0});
    assert_int_equal(find(w, path).outcome, SYMBOL_NETWORK_ERROR);
    http_mock_set(w->mock, LEAF "/app.pdb", good);
    assert_int_equal(find(w, path).outcome, SYMBOL_DOWNLOADED);
    http_mock_stop(other);
}

static void test_damaged_store_file_is_fetched_again(void **state) {
    World *w = *state;
    write_file(w, "d/app.pdb/" KEY "/app.pdb", STR("<html>an old mistake</html>"));
    http_mock_set(w->mock, LEAF "/app.pdb", (MockReply){.status = 200, .body = buf_str(&w->good)});
    AUTO(symbol_path_close)
    SymbolPath *path = open_path(w, server_path(w, "d"), (SymbolPathOptions){0});
    assert_int_equal(find(w, path).outcome, SYMBOL_DOWNLOADED);
    assert_int_equal(find(w, path).outcome, SYMBOL_CACHED);
}

static void test_many_at_once(void **state) {
    World *w = *state;
    enum { COUNT = 12 };
    SymbolId ids[COUNT];
    SymbolResult results[COUNT];
    for (int i = 0; i < COUNT; i++) {
        ids[i] = sample_id();
        ids[i].name = str_format(&w->arena, "m%d.pdb", i % 10); // two are asked for twice
        const char *url = str_format(&w->arena, "/m%d.pdb/" KEY "/m%d.pdb", i, i).p;
        http_mock_set(w->mock, url,
                      (MockReply){.status = 200, .mode = MOCK_SLOW, .body = buf_str(&w->good)});
    }
    AUTO(symbol_path_close)
    SymbolPath *path = open_path(w, server_path(w, "many"), (SymbolPathOptions){0});
    Progress progress = {0};
    assert_int_equal(symbol_find_many(path, ids, COUNT, &progress, &w->arena, results), OK);
    for (int i = 0; i < COUNT; i++)
        assert_true(results[i].outcome == SYMBOL_DOWNLOADED || results[i].outcome == SYMBOL_CACHED);
    assert_int_equal(http_mock_requests(w->mock), 10);
    assert_int_equal(atomic_load(&progress.done), 10 * w->good.n);
    assert_in_range(http_mock_most_at_once(w->mock), 2, LIMIT_SYMBOL_TRANSFERS);
}

static void cancel_soon(void *context) {
    Progress *progress = context;
    while (atomic_load(&progress->done) == 0) {
    }
    atomic_store(&progress->cancelled, true);
}

static void test_cancel(void **state) {
    World *w = *state;
    http_mock_set(w->mock, LEAF "/app.pdb",
                  (MockReply){.status = 200, .mode = MOCK_STALL, .body = buf_str(&w->good)});
    SymbolPathOptions options = {0};
    AUTO(symbol_path_close) SymbolPath *path = open_path(w, server_path(w, "c"), options);
    Progress progress = {0};
    SymbolId id = sample_id();
    SymbolResult result;
    Thread *thread = NULL;
    assert_int_equal(thread_start(cancel_soon, &progress, &thread, NULL), OK);
    assert_int_equal(symbol_find(path, &id, &progress, &w->arena, &result, NULL), ERR_CANCELLED);
    thread_join(thread);
    assert_int_equal(result.outcome, SYMBOL_CANCELLED);
    assert_no_parts(w, w->folder);
}

static void test_file_with_table_on_disk(void **state) {
    World *w = *state;
    write_file(w, "t/app.pdb", buf_str(&w->good));
    SymbolId id = sample_id();
    Str pdb = path_join(&w->arena, w->folder, STR("t/app.pdb"));
    SymFileOptions options = {.id = &id,
                              .table_folder = path_join(&w->arena, w->folder, STR("tables"))};
    for (int round = 0; round < 3; round++) {
        AUTO(symfile_close) SymFile *file = NULL;
        assert_int_equal(symfile_open(pdb, &options, &file, NULL), OK);
        assert_int_equal(symfile_from_disk_table(file), round == 1);
        SymAddress at;
        assert_int_equal(symfile_at(file, 0x110C, true, &w->arena, &at, NULL), OK);
        assert_true(at.found && str_eq(at.function.name, STR("app::main")));
        assert_int_equal(at.offset, 0xC);
        assert_int_equal(at.frames.count, 3);
        // A file of another time gets a table of its own.
        if (round == 1) write_file(w, "t/app.pdb", buf_str(&w->compressed));
    }
    id.age++;
    SymFile *other = NULL;
    assert_int_equal(symfile_open(pdb, &options, &other, NULL), ERR_NOT_FOUND);
}

#define WORLD_TEST(test) cmocka_unit_test_setup_teardown(test, world_open, world_close)

int main(void) {
    const struct CMUnitTest tests[] = {
        WORLD_TEST(test_path_grammar),
        WORLD_TEST(test_path_description),
        WORLD_TEST(test_keys),
        cmocka_unit_test(test_names),
        WORLD_TEST(test_local_places),
        WORLD_TEST(test_two_tier_store),
        WORLD_TEST(test_images),
        WORLD_TEST(test_server_answers),
        WORLD_TEST(test_request_headers),
        WORLD_TEST(test_compressed_download_goes_to_its_own_folder),
        WORLD_TEST(test_network_is_off_unless_wanted),
        WORLD_TEST(test_missing_answers_are_kept),
        WORLD_TEST(test_failing_server_is_left_alone),
        WORLD_TEST(test_unreachable_server),
        WORLD_TEST(test_without_libcurl),
        WORLD_TEST(test_second_server_is_asked),
        WORLD_TEST(test_second_server_after_a_failure),
        WORLD_TEST(test_damaged_store_file_is_fetched_again),
        WORLD_TEST(test_many_at_once),
        WORLD_TEST(test_cancel),
        WORLD_TEST(test_file_with_table_on_disk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
