// SQL from outside, in an instance of its own that can read the database's files and nothing else.
#include "store/database.h"

#include "base/os.h"
#include "store/result.h"

struct UserInstance {
    duckdb_database duck;
    Mutex lock;
    Views views;
};

void user_instance_close(UserInstance *user) {
    if (!user) return;
    duckdb_close(&user->duck);
    views_done(&user->views);
    mutex_done(&user->lock);
    mem_free(user);
}

Status database_user_query(Database *database, Str sql, size_t max_rows, unsigned seconds_max,
                           Progress *progress, Arena *arena, ResultSet *out, Err *err) {
    (void)database;
    (void)sql;
    (void)max_rows;
    (void)seconds_max;
    (void)progress;
    (void)arena;
    *out = (ResultSet){0};
    return err_set(err, ERR_INTERNAL, "not yet");
}
