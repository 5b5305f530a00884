// The tables trace, trace_source and decode_issue.
#ifndef DECODE_TRACE_ROWS_H
#define DECODE_TRACE_ROWS_H

#include "decode/entity_rows.h"

// Also sets facts->duration_ns and facts->data_loss_issues.
void trace_rows(const World *world, EtlFile *file, Str file_name, EntityFacts *facts, Rows *rows);

#endif
