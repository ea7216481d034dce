/* sqlite.h - the rows of a profiler's database, one at a time, to the columns of a trace.
 *
 * A profiler that writes SQLite is a tl_db_schema (database.h): its tables, in the order in which they are read, and what
 * its columns mean.  Of each table the columns are taken that are there, so that the versions of a schema need no list:
 *
 *     CUPTI_ACTIVITY_KIND_MEMCPY    start | end | deviceId | copyKind | ...    a table of the schema
 *                                     |      |       |          |
 *     tl_db_row                     START   END   DEVICE      KIND             where the columns go
 *     entry                          ts     dur   device     its name          what Kineto would have written
 *
 * Rows come in the order of the table, are not sorted by SQLite, and need no index.
 */
#ifndef TLMPI_TRACE_READ_SQLITE_H
#define TLMPI_TRACE_READ_SQLITE_H

#include "formats.h"
#include "tlmpi/base/group.h"
#include "tlmpi/trace/event/take.h"

/* Where a column goes. */
typedef enum tl_db_slot {
    TL_DB_START, TL_DB_END, /* ns */
    TL_DB_PROCESS,          /* pid << 24 | tid, in the lower 48 bits */
    TL_DB_DEVICE, TL_DB_STREAM, TL_DB_CORRELATION, TL_DB_BYTES,
    TL_DB_KIND,             /* the number of a kind, of the table's own list */
    TL_DB_FROM, TL_DB_TO,   /* kinds of memory */
    TL_DB_GRID_X, TL_DB_GRID_Y, TL_DB_GRID_Z,
    TL_DB_EVENT, TL_DB_GRAPH,
    TL_DB_NAME,             /* the id of a text, from here on texts */
    TL_DB_TEXT,
    TL_DB_PAYLOAD,          /* bytes; a text is none */
    TL_DB_NSLOTS
} tl_db_slot;

typedef struct tl_db_row {
    uint32_t has; /* bit k: slot k has a value */
    int64_t number[TL_DB_NAME];
    tl_text text[TL_DB_NSLOTS - TL_DB_NAME]; /* valid until the next row */
} tl_db_row;

#define TL_DB_HAS(row, slot) ((row)->has >> (slot) & 1)

/* The text of a slot from TL_DB_NAME on, empty without one. */
static inline tl_text tl_db_text(const tl_db_row *row, tl_db_slot slot)
{
    return TL_DB_HAS(row, slot) ? row->text[slot - TL_DB_NAME] : (tl_text){ "", 0 };
}

typedef struct tl_db_reading tl_db_reading;

/* One table.  In its name, and in all SQL below, @ stands for what the names of all tables of the database end with.
 * fill: completes the entry of a row from what the table alone has; false: the row is no entry. */
typedef struct tl_db_table {
    const char *name, *category;
    bool of_device; /* of a device; else of a thread of the host */
    bool (*fill)(tl_db_reading *reading, const tl_db_row *row, tl_fields *entry);
    const char *without; /* what is not told where the table has no rows; NULL: most databases have none */
} tl_db_table;

/* A column, by its name in whichever table; of several for one slot the first that a table has is taken. */
typedef struct tl_db_column {
    const char *name;
    tl_db_slot to;
    const char *value; /* SQL of what goes there, of table t and what is joined; NULL: the column as it is */
    const char *join;  /* table and condition, after LEFT JOIN; NULL: none, or that of a column before */
} tl_db_column;

/* A rank's part of a file; -1: all. */
typedef struct tl_db_part {
    int64_t pid, device;
} tl_db_part;

typedef struct tl_db tl_db;

/* Where an event was recorded. */
typedef struct tl_db_recording {
    int64_t stream, correlation;
} tl_db_recording;

/* What the reading of a part has come to. */
struct tl_db_reading {
    tl_db *db;
    const tl_read_options *options;
    tl_trace *trace;
    struct tl_nvtx *nvtx; /* ranges: nvtx.h */
    tl_map records;       /* number of a recording, or of its event -> place in `recorded` */
    TL_VEC(tl_db_recording) recorded;
    uint32_t uid;      /* of the next entry */
    uint64_t row;      /* the row at hand, from 1, of those of its table that are the part's */
    char name[320];    /* room for the name of an entry that is put together */
    char numbers[160]; /* and for numbers as texts */
    size_t nnumbers;
    size_t checked; /* bytes of events for which there was memory enough */
};

/* ---------------------------------------------------------------------------------------------------------- database */

/* Opens the database read-only, beside which nothing is ever written.  TL_EINPUT: it cannot be opened or is none. */
tl_status tl_db_open(const char *path, tl_db **out, tl_error *err);

void tl_db_close(tl_db *db); /* NULL is fine */

/* Sets what @ stands for, of at most 63 bytes; nothing until then. */
void tl_db_set_ending(tl_db *db, const char *ending);

/* The size of the file, and what it should be by its head: more than the size where it has been cut. */
uint64_t tl_db_bytes(const tl_db *db);
uint64_t tl_db_whole_bytes(const tl_db *db);

/* Whether the database has the table; with a column, whether the table has it. */
bool tl_db_has(const tl_db *db, const char *table, const char *column);

/* Calls take with up to two values of each row of a query, texts or numbers as texts, NULL where there is none, until it
 * returns false.  False: the database is damaged. */
bool tl_db_each(const tl_db *db, const char *sql, bool (*take)(void *arg, const char *first, const char *second),
                void *arg);

/* The first number that a query gives; `absent` without one. */
int64_t tl_db_number(const tl_db *db, const char *sql, int64_t absent);

/* The first text that a query gives, cut to the size; `to` stays as it is without one. */
void tl_db_copy_text(const tl_db *db, const char *sql, char *to, size_t size);

/* Calls take with pid and device of the work in a table, each pair once, NULL where the table does not tell.  False: the
 * database is damaged. */
bool tl_db_each_part(const tl_db *db, const tl_db_table *table, const tl_db_column *columns,
                     bool (*take)(void *arg, const char *pid, const char *device), void *arg);

/* When the first row of the part, as it stands in the table, began, in ns; -1: there is none. */
int64_t tl_db_first_start(const tl_db *db, const tl_db_table *table, const tl_db_column *columns,
                          const tl_db_part *part);

/* Reads the rows of the part to entries.  What is wrong stands in the report of the trace. */
void tl_db_read_table(tl_db_reading *reading, const tl_db_table *table, const tl_db_column *columns,
                      const tl_db_part *part);

/* --------------------------------------------------------------------------------------------------------- an entry */

/* Sets a number of an entry. */
void tl_db_put_number(tl_db_reading *reading, tl_fields *entry, tl_key key, int64_t number);

/* Sets a time or duration of an entry, in ns, which Kineto writes as us with three places; below 0: a duration that cannot
 * be. */
void tl_db_put_ns(tl_fields *entry, tl_key key, int64_t ns);

/* Sets a text of an entry, which stays where it is. */
static inline void tl_db_put_text(tl_fields *entry, tl_key key, tl_text text)
{
    tl_fields_set(entry, key, text.p, text.n, TL_VALUE_STRING);
}

/* Names an entry by the first `length` bytes of reading->name, where they stay. */
void tl_db_put_name(tl_db_reading *reading, tl_fields *entry, int length);

/* Completes the entry of a kernel: the grid, where the row has it. */
bool tl_db_fill_kernel(tl_db_reading *reading, const tl_db_row *row, tl_fields *entry);

/* Takes an entry into the trace; times are set. */
void tl_db_take(tl_db_reading *reading, const tl_fields *entry, const char *table);

#endif
