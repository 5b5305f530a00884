// Which databases count as valid: every kind of damage is found and named, a moved trace keeps its
// database, and another program's manifest is left alone.
#include "support/store_fill.h"

#include <string.h>

static const TableId TABLES[] = {T_SAMPLE, T_PROCESS};

static Str manifest_path(StoreCase *c) {
    return path_join(&c->arena, c->folder, STR("wpr-mcp-cache-manifest.json"));
}

static json_t *manifest_read(StoreCase *c) {
    Str text;
    assert_int_equal(file_read_all(manifest_path(c), 1 << 22, &c->arena, &text, NULL), OK);
    json_t *json = json_loadb(text.p, text.n, 0, NULL);
    assert_non_null(json);
    return json;
}

static void manifest_replace(StoreCase *c, Str text) {
    assert_int_equal(file_write_atomic(manifest_path(c), text, NULL), OK);
}

static void manifest_store(StoreCase *c, json_t *json) {
    char *text = json_dumps(json, 0);
    manifest_replace(c, str_from_c(text));
    free(text);
    json_decref(json);
}

static json_t *first_file(json_t *json) {
    json_t *datasets = json_object_get(json, "datasets");
    json_t *files = json_object_get(json_array_get(datasets, T_SAMPLE), "files");
    assert_int_equal(json_array_size(files), 1);
    return json_array_get(files, 0);
}

static Str first_path(StoreCase *c) {
    json_t *json = manifest_read(c);
    Str name = str_copy(&c->arena,
                        str_from_c(json_string_value(json_object_get(first_file(json), "path"))));
    json_decref(json);
    return path_join(&c->arena, c->folder, name);
}

// The database is invalid for a reason that holds `reason`, and does not open unless the reason is
// the trace.
static void expect_invalid(StoreCase *c, const char *what, const char *reason, bool opens) {
    Str why = {0};
    StoreState state = case_state(c, &why);
    Str wanted = str_from_c(reason);
    if (state == STORE_VALID || str_find(why, wanted) == SIZE_MAX)
        fail_msg("%s: state %d, " STR_FMT, what, (int)state, STR_ARG(why));
    Database *database = NULL;
    Err err = {0};
    Status status = database_open(c->folder, NULL, &database, &err);
    assert_int_equal(status == OK, opens);
    if (!opens && !strstr(err.text, reason)) fail_msg("%s: %s", what, err.text);
    database_close(database);
}

static void the_manifest_has_the_documented_keys(void **state) {
    (void)state;
    StoreCase c;
    case_open(&c);
    case_write(&c, TABLES, COUNT_OF(TABLES), 100);
    json_t *json = manifest_read(&c);
    static const char *const KEYS[] = {"schema_version",
                                       "producer",
                                       "mode",
                                       "etl_identity",
                                       "datasets",
                                       "created_at",
                                       "complete",
                                       "finalized",
                                       "finalized_at",
                                       "tool_version",
                                       "dataset_count",
                                       "event_schema_version",
                                       "info"};
    for (size_t i = 0; i < COUNT_OF(KEYS); i++)
        if (!json_object_get(json, KEYS[i])) fail_msg("no key %s", KEYS[i]);
    assert_int_equal(json_integer_value(json_object_get(json, "schema_version")), 3);
    assert_string_equal(json_string_value(json_object_get(json, "producer")), "etw-mcp");
    assert_int_equal(json_array_size(json_object_get(json, "datasets")), TABLE_COUNT);
    json_decref(json);
    case_close(&c);
}

static void damaged_manifests_are_found(void **state) {
    (void)state;
    static const struct {
        const char *text, *reason;
    } CASES[] = {
        {"",                                                       "not JSON"     },
        {"{",                                                      "not JSON"     },
        {"\x01\x02",                                               "not JSON"     },
        {"{\"producer\": \"etw-mcp\", \"producer\": \"x\"}",       "not JSON"     },
        {"[]",                                                     "not an object"},
        {"{\"producer\": \"etw-mcp\"}",                            "version"      },
        {"{\"producer\": \"etw-mcp\", \"schema_version\": 2}",     "version"      },
        {"{\"producer\": \"etw-mcp\", \"schema_version\": \"3\"}", "version"      },
    };
    StoreCase c;
    case_open(&c);
    expect_invalid(&c, "none", "no manifest", false);
    case_write(&c, TABLES, COUNT_OF(TABLES), 100);
    for (size_t i = 0; i < COUNT_OF(CASES); i++) {
        manifest_replace(&c, str_from_c(CASES[i].text));
        expect_invalid(&c, CASES[i].text, CASES[i].reason, false);
    }
    Str why;
    case_write(&c, TABLES, COUNT_OF(TABLES), 100);
    assert_int_equal(case_state(&c, &why), STORE_VALID);
    assert_int_equal(os_remove_file(manifest_path(&c), NULL), OK);
    assert_int_equal(os_make_folders(manifest_path(&c), NULL), OK);
    expect_invalid(&c, "a folder", "not a manifest file", false);
    case_close(&c);
}

// Replaces one value somewhere in the manifest; `value` is JSON, NULL removes the key.
typedef struct Edit {
    const char *where; // "", "etl_identity", "dataset" or "file"
    const char *key, *value, *reason;
    bool opens;
} Edit;

static const Edit EDITS[] = {
    {"",             "complete",             "false",                "not complete",      false},
    {"",             "complete",             NULL,                   "not complete",      false},
    {"",             "complete",             "1",                    "not complete",      false},
    {"",             "finalized",            "false",                "not finalized",     false},
    {"",             "event_schema_version", "0",                    "table definitions", false},
    {"",             "table_schema",         "\"0\"",                "table definitions", false},
    {"",             "datasets",             "{}",                   "no list",           false},
    {"",             "generation_id",        "\"../x\"",             "no generation",     false},
    {"",             "generation_id",        "\"a/b\"",              "no generation",     false},
    {"",             "generation_id",        NULL,                   "no generation",     false},
    {"etl_identity", "size",                 "1",                    "1 bytes",           true },
    {"etl_identity", "size",                 "-1",                   "names no trace",    false},
    {"etl_identity", "mtime_ns",             "1",                    "modified",          true },
    {"etl_identity", "path",                 "\"/other/place.etl\"", "named place.etl",   true },
    {"etl_identity", "path",                 NULL,                   "names no trace",    false},
    {"dataset",      "name",                 "\"nosuch\"",           "unknown table",     false},
    {"dataset",      "name",                 "7",                    "unknown table",     false},
    {"dataset",      "row_count",            "99",                   "contradicts",       false},
    {"dataset",      "files",                "7",                    "unknown table",     false},
    {"file",         "path",                 "\"/etc/passwd\"",      "outside",           false},
    {"file",         "path",                 "\"../demo.etl\"",      "outside",           false},
    {"file",         "path",                 "\"g/../../demo.etl\"", "outside",           false},
    {"file",         "path",                 "\"C:\\\\x\"",          "outside",           false},
    {"file",         "path",                 "\"g\\\\x\"",           "outside",           false},
    {"file",         "path",                 "\"./x\"",              "outside",           false},
    {"file",         "path",                 "\"\"",                 "outside",           false},
    {"file",         "path",                 "\"x//y\"",             "outside",           false},
    {"file",         "path",                 "7",                    "outside",           false},
    {"file",         "path",                 "\"nosuch.parquet\"",   "missing",           false},
    {"file",         "size",                 "5",                    "not 5",             false},
    {"file",         "size",                 NULL,                   "too little",        false},
    {"file",         "row_count",            "-1",                   "too little",        false},
};

static void damaged_entries_are_found(void **state) {
    (void)state;
    StoreCase c;
    case_open(&c);
    case_write(&c, TABLES, COUNT_OF(TABLES), 100);
    Str good;
    assert_int_equal(file_read_all(manifest_path(&c), 1 << 22, &c.arena, &good, NULL), OK);
    for (size_t i = 0; i < COUNT_OF(EDITS); i++) {
        const Edit *edit = &EDITS[i];
        manifest_replace(&c, good);
        json_t *json = manifest_read(&c), *target = json;
        if (strcmp(edit->where, "file") == 0) target = first_file(json);
        if (strcmp(edit->where, "etl_identity") == 0) target = json_object_get(json, edit->where);
        if (strcmp(edit->where, "dataset") == 0)
            target = json_array_get(json_object_get(json, "datasets"), T_SAMPLE);
        if (edit->value)
            json_object_set_new(target, edit->key, json_loads(edit->value, JSON_DECODE_ANY, NULL));
        else
            json_object_del(target, edit->key);
        manifest_store(&c, json);
        Str name = str_format(&c.arena, "%s.%s = %s", edit->where, edit->key,
                              edit->value ? edit->value : "(removed)");
        expect_invalid(&c, name.p, edit->reason, edit->opens);
    }
    case_close(&c);
}

static void damaged_files_are_found(void **state) {
    (void)state;
    StoreCase c;
    case_open(&c);
    case_write(&c, TABLES, COUNT_OF(TABLES), 100);
    Str path = first_path(&c), bytes;
    assert_int_equal(file_read_all(path, 1 << 22, &c.arena, &bytes, NULL), OK);
    char *zeros = mem_zero(1, bytes.n);
    assert_int_equal(file_write_atomic(path, (Str){zeros, bytes.n}, NULL), OK);
    expect_invalid(&c, "zeros", "damaged", false);
    assert_int_equal(file_write_atomic(path, str_slice(bytes, 0, bytes.n - 1), NULL), OK);
    expect_invalid(&c, "cut", "bytes, not", false);
    assert_int_equal(file_write_atomic(path, STR(""), NULL), OK);
    expect_invalid(&c, "empty", "bytes, not", false);
    assert_int_equal(os_remove_file(path, NULL), OK);
    expect_invalid(&c, "gone", "missing", false);
    Str elsewhere = case_path(&c, "elsewhere.parquet");
    assert_int_equal(file_write_atomic(elsewhere, bytes, NULL), OK);
    assert_int_equal(symlink(elsewhere.p, path.p), 0);
    expect_invalid(&c, "link", "link", false);
    assert_int_equal(os_remove_file(path, NULL), OK);
    assert_int_equal(os_make_folders(path, NULL), OK);
    expect_invalid(&c, "folder", "not a file", false);
    mem_free(zeros);
    case_close(&c);
}

static void a_changed_trace_invalidates(void **state) {
    (void)state;
    StoreCase c;
    case_open(&c);
    case_write(&c, TABLES, COUNT_OF(TABLES), 100);
    char old_id[TRACE_ID_SIZE];
    memcpy(old_id, c.identity.trace_id, sizeof old_id);
    assert_int_equal(strlen(old_id), strlen("trace_") + 12);
    assert_int_equal(file_write_atomic(c.trace, STR("longer than it was before"), NULL), OK);
    case_identity(&c);
    assert_string_not_equal(c.identity.trace_id, old_id);
    expect_invalid(&c, "grown", "bytes", true);
    case_close(&c);
}

static void a_moved_trace_stays_valid(void **state) {
    (void)state;
    StoreCase c;
    Str why;
    case_open(&c);
    case_write(&c, TABLES, COUNT_OF(TABLES), 100);
    Str moved = case_path(&c, "other place [1] it's *");
    assert_int_equal(os_make_folders(moved, NULL), OK);
    Str trace = path_join(&c.arena, moved, STR("demo.etl"));
    Str folder = path_join(&c.arena, moved, STR(".etw-export-demo"));
    assert_int_equal(os_rename(c.trace, trace, NULL), OK);
    assert_int_equal(os_rename(c.folder, folder, NULL), OK);
    c.trace = trace;
    c.folder = folder;
    case_identity(&c);
    assert_int_equal(case_state(&c, &why), STORE_VALID);
    Database *database = NULL;
    assert_int_equal(database_open(c.folder, NULL, &database, NULL), OK);
    assert_int_equal(case_number(&c, database, "SELECT count(*) FROM sample"), 100);
    ResultSet set;
    Err err = {0};
    if (database_user_query(database, STR("SELECT count(*) FROM sample"), 1, 5, NULL, &c.arena,
                            &set, &err) != OK)
        fail_msg("%s", err.text);
    database_close(database);
    case_close(&c);
}

static void foreign_manifests_are_left_alone(void **state) {
    (void)state;
    static const char FOREIGN[] = "{\"producer\": \"dotnet\", \"schema_version\": 3}";
    StoreCase c;
    Str why, text;
    case_open(&c);
    assert_int_equal(os_make_folders(c.folder, NULL), OK);
    manifest_replace(&c, str_from_c(FOREIGN));
    assert_int_equal(case_state(&c, &why), STORE_NONE);
    case_write(&c, TABLES, COUNT_OF(TABLES), 100);
    assert_int_equal(case_state(&c, &why), STORE_VALID);
    assert_int_equal(file_read_all(manifest_path(&c), 1000, &c.arena, &text, NULL), OK);
    assert_true(str_eq(text, str_from_c(FOREIGN)));
    Database *database = NULL;
    assert_int_equal(database_open(c.folder, NULL, &database, NULL), OK);
    assert_int_equal(case_number(&c, database, "SELECT count(*) FROM sample"), 100);
    database_close(database);
    case_close(&c);
}

// It arrives while a load runs.
static void foreign_manifests_may_come_late(void **state) {
    (void)state;
    static const char FOREIGN[] = "{\"producer\": \"dotnet\"}";
    StoreCase c;
    Str why, text;
    case_open(&c);
    StoreWriter *writer = NULL;
    Rows rows;
    assert_int_equal(store_writer_open(c.folder, &c.identity, &writer, NULL), OK);
    rows_init(&rows, store_writer_sink(writer));
    fill_rows(&rows, T_SAMPLE, 0, 100);
    assert_int_equal(rows_flush(&rows, NULL), OK);
    manifest_replace(&c, str_from_c(FOREIGN));
    assert_int_equal(store_commit(writer, STR("auto"), NULL, NULL), OK);
    store_writer_close(writer);
    assert_int_equal(case_state(&c, &why), STORE_VALID);
    assert_int_equal(file_read_all(manifest_path(&c), 1000, &c.arena, &text, NULL), OK);
    assert_true(str_eq(text, str_from_c(FOREIGN)));
    case_close(&c);
}

static void folders_fall_back_to_the_cache(void **state) {
    (void)state;
    StoreCase c;
    case_open(&c);
    bool fallback = false;
    // A stem too long for a folder name beside the trace.
    char name[254];
    memset(name, 'x', 249);
    memcpy(name + 249, ".etl", 5);
    c.trace = case_path(&c, name);
    assert_int_equal(file_write_atomic(case_path(&c, "short"), STR("x"), NULL), OK);
    assert_int_equal(os_rename(case_path(&c, "short"), c.trace, NULL), OK);
    case_identity(&c);
    Str folder = store_folder(&c.identity, &c.arena, &fallback);
    assert_true(fallback);
    assert_true(str_starts(folder, os_cache_folder(&c.arena)));
    assert_true(path_name(folder).n < 200);
    case_close(&c);
}

static void traces_must_be_files(void **state) {
    (void)state;
    StoreCase c;
    TraceIdentity identity;
    case_open(&c);
    assert_int_equal(trace_identity(c.base, &c.arena, &identity, NULL), ERR_INPUT);
    assert_int_equal(trace_identity(case_path(&c, "nosuch.etl"), &c.arena, &identity, NULL),
                     ERR_NOT_FOUND);
    Str link = case_path(&c, "link.etl");
    assert_int_equal(symlink(c.trace.p, link.p), 0);
    assert_int_equal(trace_identity(link, &c.arena, &identity, NULL), OK);
    assert_string_equal(identity.trace_id, c.identity.trace_id);
    case_close(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_manifest_has_the_documented_keys),
        cmocka_unit_test(damaged_manifests_are_found),
        cmocka_unit_test(damaged_entries_are_found),
        cmocka_unit_test(damaged_files_are_found),
        cmocka_unit_test(a_changed_trace_invalidates),
        cmocka_unit_test(a_moved_trace_stays_valid),
        cmocka_unit_test(foreign_manifests_are_left_alone),
        cmocka_unit_test(foreign_manifests_may_come_late),
        cmocka_unit_test(folders_fall_back_to_the_cache),
        cmocka_unit_test(traces_must_be_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
