// Tables of interrupt events.
#include "decode/tables.h"

static const ColumnDef INTERRUPT_COLUMNS[] = {
    {"ts_ns",          COL_I64,  "Nanoseconds since the trace began"                           },
    {"seq",            COL_U64,  "Breaks ties of ts_ns: order of the event in its CPU's stream"},
    {"cpu",            COL_U16,  "Processor index of the buffer the event came from"           },
    {"kind",           COL_TEXT, "dpc, threaded_dpc, timer_dpc, isr, isr_msi or passive_isr"   },
    {"start_ns",       COL_I64,  "When it began; ts_ns is its end"                             },
    {"duration_ns",    COL_I64,
     "ts_ns - start_ns, time of nested interrupts included; NULL when absurd"                  },
    {"routine",        COL_U64,  "Address of the routine"                                      },
    {"frame_id",       COL_U64,  "Frame of the routine"                                        },
    {"vector",         COL_U32,  "Interrupt vector (ISR)"                                      },
    {"return_value",   COL_U32,  "1 when the ISR claimed the interrupt"                        },
    {"message_number", COL_U32,  "MSI message"                                                 },
};

const TableDef TABLE_INTERRUPT = {"interrupt", "One DPC or ISR execution", INTERRUPT_COLUMNS,
                                  COUNT_OF(INTERRUPT_COLUMNS)};
