// cpu_turn and thread_turn as table functions of SQL (sched.h): what SQL can only say with windows
// over all switches, several seconds of work where one pass takes a fraction.
#ifndef STORE_FN_SCHED_H
#define STORE_FN_SCHED_H

#include "store/duck.h"

// sched_cpu_turns(switches, trace) and sched_thread_turns(switches, trace, readies, threads), with
// the names of the tables to read, so that who looks for names in SQL finds them. They read over a
// connection of their own: `database` outlives every connection.
Status sched_functions_register(duckdb_connection connection, duckdb_database database, Err *err);

#endif
