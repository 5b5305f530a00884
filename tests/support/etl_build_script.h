// Traces from text, one event a line: tests/support/README.md describes every verb. Events may be
// written in any order; the trace holds them in time order (unless `trace sort=0`).
#ifndef SUPPORT_ETL_BUILD_SCRIPT_H
#define SUPPORT_ETL_BUILD_SCRIPT_H

#include "support/etl_build.h"

// The bytes of the trace are appended to `out`. An error names the line.
Status etl_build_script(Str script, Buf *out, Err *err);
Status etl_build_script_file(Str script, Str path, Err *err);

// Line by line, between events written through the C interface:
typedef struct EtlScript EtlScript;
EtlScript *etl_script_open(EtlBuild *build); // does not own the build
// Several lines are allowed. `trace` and `damage` lines are not.
Status etl_script_line(EtlScript *script, Err *err, const char *format, ...) PRINTF_LIKE(3, 4);
// Writes what needs the whole trace: runs, definitions of stack keys.
Status etl_script_end(EtlScript *script, Err *err);
void etl_script_close(EtlScript *script);
AUTO_DEFINE(EtlScript *, etl_script_close)

#endif
