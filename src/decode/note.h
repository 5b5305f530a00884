// Notes: what the survey writes down about events that another event refers to by a key which the
// kernel reuses (an IRP, a key control block), so that rows can be joined while chunks are decoded
// in any order. A family says which of its specs make notes (SPEC_NOTE) and what they say
// (SpecFamily.note); the survey's workers collect them; afterwards the notes of one key are a list
// in time order, read-only and shared.
#ifndef DECODE_NOTE_H
#define DECODE_NOTE_H

#include "decode/spec.h"

// Lists of notes: what the key is, and what else is said.
typedef enum NoteId {
    NOTE_DISK,        // IRP of a disk request's start; b: the issuing thread
    NOTE_FILE,        // IRP of a file operation's start, or its end: a information, b status
    NOTE_FILE_OBJECT, // file object at its creation; text: the path it was opened with
    NOTE_KEY_NAME,    // registry key control block; text: its full name
    NOTE_COUNTER,     // number of a performance counter; text: its name
    NOTE_IDS
} NoteId;

struct Note {
    uint64_t key;
    int64_t ticks;
    uint64_t seq;
    uint64_t a;
    Str text; // UTF-8
    uint32_t b;
    uint32_t tid;
    uint16_t hook;
    uint16_t cpu;
};

typedef VEC(Note) NoteVec;

// One worker's notes. In place, zero-initialised is ready to use.
struct Notes {
    NoteVec of[NOTE_IDS];
    Arena text;
};

// Notes an event whose spec has SPEC_NOTE; nothing when its payload is too short.
void notes_add(Notes *notes, const EtlEvent *event, const EventSpec *spec, uint64_t seq);
// For a family's note function; text must stand in notes->text.
void notes_push(Notes *notes, NoteId id, const Note *note);

typedef struct NoteList {
    const Note *items; // ordered by (ticks, seq)
    size_t count;
} NoteList;

typedef struct NoteIndex NoteIndex;

// Takes over the notes of `count` workers and empties them.
NoteIndex *note_index_open(Notes *workers, size_t count);
void note_index_close(NoteIndex *index); // accepts NULL
// All notes of one key; none when there is no index.
NoteList note_index_list(const NoteIndex *index, NoteId id, uint64_t key);

// The last note before that moment and the first one after it; NULL: none.
const Note *note_before(NoteList list, int64_t ticks, uint64_t seq);
const Note *note_after(NoteList list, int64_t ticks, uint64_t seq);

#endif
