// Runs a fuzz target over its corpus as an ordinary test: replay_<parser> FOLDER.
//
// Each file is given as it is, then cut short at up to CUTS places, then with single bytes changed
// at up to FLIPS places, always the same ones, so that a run without libFuzzer still walks the
// parser's error paths. Every input lives in a block of exactly its size, where a sanitizer sees
// the first byte read too far. One input may take INPUT_SECONDS; a longer one ends the program
// with its name. An empty or missing folder is a failure: a test that tries nothing proves nothing.
#include "fuzz.h"

#include <dirent.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { INPUT_SECONDS = 10, CUTS = 48, FLIPS = 96, PATH_BYTES = 4096, NAMES_MAX = 20000 };
static const long FILE_BYTES_MAX = 16L << 20;

// What runs now; read by the alarm's handler.
static char current[PATH_BYTES + 64];

static void on_alarm(int signal_number) {
    static const char TEXT[] = "replay: took too long: ";
    (void)signal_number;
    if (write(2, TEXT, sizeof TEXT - 1) < 0 || write(2, current, strlen(current)) < 0 ||
        write(2, "\n", 1) < 0) {
        _exit(3);
    }
    _exit(2);
}

static void run_exact(const uint8_t *bytes, size_t size) {
    uint8_t *copy = malloc(size ? size : 1);
    if (!copy) abort();
    if (size) memcpy(copy, bytes, size);
    alarm(INPUT_SECONDS);
    // A zero-sized input still gets an address, as libFuzzer gives it.
    (void)LLVMFuzzerTestOneInput(copy, size);
    alarm(0);
    free(copy);
}

static void run_cuts(const char *path, const uint8_t *bytes, size_t size) {
    size_t step = size / CUTS + 1;
    for (size_t n = 0; n < size; n += step) {
        snprintf(current, sizeof current, "%s cut to %zu bytes", path, n);
        run_exact(bytes, n);
    }
}

static void run_flips(const char *path, uint8_t *bytes, size_t size) {
    static const uint8_t MASKS[] = {0xFF, 0x01, 0x80, 0x7F};
    size_t step = size / FLIPS + 1;
    for (size_t at = 0, turn = 0; at < size; at += step, turn++) {
        uint8_t mask = MASKS[turn % sizeof MASKS];
        snprintf(current, sizeof current, "%s with byte %zu xor %#x", path, at, mask);
        bytes[at] ^= mask;
        run_exact(bytes, size);
        bytes[at] ^= mask;
    }
}

static bool run_file(const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file) return false;
    uint8_t *bytes = NULL;
    size_t size = 0;
    struct stat info;
    if (fstat(fileno(file), &info) == 0 && info.st_size <= FILE_BYTES_MAX) {
        size = (size_t)info.st_size;
        bytes = malloc(size ? size : 1);
    }
    bool read_all = bytes && fread(bytes, 1, size, file) == size;
    fclose(file);
    if (read_all) {
        snprintf(current, sizeof current, "%s", path);
        run_exact(bytes, size);
        run_cuts(path, bytes, size);
        run_flips(path, bytes, size);
    }
    free(bytes);
    return read_all;
}

static int by_name(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

// Names of the folder's files in byte order; readdir's own order differs between machines.
static size_t list_folder(const char *folder, char **names) {
    DIR *dir = opendir(folder);
    if (!dir) return 0;
    size_t count = 0;
    struct dirent *entry;
    while (count < NAMES_MAX && (entry = readdir(dir)) != NULL) { // NOLINT(concurrency-mt-unsafe)
        if (entry->d_name[0] == '.') continue;
        names[count] = strdup(entry->d_name);
        if (!names[count]) abort();
        count++;
    }
    closedir(dir);
    qsort(names, count, sizeof *names, by_name);
    return count;
}

static int run_folder(const char *folder) {
    static char *names[NAMES_MAX];
    size_t count = list_folder(folder, names);
    size_t failed = 0;
    for (size_t i = 0; i < count; i++) {
        char path[PATH_BYTES];
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        if (!run_file(path)) {
            fprintf(stderr, "replay: cannot read %s\n", path);
            failed++;
        }
        free(names[i]);
    }
    if (count == 0) fprintf(stderr, "replay: no corpus files in %s\n", folder);
    printf("replay: %zu files of %s\n", count, folder);
    return count > 0 && failed == 0 ? 0 : 1;
}

int main(int argc, char **argv) {
    if (argc != 2) {
        fprintf(stderr, "usage: %s CORPUS-FOLDER | CORPUS-FILE\n", argv[0]);
        return 64;
    }
    signal(SIGALRM, on_alarm);
    snprintf(current, sizeof current, "the empty input");
    run_exact(NULL, 0);
    struct stat info;
    if (stat(argv[1], &info) == 0 && S_ISREG(info.st_mode)) return run_file(argv[1]) ? 0 : 1;
    return run_folder(argv[1]);
}
