// An ETL file to rows: survey (first pass), world, rows (second pass).
#ifndef DECODE_DECODE_H
#define DECODE_DECODE_H

#include "base/thread.h"
#include "decode/table.h"
#include "etl/etl.h"

typedef struct DecodeOptions {
    unsigned workers; // 0: one per CPU
} DecodeOptions;

typedef struct DecodeSummary {
    uint64_t events;
    uint64_t rows[TABLE_COUNT];
    int64_t duration_ns;
    uint64_t data_loss_issues;
} DecodeSummary;

// Decodes everything into `sink` (from several threads). Damage is rows of decode_issue, not an
// error; errors are an unreadable file, a failing sink, cancellation. progress->done and total
// count bytes of the file over both passes.
Status decode_trace(EtlFile *file, Str file_name, const DecodeOptions *options, RowSink *sink,
                    Progress *progress, DecodeSummary *summary, Err *err);

#endif
