// get_entities, get_evidence_status, and entities.jsonl. Each row of the tool's SQL begins with a
// canonical text, "<type>|<field>=<value>|..", which becomes the id.
#include "tools/handle_entities.h"

#include "base/hash.h"
#include "base/limits.h"

enum { UUID_BYTES = 16, CANONICAL_MAX = 64 * 1024 };
static const size_t EXPORT_BYTES_MAX = (size_t)256 << 20;
static const char EXPORT_NAME[] = "entities.jsonl";
// Made up once for this program; never to be changed, since ids would change with it.
static const uint8_t NAMESPACE[UUID_BYTES] = {0x6d, 0x1f, 0x2b, 0x84, 0x5c, 0x0e, 0x4a, 0x93,
                                              0x9b, 0x57, 0xe1, 0x38, 0x40, 0xac, 0x7f, 0x25};
static const char *const TYPES[] = {"machine", "module",  "process", "thread",
                                    "driver",  "service", "nic"};

Str entity_uuid(Str canonical, Arena *arena) {
    uint8_t digest[SHA1_BYTES];
    size_t bytes = canonical.n < CANONICAL_MAX ? canonical.n : CANONICAL_MAX;
    char *text = arena_bytes(arena, sizeof NAMESPACE + bytes + 1);
    memcpy(text, NAMESPACE, sizeof NAMESPACE);
    if (bytes) memcpy(text + sizeof NAMESPACE, canonical.p, bytes);
    sha1((Str){text, sizeof NAMESPACE + bytes}, digest);
    digest[6] = (uint8_t)((digest[6] & 0x0f) | 0x50);
    digest[8] = (uint8_t)((digest[8] & 0x3f) | 0x80);
    AUTO(buf_done) Buf uuid = {0};
    for (size_t i = 0; i < UUID_BYTES; i++)
        buf_addf(&uuid, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", digest[i]);
    return str_copy(arena, buf_str(&uuid));
}

// ---------------------------------------------------------------- queries

typedef struct EntityQuery {
    const Tool *tool; // whose sections they are
    Session *session;
    Arena *arena;
    Str machine;
    const Value *filter; // NULL: none
} EntityQuery;

static const Section *section_of(const Tool *tool, const char *type) {
    size_t i = 0;
    while (i < tool->section_count && !str_eq(tool->sections[i].name, str_from_c(type))) i++;
    INVARIANT(i < tool->section_count);
    return &tool->sections[i];
}

// The rows of one type, their canonical texts replaced by ids.
static Status entity_rows(const EntityQuery *query, const char *type, ResultSet *out, Err *err) {
    const Section *section = section_of(query->tool, type);
    bool filtered = query->filter && query->filter->present && query->filter->count;
    Arg machine = {.name = "machine", .type = ARG_TEXT, .text = query->machine};
    Arg filter = {.name = "filter", .type = filtered ? ARG_TEXT_LIST : ARG_NULL};
    if (filtered) {
        filter.text_list = query->filter->list;
        filter.list_count = query->filter->count;
    }
    Arg args[] = {machine, filter};
    Str sql = tool_full_sql(query->tool, section->uses, 0, section->sql, query->arena);
    TRY(session_query(query->session, sql, args, COUNT_OF(args), 0, query->arena, out, err));
    for (size_t i = 0; i < out->row_count; i++) {
        Cell *cell = &out->cells[i * out->column_count];
        Str canonical = cell->type == CELL_TEXT ? cell->text : (Str){0};
        *cell = cell_text(entity_uuid(canonical, query->arena));
    }
    return OK;
}

static Status read_machine(EntityQuery *query, Err *err) {
    ResultSet result = {0};
    const Value *filter = query->filter;
    query->filter = NULL;
    query->machine = (Str){0};
    TRY(entity_rows(query, "machine", &result, err));
    query->filter = filter;
    if (result.row_count) query->machine = result.cells[0].text;
    return OK;
}

// ---------------------------------------------------------------- get_entities

static Str store_text(Engine *engine, Arena *arena) {
    Str folder = engine_settings(engine)->export_folder;
    if (!folder.n) return STR("the trace itself");
    return str_format(arena, "the trace itself, and %s in " STR_FMT, EXPORT_NAME, STR_ARG(folder));
}

static void put_entities(ToolCall *call, const Section *section, const ResultSet *result) {
    size_t cap = (size_t)values_get(call->values, "max_rows")->i64;
    DocSection *table = doc_table(call->doc, STR("main"), (Str){0});
    table->columns = ARENA_ARRAY(call->arena, DocColumn, section->column_count + 1);
    for (size_t i = 0; i < section->column_count; i++)
        table->columns[table->column_count++] =
            (DocColumn){section->columns[i].title, section->columns[i].format};
    table->cells = result->cells;
    table->total_rows = result->row_count;
    table->row_count = result->row_count < cap ? result->row_count : cap;
    table->cap = STR("max_rows");
    if (result->row_count) return;
    bool filtered = values_text(call->values, "filter").n > 0;
    table->empty = str_format(call->arena, "The trace holds no entity of the type " STR_FMT "%s.",
                              STR_ARG(section->name), filtered ? " with this name" : "");
}

Status handle_get_entities(ToolCall *call, Err *err) {
    Str type = values_text(call->values, "entity_type");
    EntityQuery query = {.tool = call->tool,
                         .session = call->trace->session,
                         .arena = call->arena,
                         .filter = values_get(call->values, "filter")};
    ResultSet result = {0};
    TRY(read_machine(&query, err));
    const Section *section = section_of(call->tool, str_to_c(call->arena, type));
    TRY(entity_rows(&query, str_to_c(call->arena, type), &result, err));
    Doc *doc = call->doc;
    doc->headline = str_format(call->arena, "**Entities:** " STR_FMT, STR_ARG(type));
    doc->title = call->tool->title;
    if (values_get(call->values, "max_rows")->given) doc->budget_bytes = LIMIT_REPLY_BYTES;
    doc_scope(doc, STR("Trace"), call->trace->file_name);
    doc_scope(doc, STR("Machine id"), query.machine.n ? query.machine : STR("unknown"));
    doc_scope(doc, STR("Store"), store_text(call->engine, call->arena));
    Str filter = values_text(call->values, "filter");
    if (filter.n) doc_scope(doc, STR("Filter"), filter);
    put_entities(call, section, &result);
    if (call->trace->facts->loss_note.n) doc_note(doc, call->trace->facts->loss_note);
    return OK;
}

// ---------------------------------------------------------------- entities.jsonl

static void put_jsonl(Buf *out, const EntityQuery *query, const char *type, Str trace_id,
                      const ResultSet *rows) {
    const Section *section = section_of(query->tool, type);
    for (size_t i = 0; i < rows->row_count; i++) {
        json_t *line = json_pack("{s:s}", "type", type);
        (void)json_object_set_new(line, "trace_id", format_json_text(trace_id, query->arena));
        (void)json_object_set_new(line, "machine_id",
                                  format_json_text(query->machine, query->arena));
        for (size_t k = 0; k < section->column_count && k < rows->column_count; k++)
            (void)json_object_set_new(line, str_to_c(query->arena, section->columns[k].title),
                                      format_json(section->columns[k].format,
                                                  &rows->cells[i * rows->column_count + k],
                                                  query->arena));
        buf_add(out, json_dump_text(line, false, query->arena));
        buf_add_char(out, '\n');
        json_decref(line);
    }
}

// What other traces wrote, without what this one wrote before.
static void keep_others(Str path, Str trace_id, Arena *arena, Buf *out) {
    Str old = {0}, line = {0};
    FileInfo info = {0};
    if (os_stat(path, &info, NULL) != OK || !info.exists) return;
    if (file_read_all(path, EXPORT_BYTES_MAX, arena, &old, NULL) != OK) return;
    Str own = str_format(arena, "\"trace_id\":\"" STR_FMT "\"", STR_ARG(trace_id));
    while (str_next(&old, '\n', &line))
        if (line.n && str_find(line, own) == SIZE_MAX) buf_addf(out, STR_FMT "\n", STR_ARG(line));
}

static Status write_entities(Engine *engine, const Trace *trace, Session *session, Arena *arena,
                             Err *err) {
    const Tool *tool = catalog_find(&engine->catalog, STR("get_entities"));
    if (!tool) return OK;
    Str folder = engine->settings.export_folder, id = str_from_c(trace->identity.trace_id);
    Str path = path_join(arena, folder, str_from_c(EXPORT_NAME));
    EntityQuery query = {.tool = tool, .session = session, .arena = arena};
    AUTO(buf_done) Buf out = {0};
    TRY(os_make_folders(folder, err));
    TRY(path_check_allowed(engine, folder, err));
    keep_others(path, id, arena, &out);
    TRY(read_machine(&query, err));
    for (size_t i = 0; i < COUNT_OF(TYPES); i++) {
        ResultSet rows = {0};
        TRY(entity_rows(&query, TYPES[i], &rows, err));
        put_jsonl(&out, &query, TYPES[i], id, &rows);
    }
    return file_write_atomic(path, buf_str(&out), err);
}

void entities_export(Engine *engine, const Trace *trace, Database *database) {
    if (!engine->settings.export_folder.n) return;
    AUTO(arena_done) Arena arena = {0};
    AUTO(session_close) Session *session = NULL;
    Err err = {0};
    Status status = session_open(database, &session, &err);
    if (status == OK) status = write_entities(engine, trace, session, &arena, &err);
    if (status != OK)
        engine_log(engine, "warning", "Entities are not written: trace_id=%s, why=\"%s\"",
                   trace->identity.trace_id, err.text);
}

// ---------------------------------------------------------------- get_evidence_status

static void export_state(ToolCall *call, Str folder) {
    Doc *doc = call->doc;
    Str path = path_join(call->arena, folder, str_from_c(EXPORT_NAME)), text = {0}, line = {0};
    FileInfo info = {0};
    Err err = {0};
    size_t lines = 0;
    doc_scope_styled(doc, PAIR_BULLET, STR("ETW_MCP_EVIDENCE_PATH"), folder);
    if (os_stat(path, &info, &err) != OK || !info.exists) {
        doc_scope_styled(doc, PAIR_BULLET, STR("Written"), STR("nothing yet: load a trace"));
        return;
    }
    if (file_read_all(path, EXPORT_BYTES_MAX, call->arena, &text, &err) == OK)
        while (str_next(&text, '\n', &line)) lines += line.n > 0;
    doc_scope_styled(doc, PAIR_BULLET, STR("Written"),
                     str_format(call->arena, "%s: " STR_FMT " entities, " STR_FMT " bytes, %s",
                                EXPORT_NAME, STR_ARG(format_integer((int64_t)lines, call->arena)),
                                STR_ARG(format_integer((int64_t)info.size_bytes, call->arena)),
                                os_wall_text(call->arena, info.mtime_ns).p));
}

Status handle_get_evidence_status(ToolCall *call, Err *err) {
    (void)err;
    Doc *doc = call->doc;
    Str folder = engine_settings(call->engine)->export_folder;
    doc->headline = STR("**Evidence Status**");
    doc_scope_styled(doc, PAIR_BULLET, STR("Entities"),
                     STR("available for every loaded trace (get_entities); nothing to install"));
    if (folder.n) {
        export_state(call, folder);
    } else {
        doc_scope_styled(doc, PAIR_BULLET, STR("ETW_MCP_EVIDENCE_PATH"), STR("not set"));
        doc_note(doc,
                 STR("Set ETW_MCP_EVIDENCE_PATH to a folder before the server starts, and each "
                     "load also writes its entities to entities.jsonl there."));
    }
    doc_next(doc, STR("list_loaded_traces()"));
    return OK;
}
