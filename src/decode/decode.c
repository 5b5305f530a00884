// The second pass: every event to its row, buffers in parallel; then the tables of the world.
#include "decode/decode.h"

#include "decode/capture.h"
#include "decode/decoder.h"
#include "decode/decoder_internal.h"
#include "decode/entities.h"
#include "decode/entity_rows.h"
#include "decode/kernel/config.h"
#include "decode/world_build.h"

typedef struct RowWorker {
    Decoder decoder;
    EtlScratch *scratch;
    StackCursor stacks;
    FrameSet frames;
    ClassCache cache;
    uint64_t *class_stacks; // events with a stack, per class
} RowWorker;

typedef struct RowJob {
    EtlFile *file;
    const World *world;
    RowWorker *workers;
    Progress *progress;
} RowJob;

// Events that the world has taken in whole: processes, threads, images, stacks, names.
static bool is_entity(const EventSpec *spec) {
    return !spec->emit && spec->table != T_EVENT_DATA;
}

static void event_row(Decoder *decoder, const EtlEvent *event, EventRow of) {
    if (capture_row(decoder, event, of)) return;
    Row row = event_row_begin(decoder, T_EVENT_DATA, event, of);
    row_end(&row);
}

// False: the survey saw no such event, so the file is another one now.
static bool decode_event(RowWorker *worker, const EtlEvent *event) {
    Decoder *decoder = &worker->decoder;
    uint32_t class_index = 0;
    if (!class_find(&decoder->world->survey.classes, &worker->cache, event, &class_index))
        return false;
    bool exact = false;
    const EventSpec *spec = spec_of_event(event, &exact);
    uint64_t taken = worker->stacks.taken;
    uint32_t stack = 0;
    if (spec && spec->emit) {
        spec->emit(decoder, event, spec);
    } else if (!spec || !is_entity(spec)) {
        bool owner = !(spec && spec->flags & SPEC_NO_STACK) && event->kind != ETL_CLASSIC;
        uint32_t tid = event->tid != ETL_NO_ID ? event->tid : decoder->running_tid;
        if (owner) stack = decoder_stack(decoder, event, tid);
        event_row(decoder, event, (EventRow){class_index + 1, stack});
    } else {
        bool cut = event->payload.n < spec_fixed_size(spec, event->pointer_size);
        decoder->short_payloads += cut;
        // Its stack has an owner, if no row.
        if (!(spec->flags & SPEC_NO_STACK)) (void)decoder_stack(decoder, event, event->tid);
    }
    if (event->counters) decoder_counters(decoder, event, spec);
    bool has_stack = worker->stacks.taken != taken || (stack && event->kind == ETL_MANIFEST);
    worker->class_stacks[class_index] += has_stack;
    return true;
}

static Status decode_buffer(const RowJob *job, RowWorker *worker, size_t item, Err *err) {
    Decoder *decoder = &worker->decoder;
    const World *world = job->world;
    EtlCursor cursor;
    EtlIssues ignored = {0}; // the survey has counted them
    TRY(etl_load(job->file, item, worker->scratch, &ignored, &cursor, err));
    decoder->running_tid = world->running_at_start[item];
    const BufferFacts *facts = &world->survey.buffers[item];
    stack_cursor_start(&worker->stacks, world, facts->first_ticks, event_seq(item, 0));
    EtlEvent event;
    // The file may have grown since the survey; only what it saw is known to the world.
    for (uint32_t n = 0; n < facts->events && etl_next(&cursor, &event); n++) {
        arena_clear(&decoder->scratch);
        decoder->ts_ns = etl_ns_from_ticks(world->header, event.ticks);
        decoder->seq = event_seq(item, event.index);
        if (!decode_event(worker, &event))
            return err_set(err, ERR_IO,
                           "the file changed while it was read, in the buffer at offset %llu: load "
                           "it again when nobody writes to it",
                           (unsigned long long)etl_buffer(job->file, item)->offset);
        if (event.hook != HOOK_CSWITCH || event.payload.n < 4) continue;
        Rd r = rd_from_str(event.payload);
        decoder->running_tid = rd_u32(&r);
    }
    if (job->progress)
        atomic_fetch_add(&job->progress->done, etl_buffer(job->file, item)->size_bytes);
    if (decoder->rows.status != OK) {
        *err = decoder->rows.err;
        return decoder->rows.status;
    }
    return OK;
}

// The tree of stacks takes as long as many buffers, so it goes first, beside them.
static Status decode_item(void *context, unsigned index, size_t item, Err *err) {
    const RowJob *job = context;
    RowWorker *worker = &job->workers[index];
    if (item > 0) return decode_buffer(job, worker, item - 1, err);
    Rows *rows = &worker->decoder.rows;
    stack_rows(job->world, rows, &worker->frames.seen);
    if (rows->status != OK) *err = rows->err;
    return rows->status;
}

static Status decode_rows(EtlFile *file, World *world, unsigned workers, RowSink *sink,
                          Progress *progress, EntityFacts *facts, Err *err) {
    RowJob job = {file, world, mem_zero(workers, sizeof(RowWorker)), progress};
    size_t classes = world->survey.classes.items.count;
    facts->class_stacks = mem_zero(classes, sizeof(uint64_t));
    for (unsigned i = 0; i < workers; i++) {
        RowWorker *worker = &job.workers[i];
        rows_init(&worker->decoder.rows, sink);
        worker->decoder.world = world;
        worker->decoder.stacks = &worker->stacks;
        worker->decoder.frames = &worker->frames;
        worker->scratch = etl_scratch_open();
        worker->class_stacks = mem_zero(classes, sizeof(uint64_t));
    }
    Status status =
        parallel_for(workers, etl_buffer_count(file) + 1, decode_item, &job, progress, err);
    for (unsigned i = 0; i < workers; i++) {
        RowWorker *worker = &job.workers[i];
        Rows *rows = &worker->decoder.rows;
        if (status == OK) status = rows_flush(rows, err);
        for (size_t t = 0; t < TABLE_COUNT; t++) facts->rows[t] += rows->count[t];
        for (size_t c = 0; c < classes; c++) facts->class_stacks[c] += worker->class_stacks[c];
        facts->stacks_taken += worker->stacks.taken;
        facts->short_payloads += worker->decoder.short_payloads;
        map_move(&facts->frames, &worker->frames.seen);
        rows_done(rows);
        arena_done(&worker->decoder.scratch);
        mem_free(worker->class_stacks);
        etl_scratch_close(worker->scratch);
    }
    mem_free(job.workers);
    return status;
}

static Status write_world(const World *world, EtlFile *file, Str file_name, RowSink *sink,
                          EntityFacts *facts, Err *err) {
    Rows rows;
    rows_init(&rows, sink);
    entity_rows(world, file, file_name, facts, &rows);
    config_rows(world, &rows);
    Status status = rows_flush(&rows, err);
    for (size_t t = 0; t < TABLE_COUNT; t++) facts->rows[t] += rows.count[t];
    rows_done(&rows);
    return status;
}

Status decode_trace(EtlFile *file, Str file_name, const DecodeOptions *options, RowSink *sink,
                    Progress *progress, DecodeSummary *summary, Err *err) {
    unsigned workers = options->workers ? options->workers : os_cpu_count();
    if (progress) {
        atomic_store(&progress->total, etl_file_size(file) * 2);
        atomic_store(&progress->phase, "survey");
    }
    Survey survey;
    Status status = survey_run(file, workers, progress, &survey, err);
    if (status != OK) {
        survey_done(&survey);
        return status;
    }
    if (progress) atomic_store(&progress->phase, "decode");
    AUTO(world_close) World *world = world_open(file, &survey);
    EntityFacts facts = {0};
    status = decode_rows(file, world, workers, sink, progress, &facts, err);
    if (status == OK) status = write_world(world, file, file_name, sink, &facts, err);
    *summary = (DecodeSummary){.events = world->survey.events,
                               .duration_ns = facts.duration_ns,
                               .data_loss_issues = facts.data_loss_issues};
    memcpy(summary->rows, facts.rows, sizeof summary->rows);
    map_done(&facts.frames);
    mem_free(facts.class_stacks);
    return status;
}
