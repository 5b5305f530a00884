// Files that CMake links into the program (etw_embed): SQL tools and views, provider schemas.
#ifndef BASE_EMBED_H
#define BASE_EMBED_H

typedef struct EmbeddedFile {
    const char *name;           // path from the repository's root: "sql/tools/analyze.sql"
    const unsigned char *bytes; // a zero byte follows
    unsigned size;
} EmbeddedFile;

// Large files (etw_embed_large) come as two ends.
typedef struct EmbeddedSpan {
    const char *name;
    const unsigned char *start, *end;
} EmbeddedSpan;

#endif
