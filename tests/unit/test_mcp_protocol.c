// What each message is answered with, by a server that answers on the caller's thread: the cases of
// mcp_protocol.txt. Then ids, limits, the token scan and framing.
#include "base/limits.h"
#include "base/os.h"
#include "mcp/jsonrpc.h"
#include "mcp/lines.h"
#include "mcp/methods.h"
#include "mcp/server.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void collect(void *context, Str line) {
    buf_add(context, line);
    buf_add_char(context, '\n');
}

// Everything that comes back for these lines, from a fresh server. Release with buf_done.
static Buf exchange_with(bool structured, const char *input) {
    Buf out = {0};
    Engine *engine = NULL;
    EngineOptions engine_options = {.structured = structured};
    assert_int_equal(engine_open(&engine_options, &engine, NULL), OK);
    McpServerOptions options = {
        .same_thread = true, .send = collect, .context = &out, .progress_interval_ns = 1};
    McpServer *server = mcp_server_open(engine, &options);
    Str rest = str_from_c(input), line;
    while (str_next(&rest, '\n', &line)) mcp_server_line(server, line);
    assert_true(mcp_server_finish(server, 0, 0));
    mcp_server_close(server);
    engine_close(engine);
    (void)buf_str(&out);
    return out;
}

static Buf exchange(const char *input) {
    return exchange_with(false, input);
}

#define REQUEST(id, method, params)                                                                \
    "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"" method "\",\"params\":" params "}\n"
#define CLAIM                                                                                      \
    "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","                       \
    "\"io.modelcontextprotocol/clientCapabilities\":{}}"
#define MODERN(id, method, members) REQUEST(id, method, "{" CLAIM members "}")
#define TOOL(name, arguments) MODERN("1", "tools/call", ",\"name\":\"" name "\"" arguments)
#define SERVER_META                                                                                \
    "\"_meta\":{\"io.modelcontextprotocol/serverInfo\":{\"name\":\"etw-mcp\",\"version\":"         \
    "\"0.0.1-test\"}}"
#define ERROR(code, message)                                                                       \
    "{\"jsonrpc\":\"2.0\",\"error\":{\"code\":" code ",\"message\":\"" message "\"}}\n"

// ---- The cases of mcp_protocol.txt

static Str replaced(Arena *arena, Str line, Str from, Str to) {
    Buf out = {0};
    for (size_t at = str_find(line, from); at != SIZE_MAX; at = str_find(line, from)) {
        buf_add(&out, str_slice(line, 0, at));
        buf_add(&out, to);
        line = str_slice(line, at + from.n, line.n);
    }
    buf_add(&out, line);
    Str text = str_copy(arena, buf_str(&out));
    buf_done(&out);
    return text;
}

static Str expanded(Arena *arena, Str line) {
    line = replaced(arena, line, STR("$CLAIM"), STR(CLAIM));
    line = replaced(arena, line, STR("$SERVER"), STR(SERVER_META));
    return replaced(arena, line, STR("{$"), STR("{\"jsonrpc\":\"2.0\""));
}

// The parts, separated by " ... ", occur in this order.
static bool holds_parts(Str line, Str parts) {
    while (parts.n) {
        size_t end = str_find(parts, STR(" ... "));
        Str part = str_slice(parts, 0, end);
        size_t at = str_find(line, part);
        if (at == SIZE_MAX) return false;
        line = str_slice(line, at + part.n, line.n);
        parts = end == SIZE_MAX ? (Str){0} : str_slice(parts, end + 5, parts.n);
    }
    return true;
}

static bool matches(char kind, Str line, Str wanted) {
    return kind == '<' ? str_eq(line, wanted) : holds_parts(line, wanted);
}

static void check_block(Str block) {
    AUTO(arena_done) Arena arena = {0};
    Buf in = {0}, wanted = {0};
    Str line, name = {0}, rest = block;
    while (str_next(&rest, '\n', &line)) {
        if (str_starts(line, STR("# "))) name = str_slice(line, 2, line.n);
        Buf *to = str_starts(line, STR("> ")) ? &in : &wanted;
        if (str_starts(line, STR("# "))) continue;
        buf_add(to, expanded(&arena, to == &in ? str_slice(line, 2, line.n) : line));
        buf_add_char(to, '\n');
    }
    Buf out = exchange(in.p);
    Str got = buf_str(&out), want = buf_str(&wanted), got_line, want_line;
    while (str_next(&want, '\n', &want_line)) {
        bool any = str_next(&got, '\n', &got_line);
        Str pattern = str_slice(want_line, 2, want_line.n);
        if (!any || !matches(want_line.p[0], got_line, pattern))
            fail_msg(STR_FMT ":\ngot\n%swanted\n%s", STR_ARG(name), out.p, wanted.p);
    }
    if (got.n) fail_msg(STR_FMT ": more than expected: " STR_FMT, STR_ARG(name), STR_ARG(got));
    buf_done(&in);
    buf_done(&wanted);
    buf_done(&out);
}

static void test_cases(void **state) {
    (void)state;
    AUTO(arena_done) Arena arena = {0};
    Str text;
    assert_int_equal(file_read_all(STR(ETW_SOURCE_DIR "/tests/unit/mcp_protocol.txt"), 1 << 20,
                                   &arena, &text, NULL),
                     OK);
    size_t blocks = 0;
    while (text.n) {
        size_t end = str_find(text, STR("\n\n"));
        Str block = str_slice(text, 0, end);
        text = end == SIZE_MAX ? (Str){0} : str_slice(text, end + 2, text.n);
        if (str_find(block, STR("\n> ")) == SIZE_MAX || blocks++ == 0) continue; // the preamble
        check_block(block);
    }
    assert_true(blocks > 80);
}

static void test_ids(void **state) {
    (void)state;
    static const char *const IDS[] = {"0",
                                      "-1",
                                      "9007199254740991",
                                      "9223372036854775807",
                                      "123456789012345678901234567890",
                                      "-99999999999999999999",
                                      "\"\"",
                                      "\"a b\"",
                                      "\"\\u00fc\\n\\\"\\\\\"",
                                      "\"\xE2\x80\xA8 \xF0\x9F\x9A\x80\"",
                                      "\"\\ud83d\\ude80\"",
                                      "\"\\ud800 alone\"",
                                      "\"\\u0000\""};
    for (size_t i = 0; i < COUNT_OF(IDS); i++) {
        char in[256], want[256];
        (void)snprintf(in, sizeof in, "{\"method\":\"ping\",\"id\":%s,\"jsonrpc\":\"2.0\"}\r",
                       IDS[i]);
        (void)snprintf(want, sizeof want, "{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{}}\n",
                       IDS[i]);
        Buf out = exchange(in);
        assert_string_equal(out.p, want);
        buf_done(&out);
    }
}

static void test_not_utf8(void **state) {
    (void)state;
    Buf out = exchange("{\"jsonrpc\":\"2.0\",\"id\":\"\xFF\",\"method\":\"ping\"}");
    assert_string_equal(out.p, ERROR("-32700", "Parse error: the line is not valid UTF-8"));
    buf_done(&out);
}

static void test_structured(void **state) {
    (void)state;
    Buf out = exchange_with(true, TOOL("echo", ",\"arguments\":{\"message\":\"x\"}"));
    assert_true(
        holds_parts(buf_str(&out),
                    STR("\"content\":[{\"type\":\"text\",\"text\":\"{\\\"text\\\":\\\"x\\\"}\"}],"
                        "\"structuredContent\":{\"text\":\"x\"},")));
    buf_done(&out);
    out = exchange_with(true, TOOL("fail", ""));
    assert_null(strstr(out.p, "structuredContent"));
    buf_done(&out);
    out = exchange_with(true, MODERN("1", "tools/list", ""));
    assert_true(holds_parts(buf_str(&out), STR("\"outputSchema\":{\"type\":\"object\",")));
    buf_done(&out);
    out = exchange(MODERN("1", "tools/list", ""));
    assert_null(strstr(out.p, "outputSchema"));
    buf_done(&out);
}

// Two servers, two clients: the same lists, whoever asks and whatever was called before.
static void test_lists_are_constant(void **state) {
    (void)state;
#define LISTS(client)                                                                              \
    REQUEST("0", "initialize",                                                                     \
            "{\"protocolVersion\":\"2025-11-25\",\"clientInfo\":{\"name\":\"" client "\"}}")       \
    REQUEST("1", "tools/list", "{}")                                                               \
    REQUEST("2", "prompts/list", "{}")                                                             \
    REQUEST("3", "resources/list", "{}") REQUEST("4", "resources/templates/list", "{}")
    Buf a = exchange(LISTS("a")), b = exchange(LISTS("claude-code"));
    assert_string_equal(a.p, b.p);
    buf_done(&a);
    buf_done(&b);
}

static void test_limits(void **state) {
    (void)state;
    Buf line = {0};
    for (int i = 0; i < LIMIT_JSON_DEPTH + 1; i++) buf_add_c(&line, "[");
    for (int i = 0; i < LIMIT_JSON_DEPTH + 1; i++) buf_add_c(&line, "]");
    Buf out = exchange(line.p);
    assert_string_equal(out.p, ERROR("-32600", "The message is nested too deeply"));
    buf_done(&out);
    buf_clear(&line);
    for (int i = 0; i < 1000000; i++) buf_add_c(&line, "[");
    out = exchange(line.p);
    assert_string_equal(out.p, ERROR("-32600", "The message is nested too deeply"));
    buf_done(&out);
    buf_clear(&line);
    buf_add_c(&line, "[0");
    for (int i = 0; i < LIMIT_JSON_VALUES; i++) buf_add_c(&line, ",0");
    out = exchange(line.p);
    assert_string_equal(out.p, ERROR("-32600", "The message holds too many values"));
    buf_done(&out);
    buf_done(&line);
}

static void test_scan(void **state) {
    (void)state;
    static const struct {
        const char *in, *text;
    } CASES[] = {
        {"[9223372036854775807,9223372036854775808]",
         "[9223372036854775807,\"9223372036854775808\"]"                                         },
        {"{\"a\":-9223372036854775809}",              "{\"a\":\"-9223372036854775809\"}"         },
        {"[1e999,1e2,-0]",                            "[\"1e999\",1e2,-0]"                       },
        {"[99999999999999999999-1]",                  "[99999999999999999999-1]"                 },
        {"[0999999999999999999999]",                  "[0999999999999999999999]"                 },
        {"{99999999999999999999:1}",                  "{99999999999999999999:1}"                 },
        {"[\"99999999999999999999\"]",                "[\"99999999999999999999\"]"               },
        {"[\"\\ud83d\\ude00\\udc00\\\\ud800\"]",      "[\"\\ud83d\\ude00\\ufffd\\\\ud800\"]"     },
        {"[\"\\ud800\\n\",99999999999999999999]",     "[\"\\ufffd\\n\",\"99999999999999999999\"]"},
        {"[\"\\uD8",                                  "[\"\\uD8"                                 },
        {"\"\\",                                      "\"\\"                                     },
        {"]]]}}}:,,\"",                               "]]]}}}:,,\""                              },
    };
    for (size_t i = 0; i < COUNT_OF(CASES); i++) {
        AUTO(arena_done) Arena arena = {0};
        JsonScan scan;
        json_scan(str_from_c(CASES[i].in), &arena, &scan);
        if (!str_eq(scan.text, str_from_c(CASES[i].text)))
            fail_msg("%s became " STR_FMT, CASES[i].in, STR_ARG(scan.text));
    }
}

typedef struct Framed {
    Buf lines;
    size_t refused;
} Framed;

static void framed_line(void *context, Str line) {
    Framed *framed = context;
    buf_add_char(&framed->lines, '<');
    buf_add(&framed->lines, line);
    buf_add_char(&framed->lines, '>');
}

static void framed_too_long(void *context, size_t max_bytes) {
    (void)max_bytes;
    ((Framed *)context)->refused++;
}

static void test_framing(void **state) {
    (void)state;
    static const struct {
        const char *in, *out;
        size_t refused;
    } CASES[] = {
        {"a\nb\n",                                    "<a><b>",         0},
        {"a\nb",                                      "<a><b>",         0},
        {"\xEF\xBB\xBF"
         "a\n\xEF\xBB\xBF"
         "b\n",                              "<a><\xEF\xBB\xBF"
         "b>",                                  0},
        {"\n\n\r\n",                                  "<><><\r>",       0},
        {"12345678\n123456789\nok\n",                 "<12345678><ok>", 1},
        {"1234567890123456789012345\nok\n9999999999", "<ok>",           2},
        {"",                                          "",               0},
    };
    for (size_t i = 0; i < COUNT_OF(CASES); i++) {
        Str in = str_from_c(CASES[i].in);
        for (size_t piece = 1; piece <= in.n + 1; piece++) { // the reads must not matter
            Framed framed = {0};
            Lines lines = {.line = framed_line,
                           .too_long = framed_too_long,
                           .context = &framed,
                           .max_bytes = 8};
            for (size_t at = 0; at < in.n; at += piece)
                lines_add(&lines, str_slice(in, at, at + piece));
            lines_end(&lines);
            assert_string_equal(framed.lines.p ? framed.lines.p : "", CASES[i].out);
            assert_int_equal(framed.refused, CASES[i].refused);
            lines_done(&lines);
            buf_done(&framed.lines);
        }
    }
}

static void test_quote(void **state) {
    (void)state;
    AUTO(arena_done) Arena arena = {0};
    assert_true(str_eq(rpc_quote(&arena, STR("abc"), 3), STR("abc")));
    assert_true(str_eq(rpc_quote(&arena, STR("abcd"), 3), STR("abc...")));
    assert_true(str_eq(rpc_quote(&arena, STR("a\xC3\xBC!"), 2), STR("a...")));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cases),
        cmocka_unit_test(test_not_utf8),
        cmocka_unit_test(test_ids),
        cmocka_unit_test(test_structured),
        cmocka_unit_test(test_lists_are_constant),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_scan),
        cmocka_unit_test(test_framing),
        cmocka_unit_test(test_quote),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
