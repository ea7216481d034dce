/* database.h - the profilers that write SQLite, each in a file of its own, and what their readers share.
 *
 *     process 144   [kernel, device 0] ...      a part of the file, pid-144, and a rank
 *     process 145   [kernel, device 1] ...      pid-145
 *
 * Each process that has device work is a rank.  Of a file of one process with several devices each device is a rank, and
 * what the host did belongs to each.
 */
#ifndef TLMPI_TRACE_READ_DATABASE_H
#define TLMPI_TRACE_READ_DATABASE_H

#include "nvtx.h"

typedef struct tl_db_schema {
    const tl_db_table *tables;
    size_t ntables, nwork_tables; /* the first nwork_tables have work of devices, which tells the ranks */
    const tl_db_column *columns;

    /* Whether the database is of this profiler; readies db for its tables.  NULL: see database.c. */
    bool (*claims)(tl_db *db);

    /* Says why the database is not read; false: it is. */
    bool (*refuses)(const tl_db *db, char *why, size_t size);

    /* Base time, devices and host.  They are unknown before. */
    void (*read_meta)(const tl_db *db, tl_meta *meta);

    /* A variable of the environment of a part, which is the whole file or not; `text` stays as it is without one. */
    void (*read_variable)(const tl_db *db, const tl_db_part *part, bool alone, const char *name, char *text,
                          size_t size);

    /* Says profiler and version; and after the tables that are missing what else is. */
    void (*say_version)(const tl_db *db, char *words, size_t size);
    void (*say_missing)(const tl_db *db, char *words, size_t size);
} tl_db_schema;

extern const tl_db_schema tl_nsys_schema, tl_rocpd_schema;

/* tl_db_first_start of the first table that has a row of the part. */
int64_t tl_db_first_start_of(const tl_db *db, const tl_db_schema *schema, const tl_db_part *part);

#endif
