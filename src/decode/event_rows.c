// Events without a layout of their own, and what all such rows start with.
#include "decode/event_rows.h"

#include "decode/tables.h"

static const ColumnDef EVENT_DATA_COLUMNS[] = {PLAIN_EVENT_COLUMNS};

const TableDef TABLE_EVENT_DATA = {
    "event_data", "One event without a typed table (use the view `event`, which has them all)",
    EVENT_DATA_COLUMNS, COUNT_OF(EVENT_DATA_COLUMNS)};

Row event_row_begin(Decoder *decoder, TableId table, const EtlEvent *event, EventRow of) {
    uint32_t utid = decoder_thread(decoder, event, ETL_NO_ID);
    Row row = decoder_row(decoder, table, event);
    put_who(&row, decoder, utid);
    put_u32(&row, of.class_id);
    put_u32_if(&row, event->pid != ETL_NO_ID, event->pid);
    put_u32_if(&row, event->tid != ETL_NO_ID, event->tid);
    bool manifest = event->kind == ETL_MANIFEST;
    put_guid_if(&row, manifest && !guid_is_zero(&event->activity), event->activity);
    put_guid_if(&row, manifest && event->ext.has_related_activity, event->ext.related_activity);
    put_id(&row, of.stack_id);
    put_blob(&row, event->payload.p ? event->payload : STR(""));
    return row;
}
