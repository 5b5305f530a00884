// Marks: texts that a user puts into a trace while it is recorded. Tools log them as classic events
// of the PerfInfo class, the kernel with a hook.
#include "decode/kernel/families.h"
#include "decode/tables.h"

static const ColumnDef MARK_COLUMNS[] = {
    EVENT_COLUMNS,
    {"text", COL_TEXT, "Text of the mark"},
};

const TableDef TABLE_MARK = {"mark", "One mark that a user put into the trace", MARK_COLUMNS,
                             COUNT_OF(MARK_COLUMNS)};

enum MarkSlot { M_TEXT = 1 };
static const Field MARK[] = {
    {"Message", F_ASTR, M_TEXT, 0},
};

static void emit_mark(Decoder *decoder, const EtlEvent *event, const EventSpec *spec) {
    Values v;
    (void)spec_read(spec, event, &v);
    Row row = decoder_row(decoder, T_MARK, event);
    put_text(&row, value_text(decoder, &v, M_TEXT, F_ASTR));
    row_end(&row);
}

static const EventSpec MARK_SPECS[] = {
    SPEC_ROWS(0x0F22, 0, 255, "PerfInfo/Mark", MARK, 0, T_MARK, emit_mark),
    SPEC_NAME(0x0F24, "PerfInfo/AsyncMark"),
};
const SpecFamily FAMILY_MARK = {MARK_SPECS, COUNT_OF(MARK_SPECS), NULL};
