// Numbers of the CodeView records that naming addresses needs. docs/formats/pdb.md.
#ifndef SYM_CODEVIEW_H
#define SYM_CODEVIEW_H

enum {
    S_END = 0x0006,
    S_THUNK32 = 0x1102,
    S_PUB32 = 0x110E,
    S_LPROC32 = 0x110F,
    S_GPROC32 = 0x1110,
    S_GMANPROC = 0x112A,
    S_LMANPROC = 0x112B,
    S_TRAMPOLINE = 0x112C,
    S_SEPCODE = 0x1132,
    S_LPROC32_ID = 0x1146,
    S_GPROC32_ID = 0x1147,
    S_INLINESITE = 0x114D,
    S_INLINESITE_END = 0x114E,
    S_PROC_ID_END = 0x114F,
    S_LPROC32_DPC = 0x1155,
    S_LPROC32_DPC_ID = 0x1156,
    S_INLINESITE2 = 0x115D,

    PUBLIC_CODE = 1,
    PUBLIC_FUNCTION = 2,

    DEBUG_S_LINES = 0xF2,
    DEBUG_S_FILECHKSMS = 0xF4,
    DEBUG_S_INLINEELINES = 0xF6,

    LF_CLASS = 0x1504,
    LF_STRUCTURE = 0x1505,
    LF_UNION = 0x1506,
    LF_INTERFACE = 0x1519,
    LF_FUNC_ID = 0x1601,
    LF_MFUNC_ID = 0x1602,
    LF_STRING_ID = 0x1605,

    STREAM_INFO = 1,
    STREAM_TPI = 2,
    STREAM_DBI = 3,
    STREAM_IPI = 4,
};

#endif
