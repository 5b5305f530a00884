// Notes of the survey: collected by each worker, then spread by key over buckets and sorted there.
#include "decode/note.h"

#include "base/search.h"

#include <stdlib.h>

enum { NOTES_PER_BUCKET = 8 };

typedef struct NoteTable {
    Note *notes;   // bucket by bucket, each ordered by (key, ticks, seq)
    size_t *start; // of every bucket, and the end of the last
    size_t mask;   // buckets - 1
} NoteTable;

struct NoteIndex {
    NoteTable of[NOTE_IDS];
    Arena *text; // of every worker
    size_t text_count;
};

void notes_add(Notes *notes, const EtlEvent *event, const EventSpec *spec, uint64_t seq) {
    const SpecFamily *family = spec_family(spec->hook);
    Note blank = {.ticks = event->ticks,
                  .seq = seq,
                  .tid = event->tid,
                  .hook = spec->hook,
                  .cpu = event->cpu};
    INVARIANT(family && family->note);
    family->note(notes, &blank, event, spec);
}

void notes_push(Notes *notes, NoteId id, const Note *note) {
    *vec_push(&notes->of[id]) = *note;
}

static int note_compare(const void *left, const void *right) {
    const Note *a = (const Note *)left, *b = (const Note *)right;
    if (a->key != b->key) return a->key < b->key ? -1 : 1;
    if (a->ticks != b->ticks) return a->ticks < b->ticks ? -1 : 1;
    return (a->seq > b->seq) - (a->seq < b->seq);
}

// Buckets are short, or hold one busy key whose notes arrive nearly in order.
static void bucket_sort(Note *notes, size_t count) {
    enum { SHORT = 24 };
    if (count > SHORT) {
        bool sorted = true;
        for (size_t i = 1; i < count && sorted; i++)
            sorted = note_compare(&notes[i - 1], &notes[i]) <= 0;
        if (!sorted) qsort(notes, count, sizeof *notes, note_compare);
        return;
    }
    for (size_t i = 1; i < count; i++) {
        Note note = notes[i];
        size_t at = i;
        for (; at > 0 && note_compare(&notes[at - 1], &note) > 0; at--) notes[at] = notes[at - 1];
        notes[at] = note;
    }
}

static void table_fill(NoteTable *table, NoteId id, Notes *workers, size_t count) {
    size_t total = 0, buckets = 1;
    for (size_t w = 0; w < count; w++) total += workers[w].of[id].count;
    if (total == 0) return;
    while (buckets < total / NOTES_PER_BUCKET) buckets *= 2;
    table->mask = buckets - 1;
    table->start = mem_zero(buckets + 2, sizeof *table->start);
    size_t *next = table->start + 1; // becomes `start` once every bucket is full
    for (size_t w = 0; w < count; w++)
        for (size_t i = 0; i < workers[w].of[id].count; i++)
            next[(u64_hash(workers[w].of[id].items[i].key) & table->mask) + 1]++;
    for (size_t b = 1; b <= buckets; b++) next[b] += next[b - 1];
    table->notes = mem_zero(total, sizeof *table->notes);
    for (size_t w = 0; w < count; w++) {
        for (size_t i = 0; i < workers[w].of[id].count; i++) {
            const Note *note = &workers[w].of[id].items[i];
            table->notes[next[u64_hash(note->key) & table->mask]++] = *note;
        }
        vec_free(&workers[w].of[id]);
    }
    for (size_t b = 0; b < buckets; b++)
        bucket_sort(table->notes + table->start[b], table->start[b + 1] - table->start[b]);
}

NoteIndex *note_index_open(Notes *workers, size_t count) {
    NoteIndex *index = mem_zero(1, sizeof *index);
    for (unsigned id = 0; id < NOTE_IDS; id++)
        table_fill(&index->of[id], (NoteId)id, workers, count);
    index->text = mem_zero(count + 1, sizeof *index->text);
    index->text_count = count;
    for (size_t w = 0; w < count; w++) {
        index->text[w] = workers[w].text;
        workers[w] = (Notes){0};
    }
    return index;
}

void note_index_close(NoteIndex *index) {
    if (!index) return;
    for (unsigned id = 0; id < NOTE_IDS; id++) {
        mem_free(index->of[id].notes);
        mem_free(index->of[id].start);
    }
    for (size_t w = 0; w < index->text_count; w++) arena_done(&index->text[w]);
    mem_free(index->text);
    mem_free(index);
}

// First of a bucket's notes with a key of at least `key`.
static size_t key_lower_bound(const Note *notes, size_t count, uint64_t key) {
    size_t at;
    FIND_FIRST(at, count, notes[at].key < key);
    return at;
}

NoteList note_index_list(const NoteIndex *index, NoteId id, uint64_t key) {
    if (!index || !index->of[id].notes) return (NoteList){0};
    const NoteTable *table = &index->of[id];
    size_t bucket = u64_hash(key) & table->mask;
    const Note *notes = table->notes + table->start[bucket];
    size_t count = table->start[bucket + 1] - table->start[bucket];
    if (count == 0) return (NoteList){0};
    // Keys are few and used often: most buckets hold one.
    if (notes[0].key == key && notes[count - 1].key == key) return (NoteList){notes, count};
    size_t first = key_lower_bound(notes, count, key);
    size_t end =
        key == UINT64_MAX ? count : first + key_lower_bound(notes + first, count - first, key + 1);
    return (NoteList){notes + first, end - first};
}

// Number of notes before (ticks, seq), or up to it when `with`.
static size_t notes_until(NoteList list, int64_t ticks, uint64_t seq, bool with) {
    const Note *notes = list.items;
    size_t at;
    FIND_FIRST(at, list.count,
               notes[at].ticks != ticks ? notes[at].ticks < ticks
               : with                   ? notes[at].seq <= seq
                                        : notes[at].seq < seq);
    return at;
}

const Note *note_before(NoteList list, int64_t ticks, uint64_t seq) {
    size_t n = notes_until(list, ticks, seq, false);
    return n ? &list.items[n - 1] : NULL;
}

const Note *note_after(NoteList list, int64_t ticks, uint64_t seq) {
    size_t n = notes_until(list, ticks, seq, true);
    return n < list.count ? &list.items[n] : NULL;
}
