// Tables of event_rows events.
#include "decode/tables.h"

static const ColumnDef EVENT_DATA_COLUMNS[] = {
    EVENT_COLUMNS,
    WHO_COLUMNS,
    {"class_id",            COL_U32,  "Kind (event_class.class_id)"},
    {"pid",                 COL_U32,  "Process id in the header"   },
    {"tid",                 COL_U32,  "Thread id in the header"    },
    {"activity_id",         COL_GUID, "Activity"                   },
    {"related_activity_id", COL_GUID, "Related activity"           },
    STACK_COLUMN,
    {"payload",             COL_BLOB, "Payload as recorded"        },
};

const TableDef TABLE_EVENT_DATA = {"event_data",
                                   "One event without a typed table (use the view `event`)",
                                   EVENT_DATA_COLUMNS, COUNT_OF(EVENT_DATA_COLUMNS)};
