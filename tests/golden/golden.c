// Golden tests: runs the calls of a .test file and compares the replies with the text in it.
//
//   # comment
//   event lines             a trace script (tests/support/README.md), or
//   pdb NAME                the sample PDB of tests/support/pdb_build.h beside the trace, for DIR
//   shared NAME.etl         a trace of ../shared/traces; the test is skipped without it
//   call TOOL {"a": 1}      trace_id is added when the tool takes one
//   csv TOOL {...}          the same as CSV; json TOOL {...} as JSON
//   ----
//   expected text           up to the next call; "trace" begins another trace: a line "===="
//
// The id of the trace shows as TRACE and its folder as DIR. UPDATE=1 in the environment rewrites
// the file. Exit status: 0 all equal, 1 different, 77 skipped.
#include "base/os.h"
#include "support/etl_build_script.h"
#include "support/pdb_build.h"
#include "support/shared_data.h"
#include "tools/engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SKIPPED = 77, FILE_BYTES_MAX = 4 * 1024 * 1024 };

typedef struct Golden {
    Arena arena;
    Engine *engine;
    Str folder;           // for the traces that scripts make
    const char *trace_id; // of the trace in use; NULL: none
    Str trace_folder;
    unsigned traces; // made so far
    bool skipped;
    Buf out; // the file as it should be
    Str failure;
} Golden;

static bool fail(Golden *golden, const char *what, const char *why) {
    golden->failure = str_format(&golden->arena, "%s: %s", what, why);
    return false;
}

// ---------------------------------------------------------------- traces

static Str shared_trace(Golden *golden, Str name) {
    Str folder = shared_folder(ETW_SOURCE_DIR, "traces", &golden->arena);
    if (!folder.n) return (Str){0};
    Str path = path_join(&golden->arena, folder, name);
    FileInfo info = {0};
    return os_stat(path, &info, NULL) == OK && info.is_file ? path : (Str){0};
}

static bool put_pdb(Golden *golden, Str folder, Str name) {
    Err err = {0};
    AUTO(buf_done) Buf bytes = {0};
    AUTO(pdb_build_free) PdbBuild *build = pdb_build_sample();
    pdb_build_msf(build, (MsfSpec){0}, &bytes);
    Str path = path_join(&golden->arena, folder, name);
    return file_write_atomic(path, buf_str(&bytes), &err) == OK || fail(golden, "pdb", err.text);
}

// Writes the PDBs that a script asks for, and cuts those lines out of it.
static bool put_pdbs(Golden *golden, Str folder, Str *script) {
    AUTO(buf_done) Buf out = {0};
    Str rest = *script, line = {0};
    while (str_next(&rest, '\n', &line)) {
        bool pdb = str_starts(line, STR("pdb "));
        if (pdb && !put_pdb(golden, folder, str_trim(str_slice(line, 4, line.n)))) return false;
        buf_addf(&out, STR_FMT "\n", STR_ARG(pdb ? (Str){0} : line));
    }
    *script = str_copy(&golden->arena, buf_str(&out));
    return true;
}

static bool make_trace(Golden *golden, Str script, Str *path) {
    Err err = {0};
    Str folder =
        str_format(&golden->arena, STR_FMT "/%u", STR_ARG(golden->folder), ++golden->traces);
    *path = path_join(&golden->arena, folder, STR("test.etl"));
    if (os_make_folders(folder, &err) != OK) return fail(golden, "folder", err.text);
    if (!put_pdbs(golden, folder, &script)) return false;
    if (etl_build_script_file(script, *path, &err) != OK) return fail(golden, "script", err.text);
    return true;
}

static bool open_trace(Golden *golden, Str script) {
    Str rest = script, line = {0}, path = {0};
    bool has_lines = false;
    while (str_next(&rest, '\n', &line)) {
        line = str_trim(line);
        if (str_starts(line, STR("shared "))) {
            path = shared_trace(golden, str_trim(str_slice(line, 7, line.n)));
            golden->skipped = !path.n;
            if (golden->skipped) return true;
        }
        has_lines = has_lines || (line.n && line.p[0] != '#');
    }
    golden->trace_id = NULL;
    golden->trace_folder = (Str){0};
    if (!has_lines) return true; // tools that take no trace
    if (!path.n && !make_trace(golden, script, &path)) return false;
    Err err = {0};
    if (engine_load(golden->engine, path, false, NULL, &golden->arena, &golden->trace_id, &err) !=
        OK) {
        golden->trace_id = NULL; // "call load_trace" then says why
    }
    golden->trace_folder = path_folder(path);
    return true;
}

// ---------------------------------------------------------------- calls

static Str replaced(Arena *arena, Str text, Str what, const char *by) {
    if (!what.n) return text;
    Buf out = {0};
    size_t at = 0;
    while ((at = str_find(text, what)) != SIZE_MAX) {
        buf_add(&out, str_slice(text, 0, at));
        buf_add_c(&out, by);
        text = str_slice(text, at + what.n, text.n);
    }
    buf_add(&out, text);
    Str result = str_copy(arena, buf_str(&out));
    buf_done(&out);
    return result;
}

static json_t *call_arguments(Golden *golden, const ToolInfo *tool, Str text) {
    text =
        replaced(&golden->arena, text, STR("TRACE"), golden->trace_id ? golden->trace_id : "TRACE");
    char *folder = str_to_c(&golden->arena, golden->trace_folder);
    text = replaced(&golden->arena, text, STR("DIR"), folder);
    json_t *arguments = text.n ? json_loadb(text.p, text.n, 0, NULL) : json_object();
    const json_t *properties = json_object_get(tool->input_schema, "properties");
    bool wanted = arguments && golden->trace_id && json_object_get(properties, "trace_id") &&
                  !json_object_get(properties, "etl_path");
    if (wanted && !json_object_get(arguments, "trace_id"))
        (void)json_object_set_new(arguments, "trace_id", json_string(golden->trace_id));
    return arguments;
}

static ReplyFormat format_of(Str verb) {
    if (str_eq(verb, STR("csv"))) return REPLY_CSV;
    return str_eq(verb, STR("json")) ? REPLY_JSON : REPLY_MARKDOWN;
}

// The list of tools without data changes with every new tool: only that it is there is compared.
static Str without_tool_list(Arena *arena, Str text) {
    static const char START[] = "Tools without data here: ";
    size_t at = str_find(text, str_from_c(START));
    if (at == SIZE_MAX) return text;
    size_t from = at + sizeof START - 1, end = from;
    while (end < text.n && text.p[end] != '\n') end++;
    return str_format(arena, STR_FMT "TOOLS" STR_FMT, STR_ARG(str_slice(text, 0, from)),
                      STR_ARG(str_slice(text, end, text.n)));
}

// "call TOOL {...}" to the reply's text.
static bool run_call(Golden *golden, Str line, Str *text) {
    Str rest = line, verb = {0}, name = {0};
    (void)str_next(&rest, ' ', &verb);
    rest = str_trim(rest);
    size_t space = str_find(rest, STR(" "));
    name = str_slice(rest, 0, space);
    Str given = space == SIZE_MAX ? (Str){0} : str_trim(str_slice(rest, space, rest.n));
    const ToolInfo *tool = engine_tool_named(golden->engine, name);
    if (!tool) return fail(golden, "no such tool", str_to_c(&golden->arena, name));
    json_t *arguments = call_arguments(golden, tool, given);
    if (!arguments) return fail(golden, "not JSON", str_to_c(&golden->arena, given));
    ToolReply reply = {0};
    engine_call(golden->engine, tool, arguments, format_of(verb), NULL, &golden->arena, &reply);
    json_decref(arguments);
    Str id = str_from_c(golden->trace_id);
    *text = replaced(&golden->arena, reply.text, id, "TRACE");
    *text = replaced(&golden->arena, *text, golden->trace_folder, "DIR");
    *text = replaced(&golden->arena, *text, STR("\r"), "");
    *text = without_tool_list(&golden->arena, *text);
    if (reply.is_error) *text = str_format(&golden->arena, "error: " STR_FMT, STR_ARG(*text));
    return true;
}

// ---------------------------------------------------------------- the file

static bool is_call(Str line) {
    return str_starts(line, STR("call ")) || str_starts(line, STR("csv ")) ||
           str_starts(line, STR("json "));
}

static Str trimmed_end(Str text) {
    while (text.n && (text.p[text.n - 1] == '\n' || text.p[text.n - 1] == ' ')) text.n--;
    return text;
}

// Everything up to the next call or "====" is the expected text of the call before: it is written
// anew. Blank lines between two blocks are part of the layout.
static bool run_file(Golden *golden, Str text) {
    Str rest = text, line = {0};
    Buf script = {0};
    bool in_script = true, fine = true;
    while (fine && !golden->skipped && str_next(&rest, '\n', &line)) {
        if (str_eq(line, STR("===="))) {
            buf_add_c(&golden->out, "====\n");
            buf_clear(&script);
            in_script = true;
        } else if (is_call(line)) {
            Str reply = {0};
            if (in_script) fine = open_trace(golden, buf_str(&script));
            in_script = false;
            if (fine && !golden->skipped) fine = run_call(golden, line, &reply);
            Str shown = trimmed_end(reply);
            buf_addf(&golden->out, STR_FMT "\n----\n" STR_FMT "\n\n", STR_ARG(line),
                     STR_ARG(shown));
        } else if (in_script) {
            buf_addf(&script, STR_FMT "\n", STR_ARG(line));
            buf_addf(&golden->out, STR_FMT "\n", STR_ARG(line));
        }
    }
    buf_done(&script);
    return fine;
}

static void show_difference(Str wanted, Str got) {
    Str a = {0}, b = {0};
    unsigned line = 0, shown = 0;
    for (;;) {
        bool more_a = str_next(&wanted, '\n', &a), more_b = str_next(&got, '\n', &b);
        if (!more_a && !more_b) return;
        line++;
        if (more_a == more_b && str_eq(a, b)) continue;
        if (++shown > 12) {
            printf("...\n");
            return;
        }
        if (more_a) printf("%u - " STR_FMT "\n", line, STR_ARG(a));
        if (more_b) printf("%u + " STR_FMT "\n", line, STR_ARG(b));
    }
}

static int compare(Golden *golden, Str path, Str text) {
    Str made = trimmed_end(buf_str(&golden->out));
    if (str_eq(made, trimmed_end(text))) return 0;
    if (os_env("UPDATE").n) {
        Str whole = str_format(&golden->arena, STR_FMT "\n", STR_ARG(made));
        Err err = {0};
        if (file_write_atomic(path, whole, &err) == OK) return 0;
        printf("%s\n", err.text);
        return 1;
    }
    show_difference(trimmed_end(text), made);
    printf(STR_FMT " differs; UPDATE=1 rewrites it\n", STR_ARG(path));
    return 1;
}

static int run(Golden *golden, Str path) {
    Err err = {0};
    Str text = {0};
    EngineOptions options = {.quiet = true};
    if (file_read_all(path, FILE_BYTES_MAX, &golden->arena, &text, &err) != OK ||
        engine_open(&options, &golden->engine, &err) != OK) {
        printf("%s\n", err.text);
        return 1;
    }
    if (!run_file(golden, text)) {
        printf(STR_FMT ": " STR_FMT "\n", STR_ARG(path), STR_ARG(golden->failure));
        return 1;
    }
    if (golden->skipped) {
        printf("skipped: its trace is not there\n");
        return SKIPPED;
    }
    return compare(golden, path, text);
}

int main(int argc, char **argv) {
    (void)unsetenv("_NT_SYMBOL_PATH"); // names would depend on the machine
    (void)unsetenv("_NT_ALT_SYMBOL_PATH");
    if (argc != 2) {
        printf("usage: golden FILE.test\n");
        return 2;
    }
    Golden golden = {0};
    Str path = str_from_c(argv[1]);
    Str name =
        str_format(&golden.arena, "golden-%d-" STR_FMT, os_process_id(), STR_ARG(path_stem(path)));
    golden.folder = path_join(&golden.arena, os_cache_folder(&golden.arena), name);
    int status = run(&golden, path);
    engine_close(golden.engine);
    (void)os_remove_tree(golden.folder, NULL);
    buf_done(&golden.out);
    arena_done(&golden.arena);
    return status;
}
