// What needs threads: requests in parallel, cancellation, progress, subscriptions, the end of
// input. Waits are on events, with a generous bound; nothing asserts that something is fast, except
// that it must not take as long as a tool that runs meanwhile.
#include "base/os.h"
#include "mcp/pool.h"
#include "mcp/server.h"
#include "support/tools/fake_engine.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const uint64_t MS = 1000000, PATIENCE_NS = 20000000000u;

// A server whose lines are collected.
typedef struct Fixture {
    Engine *engine;
    McpServer *server;
    Mutex lock;
    Condition arrived;
    Buf out;
} Fixture;

static void collect(void *context, Str line) {
    Fixture *fixture = context;
    mutex_lock(&fixture->lock);
    buf_add(&fixture->out, line);
    buf_add_char(&fixture->out, '\n');
    condition_signal_all(&fixture->arrived);
    mutex_unlock(&fixture->lock);
}

static void start(Fixture *fixture, unsigned workers) {
    *fixture = (Fixture){0};
    mutex_init(&fixture->lock);
    condition_init(&fixture->arrived);
    assert_int_equal(engine_open(NULL, &fixture->engine, NULL), OK);
    McpServerOptions options = {
        .workers = workers, .send = collect, .context = fixture, .progress_interval_ns = 1};
    fixture->server = mcp_server_open(fixture->engine, &options);
}

static void stop(Fixture *fixture) {
    assert_true(mcp_server_finish(fixture->server, PATIENCE_NS, PATIENCE_NS));
    mcp_server_close(fixture->server);
    engine_close(fixture->engine);
    buf_done(&fixture->out);
    condition_done(&fixture->arrived);
    mutex_done(&fixture->lock);
}

static void say(Fixture *fixture, const char *line) {
    mcp_server_line(fixture->server, str_from_c(line));
}

static bool has(Fixture *fixture, const char *part) {
    mutex_lock(&fixture->lock);
    bool found = str_find(buf_str(&fixture->out), str_from_c(part)) != SIZE_MAX;
    mutex_unlock(&fixture->lock);
    return found;
}

static void wait_for(Fixture *fixture, const char *part) {
    uint64_t end = os_now_ns() + PATIENCE_NS;
    mutex_lock(&fixture->lock);
    while (str_find(buf_str(&fixture->out), str_from_c(part)) == SIZE_MAX && os_now_ns() < end)
        (void)condition_wait_for(&fixture->arrived, &fixture->lock, 100 * MS);
    mutex_unlock(&fixture->lock);
    if (!has(fixture, part)) fail_msg("no %s in\n%s", part, fixture->out.p ? fixture->out.p : "");
}

static void wait_running(Fixture *fixture, unsigned count) {
    uint64_t end = os_now_ns() + PATIENCE_NS;
    mutex_lock(&fixture->lock);
    while (fake_engine_running() != count && os_now_ns() < end)
        (void)condition_wait_for(&fixture->arrived, &fixture->lock, 2 * MS);
    mutex_unlock(&fixture->lock);
    assert_int_equal(fake_engine_running(), count);
}

#define CLAIM                                                                                      \
    "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","                       \
    "\"io.modelcontextprotocol/clientCapabilities\":{}"
#define CALL(id, tool, arguments, meta)                                                            \
    "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"tools/call\",\"params\":{\"name\":\"" tool    \
    "\",\"arguments\":" arguments "," CLAIM meta "}}}"
#define CANCEL(id)                                                                                 \
    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":" id "}}"
#define PING(id) "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"ping\"}"
#define LISTEN(id)                                                                                 \
    "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"subscriptions/listen\",\"params\":{"          \
    "\"notifications\":{}," CLAIM "}}}"

static void test_parallel(void **state) {
    (void)state;
    Fixture f;
    start(&f, 8);
    for (int i = 0; i < 8; i++) {
        char line[512];
        (void)snprintf(line, sizeof line, CALL("%d", "slow", "{\"ms\":60000}", ""), i);
        say(&f, line);
    }
    wait_running(&f, 8);
    say(&f, PING("\"while busy\"")); // needs no worker
    wait_for(&f, "\"id\":\"while busy\",\"result\":{}");
    say(&f, CALL("\"queued\"", "echo", "{\"message\":\"at last\"}", ""));
    assert_false(has(&f, "at last"));
    say(&f, CANCEL("3")); // makes room
    wait_for(&f, "at last");
    for (int i = 0; i < 8; i++) {
        char line[128];
        (void)snprintf(line, sizeof line, CANCEL("%d"), i);
        say(&f, line);
    }
    wait_running(&f, 0);
    stop(&f);
}

static void test_cancel(void **state) {
    (void)state;
    Fixture f;
    start(&f, 1);
    say(&f, CALL("1", "slow", "{\"ms\":60000}", ",\"progressToken\":\"p\""));
    say(&f, CALL("\"1\"", "echo", "{\"message\":\"dropped\"}", ""));
    say(&f, CALL("2", "echo", "{\"message\":\"kept\"}", ""));
    wait_for(&f, "\"progressToken\":\"p\",\"progress\":0,\"total\":60000,");
    say(&f, CANCEL("\"1\"")); // the text "1" is not the number 1
    assert_int_equal(fake_engine_running(), 1);
    say(&f, CANCEL("1"));
    say(&f, CANCEL("1"));
    wait_for(&f, "kept");
    wait_running(&f, 0);
    assert_false(has(&f, "dropped"));
    assert_false(has(&f, "\"id\":1,"));
    say(&f, CANCEL("2")); // too late: ignored
    say(&f, CANCEL("null"));
    stop(&f);
}

// A call that does not notice cancellation is answered by silence all the same.
static void test_cancel_deaf(void **state) {
    (void)state;
    Fixture f;
    start(&f, 1);
    say(&f, CALL("7", "stuck", "{\"ms\":200}", ",\"progressToken\":7"));
    wait_for(&f, "\"progressToken\":7");
    say(&f, CANCEL("7"));
    mutex_lock(&f.lock);
    buf_clear(&f.out);
    mutex_unlock(&f.lock);
    say(&f, CALL("8", "echo", "{\"message\":\"next\"}", ""));
    wait_for(&f, "next");
    assert_false(has(&f, "\"id\":7"));
    assert_false(has(&f, "progressToken"));
    stop(&f);
}

static void test_subscriptions(void **state) {
    (void)state;
    Fixture f;
    start(&f, 1);
    say(&f, LISTEN("\"a\""));
    say(&f, LISTEN("5"));
    wait_for(&f, "\"io.modelcontextprotocol/subscriptionId\":\"a\"},\"notifications\":{}}}");
    wait_for(&f, "\"io.modelcontextprotocol/subscriptionId\":5},\"notifications\":{}}}");
    say(&f, CALL("1", "echo", "{\"message\":\"no worker held\"}", ""));
    wait_for(&f, "no worker held");
    say(&f, CANCEL("\"a\""));
    assert_true(mcp_server_finish(f.server, PATIENCE_NS, PATIENCE_NS));
    assert_true(has(&f, "\"id\":5,\"result\":{\"resultType\":\"complete\",\"_meta\":{"));
    assert_false(has(&f, "\"id\":\"a\""));
    stop(&f);
}

static void test_end_of_input(void **state) {
    (void)state;
    Fixture f;
    start(&f, 4);
    say(&f, CALL("1", "slow", "{\"ms\":60}", ""));
    say(&f, CALL("2", "slow", "{\"ms\":60000}", ""));
    say(&f, CALL("3", "stuck", "{\"ms\":1500}", ""));
    wait_for(&f, "\"id\":1,\"result\"");
    // One finishes late, one is cancelled, one does not return in time.
    assert_false(mcp_server_finish(f.server, 50 * MS, 50 * MS));
    assert_false(has(&f, "\"id\":2"));
    assert_false(has(&f, "\"id\":3"));
    stop(&f);
}

static void test_mute(void **state) {
    (void)state;
    Fixture f;
    start(&f, 2);
    say(&f, CALL("1", "slow", "{\"ms\":60000}", ",\"progressToken\":1"));
    say(&f, LISTEN("2"));
    wait_for(&f, "subscriptionId");
    wait_running(&f, 1);
    mcp_server_mute(f.server);
    wait_running(&f, 0);
    mutex_lock(&f.lock);
    buf_clear(&f.out);
    mutex_unlock(&f.lock);
    assert_true(mcp_server_finish(f.server, PATIENCE_NS, 0));
    assert_int_equal(f.out.n, 0);
    stop(&f);
}

// More than may be queued: the reader waits, nothing is lost.
static void test_flood(void **state) {
    (void)state;
    Fixture f;
    start(&f, 2);
    enum { PINGS = 30000 };
    for (int i = 0; i < PINGS; i++) {
        char line[128];
        (void)snprintf(line, sizeof line, PING("%d"), i);
        say(&f, line);
    }
    assert_true(mcp_server_finish(f.server, PATIENCE_NS, 0));
    size_t answers = 0;
    for (size_t i = 0; i < f.out.n; i++) answers += f.out.p[i] == '\n';
    assert_int_equal(answers, PINGS);
    stop(&f);
}

typedef struct Count {
    Job job;
    atomic_uint *runs;
} Count;

static void count_run(Job *job) {
    atomic_fetch_add(((Count *)job)->runs, 1);
    mem_free(job);
}

static void test_pool(void **state) {
    (void)state;
    for (unsigned limit = 0; limit <= 3; limit++) {
        atomic_uint runs = 0;
        Pool pool;
        pool_init(&pool, limit);
        for (unsigned i = 0; i < 500; i++) {
            Count *count = mem_zero(1, sizeof *count);
            *count = (Count){.job = {.run = count_run}, .runs = &runs};
            assert_int_equal(pool_add(&pool, &count->job, NULL), OK);
        }
        pool_done(&pool);
        assert_int_equal(runs, 500);
        assert_true(pool.thread_count <= limit);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parallel),     cmocka_unit_test(test_cancel),
        cmocka_unit_test(test_cancel_deaf),  cmocka_unit_test(test_subscriptions),
        cmocka_unit_test(test_end_of_input), cmocka_unit_test(test_mute),
        cmocka_unit_test(test_flood),        cmocka_unit_test(test_pool),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
