// etw-trace-build SCRIPT OUT.etl: makes a trace from a script (tests/support/README.md).
#include "base/os.h"
#include "support/etl_build_script.h"

#include <stdio.h>

enum { SCRIPT_BYTES_MAX = 64 * 1024 * 1024 };

static Status build(const char *script_path, const char *out_path, Err *err) {
    Arena arena = {0};
    Str script = {0};
    Status status = file_read_all(str_from_c(script_path), SCRIPT_BYTES_MAX, &arena, &script, err);
    if (status == OK) status = etl_build_script_file(script, str_from_c(out_path), err);
    arena_done(&arena);
    return status;
}

int main(int argc, char **argv) {
    if (argc != 3) {
        (void)fprintf(stderr, "usage: etw-trace-build SCRIPT OUT.etl\n");
        return 2;
    }
    Err err = {0};
    if (build(argv[1], argv[2], &err) == OK) return 0;
    (void)fprintf(stderr, "%s: %s\n", argv[1], err.text);
    return 1;
}
