// sched_cpu_turns() and sched_thread_turns(). All input is read when a query starts, the rows are
// made while they are handed out.
#include "store/fn_sched.h"

#include "store/result.h"
#include "store/sched.h"

enum { TABLES_MAX = 4 };
typedef enum Source { SWITCHES, TRACE, READIES, THREADS } Source;

typedef struct SchedColumn {
    const char *name;
    duckdb_type type;
} SchedColumn;

static const SchedColumn CPU_COLUMNS[] = {
    {"cpu",           DUCKDB_TYPE_USMALLINT},
    {"utid",          DUCKDB_TYPE_UINTEGER },
    {"tid",           DUCKDB_TYPE_UINTEGER },
    {"start_ns",      DUCKDB_TYPE_BIGINT   },
    {"end_ns",        DUCKDB_TYPE_BIGINT   },
    {"came",          DUCKDB_TYPE_BOOLEAN  },
    {"whole",         DUCKDB_TYPE_BOOLEAN  },
    {"state",         DUCKDB_TYPE_UTINYINT },
    {"reason",        DUCKDB_TYPE_UTINYINT },
    {"leaver_utid",   DUCKDB_TYPE_UINTEGER },
    {"leaver_state",  DUCKDB_TYPE_UTINYINT },
    {"leaver_reason", DUCKDB_TYPE_UTINYINT },
    {"priority",      DUCKDB_TYPE_INTEGER  },
    {"wait_stack_id", DUCKDB_TYPE_UINTEGER },
    {"is_last",       DUCKDB_TYPE_BOOLEAN  },
};
static const SchedColumn THREAD_COLUMNS[] = {
    {"utid",           DUCKDB_TYPE_UINTEGER },
    {"cpu",            DUCKDB_TYPE_USMALLINT},
    {"kind",           DUCKDB_TYPE_VARCHAR  },
    {"came",           DUCKDB_TYPE_BOOLEAN  },
    {"start_ns",       DUCKDB_TYPE_BIGINT   },
    {"end_ns",         DUCKDB_TYPE_BIGINT   },
    {"cpu_end_ns",     DUCKDB_TYPE_BIGINT   },
    {"ran",            DUCKDB_TYPE_BOOLEAN  },
    {"priority",       DUCKDB_TYPE_INTEGER  },
    {"off_kind",       DUCKDB_TYPE_VARCHAR  },
    {"off_end_ns",     DUCKDB_TYPE_BIGINT   },
    {"resumed",        DUCKDB_TYPE_BOOLEAN  },
    {"reason",         DUCKDB_TYPE_UTINYINT },
    {"ready_ns",       DUCKDB_TYPE_BIGINT   },
    {"waker_utid",     DUCKDB_TYPE_UINTEGER },
    {"ready_in_dpc",   DUCKDB_TYPE_BOOLEAN  },
    {"ready_cpu",      DUCKDB_TYPE_USMALLINT},
    {"ready_stack_id", DUCKDB_TYPE_UINTEGER },
    {"wait_stack_id",  DUCKDB_TYPE_UINTEGER },
    {"next_cpu",       DUCKDB_TYPE_USMALLINT},
};
enum { COLUMNS_MAX = COUNT_OF(THREAD_COLUMNS) };

static void add_result_columns(duckdb_bind_info info, const SchedColumn *columns, size_t count) {
    for (size_t i = 0; i < count; i++) {
        duckdb_logical_type type = duckdb_create_logical_type(columns[i].type);
        duckdb_bind_add_result_column(info, columns[i].name, type);
        duckdb_destroy_logical_type(&type);
    }
}

// ---------------------------------------------------------------- reading

typedef struct Names { // of tables, as the call gave them
    Str items[TABLES_MAX];
    Arena arena;
} Names;

static void names_free(void *data) {
    Names *names = data;
    arena_done(&names->arena);
    mem_free(names);
}

static void names_take(duckdb_bind_info info) {
    Names *names = mem_zero(1, sizeof *names);
    for (idx_t i = 0; i < duckdb_bind_get_parameter_count(info); i++) {
        duckdb_value value = duckdb_bind_get_parameter(info, i);
        char *text = duckdb_get_varchar(value);
        names->items[i] = str_copy(&names->arena, str_from_c(text ? text : ""));
        duckdb_free(text);
        duckdb_destroy_value(&value);
    }
    duckdb_bind_set_bind_data(info, names, names_free);
}

typedef struct Reader {
    duckdb_connection connection;
    const Names *names;
    Arena *arena;
} Reader;

static Status read_table(const Reader *reader, const char *columns, Source source,
                         const char *condition, Integers *out, Err *err) {
    AUTO(buf_done) Buf sql = {0};
    buf_addf(&sql, "SELECT %s FROM ", columns);
    sql_add_name(&sql, reader->names->items[source]);
    buf_addf(&sql, " WHERE %s", condition);
    duckdb_prepared_statement statement = NULL;
    RunLimits limits = {0};
    Status status = OK;
    if (duckdb_prepare(reader->connection, sql.p, &statement) != DuckDBSuccess)
        status = duck_error(err, duckdb_prepare_error(statement));
    if (status == OK)
        status = result_integers(reader->connection, statement, &limits, SCHED_NULL, reader->arena,
                                 out, err);
    duckdb_destroy_prepare(&statement);
    return status;
}

static Status read_switches(const Reader *reader, SchedInput *in, Err *err) {
    Integers rows = {0}, trace = {0};
    TRY(read_table(reader,
                   "ts_ns, seq, cpu, new_utid, new_tid, old_utid, old_tid, old_state, "
                   "old_wait_reason, new_priority, stack_id",
                   SWITCHES, "true", &rows, err));
    TRY(read_table(reader, "duration_ns", TRACE, "true", &trace, err));
    int64_t *const *c = rows.columns;
    in->switches = (SchedSwitches){rows.row_count, c[0], c[1], c[2], c[3], c[4],
                                   c[5],           c[6], c[7], c[8], c[9], c[10]};
    in->duration_ns = trace.row_count ? trace.columns[0][0] : 0;
    return OK;
}

static Status read_threads(const Reader *reader, SchedInput *in, Err *err) {
    Integers rows = {0}, threads = {0};
    TRY(read_table(reader, "ts_ns, seq, utid, waker_utid, in_dpc, cpu, stack_id", READIES,
                   "utid IS NOT NULL", &rows, err));
    TRY(read_table(reader, "utid, tid, end_ns", THREADS, "utid IS NOT NULL", &threads, err));
    int64_t *const *c = rows.columns, *const *t = threads.columns;
    in->readies = (SchedReadies){rows.row_count, c[0], c[1], c[2], c[3], c[4], c[5], c[6]};
    in->threads = (SchedThreads){threads.row_count, t[0], t[1], t[2]};
    return OK;
}

// ---------------------------------------------------------------- rows

typedef struct Scan { // of one query
    Arena arena;      // of the input
    Sched sched;
    size_t row;
} Scan;

static void scan_free(void *data) {
    Scan *scan = data;
    sched_done(&scan->sched);
    arena_done(&scan->arena);
    mem_free(scan);
}

static Status scan_fill(Scan *scan, duckdb_database database, const Names *names, bool threads,
                        Err *err) {
    Reader reader = {.names = names, .arena = &scan->arena};
    SchedInput in = {0};
    TRY(duck_connect(database, &reader.connection, err));
    Status status = read_switches(&reader, &in, err);
    if (status == OK && threads) status = read_threads(&reader, &in, err);
    duckdb_disconnect(&reader.connection);
    TRY(status);
    sched_open(&in, &scan->sched);
    if (threads) sched_threads(&scan->sched);
    return OK;
}

static void scan_start(duckdb_init_info info, bool threads) {
    Scan *scan = mem_zero(1, sizeof *scan);
    Err err = {0};
    // NOLINTNEXTLINE(bugprone-casting-through-void): what was registered
    duckdb_database database = (duckdb_database)duckdb_init_get_extra_info(info);
    if (scan_fill(scan, database, duckdb_init_get_bind_data(info), threads, &err) == OK) {
        duckdb_init_set_max_threads(info, 1); // rows keep their order
        duckdb_init_set_init_data(info, scan, scan_free);
    } else {
        duckdb_init_set_error(info, err.text);
        scan_free(scan);
    }
}

typedef struct Out { // a chunk being filled
    const SchedColumn *columns;
    duckdb_vector vectors[COLUMNS_MAX];
    void *data[COLUMNS_MAX];
    uint64_t *valid[COLUMNS_MAX];
    size_t column;
    idx_t row;
} Out;

static void out_begin(Out *out, const SchedColumn *columns, size_t count, duckdb_data_chunk chunk) {
    *out = (Out){.columns = columns};
    for (size_t i = 0; i < count; i++) {
        out->vectors[i] = duckdb_data_chunk_get_vector(chunk, i);
        out->data[i] = duckdb_vector_get_data(out->vectors[i]);
        duckdb_vector_ensure_validity_writable(out->vectors[i]);
        out->valid[i] = duckdb_vector_get_validity(out->vectors[i]);
    }
}

static void set_null(Out *out, size_t column) {
    out->valid[column][out->row >> 6] &= ~(UINT64_C(1) << (out->row & 63));
}

// The next column of the row; SCHED_NULL gives NULL.
static void put(Out *out, int64_t value) {
    size_t i = out->column++;
    if (value == SCHED_NULL) set_null(out, i);
    switch ((int)out->columns[i].type) {
    case DUCKDB_TYPE_BOOLEAN: ((bool *)out->data[i])[out->row] = value == 1; break;
    case DUCKDB_TYPE_UTINYINT: ((uint8_t *)out->data[i])[out->row] = (uint8_t)value; break;
    case DUCKDB_TYPE_USMALLINT: ((uint16_t *)out->data[i])[out->row] = (uint16_t)value; break;
    case DUCKDB_TYPE_INTEGER: ((int32_t *)out->data[i])[out->row] = (int32_t)value; break;
    case DUCKDB_TYPE_UINTEGER: ((uint32_t *)out->data[i])[out->row] = (uint32_t)value; break;
    default: ((int64_t *)out->data[i])[out->row] = value; break;
    }
}

static void put_word(Out *out, const char *word) {
    size_t i = out->column++;
    if (word)
        duckdb_vector_assign_string_element(out->vectors[i], out->row, word);
    else
        set_null(out, i);
}

static void put_cpu_turn(Out *out, const CpuTurn *turn) {
    const int64_t values[] = {
        turn->cpu,          turn->utid,          turn->tid,      turn->start_ns, turn->end_ns,
        turn->came,         turn->whole,         turn->state,    turn->reason,   turn->leaver_utid,
        turn->leaver_state, turn->leaver_reason, turn->priority, turn->stack_id, turn->is_last,
    };
    for (size_t i = 0; i < COUNT_OF(values); i++) put(out, values[i]);
}

static void put_ready(Out *out, const SchedReadies *readies, int64_t i) {
    bool some = i != SCHED_NULL;
    put(out, some ? readies->ts_ns[i] : SCHED_NULL);
    put(out, some ? readies->waker_utid[i] : SCHED_NULL);
    put(out, some ? readies->in_dpc[i] : SCHED_NULL);
    put(out, some ? readies->cpu[i] : SCHED_NULL);
    put(out, some ? readies->stack_id[i] : SCHED_NULL);
}

static void put_thread_turn(Out *out, const Sched *sched, const ThreadTurn *turn) {
    static const char *const KINDS[] = {"turn", "leave", "wake"};
    static const char *const OFFS[] = {NULL, "waiting", "ready", "gone", "unknown"};
    put(out, turn->utid);
    put(out, turn->cpu);
    put_word(out, KINDS[turn->kind]);
    put(out, turn->came);
    put(out, turn->start_ns);
    put(out, turn->end_ns);
    put(out, turn->cpu_end_ns);
    put(out, turn->ran);
    put(out, turn->priority);
    put_word(out, OFFS[turn->off]);
    put(out, turn->off_end_ns);
    put(out, turn->resumed);
    put(out, turn->reason);
    put_ready(out, &sched->in.readies, turn->ready);
    put(out, turn->wait_stack_id);
    put(out, turn->next_cpu);
}

static void cpu_run(duckdb_function_info info, duckdb_data_chunk chunk) {
    Scan *scan = duckdb_function_get_init_data(info);
    size_t count = sched_cpu_turn_count(&scan->sched);
    Out out;
    out_begin(&out, CPU_COLUMNS, COUNT_OF(CPU_COLUMNS), chunk);
    for (; out.row < duckdb_vector_size() && scan->row < count; out.row++) {
        CpuTurn turn;
        sched_cpu_turn(&scan->sched, scan->row++, &turn);
        out.column = 0;
        put_cpu_turn(&out, &turn);
    }
    duckdb_data_chunk_set_size(chunk, out.row);
}

static void thread_run(duckdb_function_info info, duckdb_data_chunk chunk) {
    Scan *scan = duckdb_function_get_init_data(info);
    Out out;
    out_begin(&out, THREAD_COLUMNS, COUNT_OF(THREAD_COLUMNS), chunk);
    for (; out.row < duckdb_vector_size() && scan->row < scan->sched.piece_count; out.row++) {
        ThreadTurn turn;
        sched_thread_turn(&scan->sched, scan->row++, &turn);
        out.column = 0;
        put_thread_turn(&out, &scan->sched, &turn);
    }
    duckdb_data_chunk_set_size(chunk, out.row);
}

// ---------------------------------------------------------------- registration

static void cpu_bind(duckdb_bind_info info) {
    add_result_columns(info, CPU_COLUMNS, COUNT_OF(CPU_COLUMNS));
    names_take(info);
}

static void cpu_init(duckdb_init_info info) {
    scan_start(info, false);
}

static void thread_bind(duckdb_bind_info info) {
    add_result_columns(info, THREAD_COLUMNS, COUNT_OF(THREAD_COLUMNS));
    names_take(info);
}

static void thread_init(duckdb_init_info info) {
    scan_start(info, true);
}

static const struct {
    const char *name;
    unsigned tables; // names of tables it takes
    duckdb_table_function_bind_t bind;
    duckdb_table_function_init_t init;
    duckdb_table_function_t run;
} FUNCTIONS[] = {
    {"sched_cpu_turns",    2, cpu_bind,    cpu_init,    cpu_run   },
    {"sched_thread_turns", 4, thread_bind, thread_init, thread_run},
};

Status sched_functions_register(duckdb_connection connection, duckdb_database database, Err *err) {
    for (size_t i = 0; i < COUNT_OF(FUNCTIONS); i++) {
        duckdb_table_function function = duckdb_create_table_function();
        duckdb_logical_type text = duckdb_create_logical_type(DUCKDB_TYPE_VARCHAR);
        duckdb_table_function_set_name(function, FUNCTIONS[i].name);
        for (unsigned k = 0; k < FUNCTIONS[i].tables; k++)
            duckdb_table_function_add_parameter(function, text);
        duckdb_table_function_set_extra_info(function, database, NULL);
        duckdb_table_function_set_bind(function, FUNCTIONS[i].bind);
        duckdb_table_function_set_init(function, FUNCTIONS[i].init);
        duckdb_table_function_set_function(function, FUNCTIONS[i].run);
        duckdb_state state = duckdb_register_table_function(connection, function);
        duckdb_destroy_logical_type(&text);
        duckdb_destroy_table_function(&function);
        if (state != DuckDBSuccess)
            return err_set(err, ERR_INTERNAL, "the SQL engine refuses the function %s",
                           FUNCTIONS[i].name);
    }
    return OK;
}
