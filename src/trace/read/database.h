/* database.h - the profilers that write SQLite, each with a file of its own; shared by their readers.
 *
 *     process 144   [kernel, device 0] ...      a part of the file, pid-144, and a rank
 *     process 145   [kernel, device 1] ...      pid-145
 *
 * Each process with device work is a rank.  In a file of one process with several devices, each device is a rank, and
 * the host events belong to each.
 */
#ifndef TLMPI_TRACE_READ_DATABASE_H
#define TLMPI_TRACE_READ_DATABASE_H

#include "nvtx.h"

typedef struct tl_db_schema {
    const tl_db_table *tables;
    size_t ntables, nwork_tables; /* the first nwork_tables have device work, which determines the ranks */
    const tl_db_column *columns;

    /* Whether the database is of this profiler; prepares db for its tables.  NULL: see schema_of in database.c. */
    bool (*claims)(tl_db *db);

    /* Whether the database cannot be read; writes why. */
    bool (*refuses)(const tl_db *db, char *why, size_t size);

    /* Fills base time, devices and host, which are unknown before. */
    void (*read_meta)(const tl_db *db, tl_meta *meta);

    /* Writes a variable of the environment of a part; alone: the part is the whole file.  `text` is unchanged if it is
     * absent. */
    void (*read_variable)(const tl_db *db, const tl_db_part *part, bool alone, const char *name, char *text,
                          size_t size);

    /* Write profiler and version; and, after the missing tables, what else is missing. */
    void (*say_version)(const tl_db *db, char *words, size_t size);
    void (*say_missing)(const tl_db *db, char *words, size_t size);
} tl_db_schema;

extern const tl_db_schema tl_nsys_schema, tl_rocpd_schema;

/* Returns tl_db_first_start of the first table that has a row of the part. */
int64_t tl_db_first_start_of(const tl_db *db, const tl_db_schema *schema, const tl_db_part *part);

#endif
