// Finds the test data and the oracles that only some machines have.
#include "support/shared_data.h"

#include <stdio.h>

Str shared_folder(const char *source_folder, const char *part, Arena *arena) {
    Str root = os_env("ETW_SHARED");
    if (root.n == 0) root = str_format(arena, "%s/../shared", source_folder);
    Str folder = path_join(arena, root, str_from_c(part));
    FileInfo info;
    if (os_stat(folder, &info, NULL) == OK && info.is_folder) return folder;
    printf("skipped: there is no folder " STR_FMT "\n", STR_ARG(folder));
    return (Str){0};
}

Str command_output(const char *command, Arena *arena) {
    AUTO(buf_done) Buf out = {0};
    FILE *pipe = popen(command, "r");
    if (!pipe) return (Str){0};
    static char block[1 << 16];
    for (size_t n; (n = fread(block, 1, sizeof block, pipe)) != 0;) buf_add(&out, (Str){block, n});
    return pclose(pipe) == 0 ? str_copy(arena, buf_str(&out)) : (Str){0};
}

bool has_program(const char *name) {
    AUTO(arena_done) Arena arena = {0};
    Str command = str_format(&arena, "command -v %s 2>/dev/null", name);
    if (command_output(command.p, &arena).n) return true;
    printf("skipped: %s is not installed\n", name);
    return false;
}
