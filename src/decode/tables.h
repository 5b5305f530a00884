// The list of every table: TableId and definition. One line per table, nothing else to edit.
#ifndef DECODE_TABLES_H
#define DECODE_TABLES_H

#include "decode/table.h"

#define TABLE_LIST(X)                                                                              \
    X(T_SAMPLE, TABLE_SAMPLE)                                                                      \
    X(T_SAMPLE_INTERVAL, TABLE_SAMPLE_INTERVAL)                                                    \
    X(T_PMC_SAMPLE, TABLE_PMC_SAMPLE)                                                              \
    X(T_PMC_COUNTER, TABLE_PMC_COUNTER)                                                            \
    X(T_CONTEXT_SWITCH, TABLE_CONTEXT_SWITCH)                                                      \
    X(T_READY_THREAD, TABLE_READY_THREAD)                                                          \
    X(T_INTERRUPT, TABLE_INTERRUPT)                                                                \
    X(T_LOCK_EVENT, TABLE_LOCK_EVENT)                                                              \
    X(T_DISK_IO, TABLE_DISK_IO)                                                                    \
    X(T_DISK_IO_INIT, TABLE_DISK_IO_INIT)                                                          \
    X(T_FILE_NAME, TABLE_FILE_NAME)                                                                \
    X(T_FILE_IO, TABLE_FILE_IO)                                                                    \
    X(T_HARD_FAULT, TABLE_HARD_FAULT)                                                              \
    X(T_PAGE_FAULT, TABLE_PAGE_FAULT)                                                              \
    X(T_VIRTUAL_ALLOC, TABLE_VIRTUAL_ALLOC)                                                        \
    X(T_POOL_EVENT, TABLE_POOL_EVENT)                                                              \
    X(T_REGISTRY_EVENT, TABLE_REGISTRY_EVENT)                                                      \
    X(T_TCP_EVENT, TABLE_TCP_EVENT)                                                                \
    X(T_UDP_EVENT, TABLE_UDP_EVENT)                                                                \
    X(T_PROCESS_COUNTER, TABLE_PROCESS_COUNTER)                                                    \
    X(T_MARK, TABLE_MARK)                                                                          \
    X(T_CPU, TABLE_CPU)                                                                            \
    X(T_NIC, TABLE_NIC)                                                                            \
    X(T_DISK, TABLE_DISK)                                                                          \
    X(T_VOLUME, TABLE_VOLUME)                                                                      \
    X(T_SERVICE, TABLE_SERVICE)                                                                    \
    X(T_DEVICE, TABLE_DEVICE)                                                                      \
    X(T_CONFIG, TABLE_CONFIG)                                                                      \
    X(T_TRACE, TABLE_TRACE)                                                                        \
    X(T_TRACE_SOURCE, TABLE_TRACE_SOURCE)                                                          \
    X(T_DECODE_ISSUE, TABLE_DECODE_ISSUE)                                                          \
    X(T_PROVIDER, TABLE_PROVIDER)                                                                  \
    X(T_EVENT_CLASS, TABLE_EVENT_CLASS)                                                            \
    X(T_PROCESS, TABLE_PROCESS)                                                                    \
    X(T_THREAD, TABLE_THREAD)                                                                      \
    X(T_IMAGE, TABLE_IMAGE)                                                                        \
    X(T_FRAME, TABLE_FRAME)                                                                        \
    X(T_STACK, TABLE_STACK)                                                                        \
    X(T_METHOD, TABLE_METHOD)                                                                      \
    X(T_EVENT_DATA, TABLE_EVENT_DATA)                                                              \
    X(T_CAPTURED_FRAME, TABLE_CAPTURED_FRAME)

extern const TableDef TABLE_SAMPLE;
extern const TableDef TABLE_SAMPLE_INTERVAL;
extern const TableDef TABLE_PMC_SAMPLE;
extern const TableDef TABLE_PMC_COUNTER;
extern const TableDef TABLE_CONTEXT_SWITCH;
extern const TableDef TABLE_READY_THREAD;
extern const TableDef TABLE_INTERRUPT;
extern const TableDef TABLE_LOCK_EVENT;
extern const TableDef TABLE_DISK_IO;
extern const TableDef TABLE_DISK_IO_INIT;
extern const TableDef TABLE_FILE_NAME;
extern const TableDef TABLE_FILE_IO;
extern const TableDef TABLE_HARD_FAULT;
extern const TableDef TABLE_PAGE_FAULT;
extern const TableDef TABLE_VIRTUAL_ALLOC;
extern const TableDef TABLE_POOL_EVENT;
extern const TableDef TABLE_REGISTRY_EVENT;
extern const TableDef TABLE_TCP_EVENT;
extern const TableDef TABLE_UDP_EVENT;
extern const TableDef TABLE_PROCESS_COUNTER;
extern const TableDef TABLE_MARK;
extern const TableDef TABLE_CPU;
extern const TableDef TABLE_NIC;
extern const TableDef TABLE_DISK;
extern const TableDef TABLE_VOLUME;
extern const TableDef TABLE_SERVICE;
extern const TableDef TABLE_DEVICE;
extern const TableDef TABLE_CONFIG;
extern const TableDef TABLE_TRACE;
extern const TableDef TABLE_TRACE_SOURCE;
extern const TableDef TABLE_DECODE_ISSUE;
extern const TableDef TABLE_PROVIDER;
extern const TableDef TABLE_EVENT_CLASS;
extern const TableDef TABLE_PROCESS;
extern const TableDef TABLE_THREAD;
extern const TableDef TABLE_IMAGE;
extern const TableDef TABLE_FRAME;
extern const TableDef TABLE_STACK;
extern const TableDef TABLE_METHOD;
extern const TableDef TABLE_EVENT_DATA;
extern const TableDef TABLE_CAPTURED_FRAME;

#endif
