/* database.h - what tests of databases share: a database made by statements, its parts, and a part read as a trace. */
#ifndef TLMPI_TESTS_DATABASE_H
#define TLMPI_TESTS_DATABASE_H

#include "trace/read_text.h"
#include <sqlite3.h>

/* Makes a database by statements of SQL; returns its path. */
static inline const char *make_database(const char *name, const char *const *statements, size_t n)
{
    const char *path = scratch_path(name);
    sqlite3 *db;

    (void)unlink(path);
    CU_ASSERT_EQUAL_FATAL(sqlite3_open(path, &db), SQLITE_OK);
    CU_ASSERT_EQUAL_FATAL(sqlite3_exec(db, "PRAGMA synchronous = OFF", NULL, NULL, NULL), SQLITE_OK);
    for (size_t i = 0; i < n; i++)
        CU_ASSERT_EQUAL_FATAL(sqlite3_exec(db, statements[i], NULL, NULL, NULL), SQLITE_OK);
    CU_ASSERT_EQUAL(sqlite3_close(db), SQLITE_OK);
    return path;
}

static inline tl_trace read_part(const char *path, const char *part, tl_status *st)
{
    const tl_read_options options = { .keep = ~0u };
    char whole[1100];
    tl_error err = { 0 };
    tl_trace t;

    snprintf(whole, sizeof whole, "%s%s", path, part);
    *st = tl_trace_read(whole, &options, &t, &err);
    return t;
}

/* Returns the names of the database's parts, with a space after each. */
static inline const char *parts_of(const char *path)
{
    static char words[256];
    tl_bytes names = { 0 };

    tl_parts_list(path, &names);
    for (size_t i = 0; i < names.n && i + 1 < sizeof words; i++)
        words[i] = names.v[i] != '\0' ? names.v[i] : ' ';
    words[names.n] = '\0';
    tl_bytes_free(&names);
    return words;
}

#endif
