// recommend_capture: from a question in words to a scenario. A table of word stems, each a vote for
// scenarios; the answer shows which words decided and what the scenario cannot see.
#include "tools/handle_capture.h"

enum { QUESTION_BYTES = 4000, SHOWN_MAX = 3 };

typedef struct Vote {
    const char *stem; // at the beginning of a word; lower case
    const char *scenario;
    int weight;
} Vote;

static const Vote VOTES[] = {
    {"cpu",            "cpu",             3 },
    {"hot function",   "cpu",             4 },
    {"hot path",       "cpu",             4 },
    {"processor",      "cpu",             2 },
    {"profil",         "cpu",             2 },
    {"sampl",          "cpu",             2 },
    {"flame",          "cpu",             3 },
    {"spin",           "cpu",             1 },
    {"busy loop",      "cpu",             3 },
    {"dpc",            "cpu_dpc_isr",     6 },
    {"isr",            "cpu_dpc_isr",     6 },
    {"interrupt",      "cpu_dpc_isr",     6 },
    {"audio",          "cpu_dpc_isr",     4 },
    {"glitch",         "cpu_dpc_isr",     4 },
    {"stutter",        "cpu_dpc_isr",     4 },
    {"driver",         "cpu_dpc_isr",     2 },
    {"context switch", "cpu_dpc_isr",     6 },
    {"schedul",        "cpu_dpc_isr",     5 },
    {"wait",           "cpu_dpc_isr",     4 },
    {"hang",           "cpu_dpc_isr",     4 },
    {"freez",          "cpu_dpc_isr",     4 },
    {"unresponsive",   "cpu_dpc_isr",     4 },
    {"wake",           "cpu_dpc_isr",     4 },
    {"block",          "cpu_dpc_isr",     3 },
    {"thread",         "cpu_dpc_isr",     2 },
    {"lock",           "cpu_dpc_isr",     4 },
    {"mutex",          "cpu_dpc_isr",     4 },
    {"deadlock",       "cpu_dpc_isr",     5 },
    {"contention",     "cpu_dpc_isr",     4 },
    {"spinlock",       "locks",           9 },
    {"spin lock",      "locks",           9 },
    {"eresource",      "locks",           9 },
    {"executive res",  "locks",           9 },
    {"pushlock",       "locks",           9 },
    {"disk",           "disk",            6 },
    {"ssd",            "disk",            5 },
    {"nvme",           "disk",            5 },
    {"storage",        "disk",            5 },
    {"i/o",            "disk",            4 },
    {"iops",           "disk",            5 },
    {"page fault",     "disk",            4 },
    {"hard fault",     "disk",            6 },
    {"paging",         "disk",            4 },
    {"boot",           "disk",            1 },
    {"file",           "file",            4 },
    {"folder",         "file",            4 },
    {"director",       "file",            3 },
    {"antivirus",      "file",            4 },
    {"minifilter",     "file",            5 },
    {"registry",       "registry",        8 },
    {"memory",         "memory",          4 },
    {"leak",           "memory",          4 },
    {"working set",    "memory",          5 },
    {"commit",         "memory",          3 },
    {"virtualalloc",   "memory",          6 },
    {"heap",           "memory",          3 },
    {"pool",           "pool",            7 },
    {"nonpaged",       "pool",            7 },
    {"network",        "network_minimal", 5 },
    {"tcp",            "network_minimal", 6 },
    {"udp",            "network_minimal", 6 },
    {"socket",         "network_minimal", 6 },
    {"connection",     "network_minimal", 4 },
    {"retransmi",      "network_minimal", 6 },
    {"rss",            "network_minimal", 5 },
    {"nic",            "network_minimal", 4 },
    {"throughput",     "network_minimal", 3 },
    {"bandwidth",      "network_minimal", 4 },
    {"http",           "network_minimal", 6 },
    {"web",            "network_minimal", 3 },
    {"afd",            "network_minimal", 6 },
    {"dns",            "network_minimal", 4 },
    {"without xdp",    "network_minimal", 12},
    {"no xdp",         "network_minimal", 12},
    {"packet",         "network_packets", 5 },
    {"pcap",           "network_packets", 5 },
    {"wireshark",      "network_packets", 6 },
    {"decode",         "network_packets", 3 },
    {"line rate",      "network_packets", 6 },
    {"frame",          "network_packets", 2 },
    {"pktmon",         "pktmon",          10},
    {"packet drop",    "pktmon",          2 },
    {"vswitch",        "pktmon",          6 },
    {"virtual switch", "pktmon",          6 },
    {"layer",          "pktmon",          4 },
    {"component",      "pktmon",          3 },
    {"wfp",            "pktmon",          4 },
    {"firewall",       "pktmon",          5 },
    {"quic",           "quic",            9 },
    {"http/3",         "quic",            9 },
    {"http3",          "quic",            9 },
    {"ebpf",           "ebpf",            9 },
    {"bpf",            "ebpf",            8 },
    {"xdp",            "xdp_cpumap",      7 },
    {"cpumap",         "xdp_cpumap",      9 },
    {"cpu map",        "xdp_cpumap",      9 },
    {"xdp and",        "network",         8 },
    {"everything",     "general",         4 },
    {"overview",       "general",         5 },
    {"first look",     "general",         6 },
    {"unknown",        "general",         4 },
    {"not sure",       "general",         4 },
    {"slow",           "general",         1 },
};

typedef struct Ranking {
    int score;
    Str words; // that voted for it
} Ranking;

static bool is_word_byte(char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

static bool has_stem(Str question, Str stem) {
    for (size_t from = 0; from < question.n;) {
        size_t at = str_find(str_slice(question, from, question.n), stem);
        if (at == SIZE_MAX) return false;
        at += from;
        if (!at || !is_word_byte(question.p[at - 1])) return true;
        from = at + 1;
    }
    return false;
}

static void count_votes(Str question, Ranking *ranking, Arena *arena) {
    for (size_t i = 0; i < COUNT_OF(VOTES); i++) {
        Str stem = str_from_c(VOTES[i].stem);
        const Scenario *scenario = scenario_find(str_from_c(VOTES[i].scenario));
        INVARIANT(scenario);
        if (!has_stem(question, stem)) continue;
        size_t at = 0;
        while (SCENARIOS[at] != scenario) at++;
        Ranking *own = &ranking[at];
        own->score += VOTES[i].weight;
        own->words = str_format(arena, STR_FMT "%s" STR_FMT, STR_ARG(own->words),
                                own->words.n ? ", " : "", STR_ARG(stem));
    }
}

// The best one left, or NULL when nothing voted for any, or little beside the best of all (`top`).
static const Scenario *take_best(Ranking *ranking, int *top, Ranking *taken) {
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < SCENARIO_COUNT; i++)
        if (ranking[i].score > 0 && (best == SIZE_MAX || ranking[i].score > ranking[best].score))
            best = i;
    if (best == SIZE_MAX || ranking[best].score * 3 < *top) return NULL;
    if (ranking[best].score > *top) *top = ranking[best].score;
    *taken = ranking[best];
    ranking[best].score = 0;
    return SCENARIOS[best];
}

static void recommend_row(Doc *doc, DocSection *table, const Scenario *scenario, Str words) {
    Cell *cells = doc_row(doc, table);
    cells[0] = cell_text(str_from_c(scenario->name));
    cells[1] = cell_text(str_from_c(scenario->title));
    cells[2] = cell_text(words);
    cells[3] = cell_text(str_from_c(scenario->records));
    cells[4] = cell_text(str_from_c(scenario->misses));
    cells[5] = cell_text(str_from_c(scenario->overhead));
    cells[6] = cell_i64(scenario->seconds);
}

static DocSection *recommend_table(Doc *doc) {
    static const char *const COLUMNS[] = {"Scenario", "Title",      "Words",
                                          "Records",  "Cannot see", "Est. overhead"};
    DocSection *table = doc_table(doc, STR("main"), (Str){0});
    for (size_t i = 0; i < COUNT_OF(COLUMNS); i++) doc_column(doc, table, COLUMNS[i], "text(400)");
    doc_column(doc, table, "Duration (s)", "id");
    return table;
}

static void recommend_notes(Doc *doc, const Scenario *first, const Scenario *second, bool guessed) {
    if (guessed)
        doc_note(doc,
                 STR("No word of the question points to one scenario: general is a first look. "
                     "Its report (analyze) says what to record next."));
    if (second)
        doc_note(doc,
                 str_format(doc->arena,
                            "One capture answers one kind of question best: start with %s; what "
                            "it cannot see is in its row. WPR runs one recording at a time.",
                            first->name));
    if (str_eq(str_from_c(first->name), STR("network_minimal")))
        doc_note(doc, STR("On a machine with XDP installed, network records XDP as well."));
    if (first->notes) doc_note(doc, str_from_c(first->notes));
}

Status handle_recommend_capture(ToolCall *call, Err *err) {
    Str question = values_text(call->values, "question");
    if (!str_trim(question).n)
        return err_set(err, ERR_ARG,
                       "question is blank: say what is slow or wrong, as in "
                       "\"which driver delays audio?\"");
    if (question.n > QUESTION_BYTES)
        return err_set(err, ERR_LIMIT, "question is longer than %d bytes", (int)QUESTION_BYTES);
    Doc *doc = call->doc;
    Ranking *ranking = ARENA_ARRAY(call->arena, Ranking, SCENARIO_COUNT), taken = {0};
    count_votes(str_lower(call->arena, question), ranking, call->arena);
    DocSection *table = recommend_table(doc);
    const Scenario *chosen[SHOWN_MAX] = {0};
    size_t count = 0;
    int top = 0;
    while (count < SHOWN_MAX && (chosen[count] = take_best(ranking, &top, &taken))) {
        recommend_row(doc, table, chosen[count], taken.words);
        count++;
    }
    bool guessed = !count;
    if (guessed) {
        chosen[0] = scenario_find(STR("general"));
        recommend_row(doc, table, chosen[0], (Str){0});
    }
    doc->headline = str_format(call->arena, "**Recommended capture:** %s", chosen[0]->name);
    doc_scope(doc, STR("Question"), question);
    recommend_notes(doc, chosen[0], count > 1 ? chosen[1] : NULL, guessed);
    doc_next(doc, str_format(call->arena,
                             "get_capture_commands(scenario=\"%s\", "
                             "output_path=\"C:\\\\traces\\\\capture.etl\", duration_s=%d)",
                             chosen[0]->name, chosen[0]->seconds));
    doc_next(doc, str_format(call->arena, "get_capture_profile(scenario=\"%s\")", chosen[0]->name));
    return OK;
}
