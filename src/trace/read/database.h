/* database.h - reads the rows of a profiler's database, one at a time, into the columns of a trace.
 *
 * A profiler that writes SQLite is a tl_db_schema (below): its tables, in the order in which they are read, and
 * the meaning of its columns.  Of each table, the columns that exist are read, so that no list of schema versions is
 * needed:
 *
 *     CUPTI_ACTIVITY_KIND_MEMCPY    start | end | deviceId | copyKind | ...    a table of the schema
 *                                     |      |       |          |
 *     tl_db_row                     START   END   DEVICE      KIND             where the columns go
 *     entry                          ts     dur   device     its name          what Kineto would have written
 *
 * Rows come in the order of the table, are not sorted by SQLite, and need no index.
 */
#ifndef TLMPI_TRACE_READ_DATABASE_H
#define TLMPI_TRACE_READ_DATABASE_H

#include "formats.h"
#include "tlmpi/base/group.h"
#include "tlmpi/trace/event/hook.h"

/* The destinations of columns. */
typedef enum tl_db_slot {
    TL_DB_START,
    TL_DB_END,     /* ns */
    TL_DB_PROCESS, /* pid << 24 | tid, in the lower 48 bits */
    TL_DB_DEVICE,
    TL_DB_STREAM,
    TL_DB_CORRELATION,
    TL_DB_BYTES,
    TL_DB_KIND, /* number of a kind, in the table's own list */
    TL_DB_FROM,
    TL_DB_TO, /* kinds of memory */
    TL_DB_GRID_X,
    TL_DB_GRID_Y,
    TL_DB_GRID_Z,
    TL_DB_EVENT,
    TL_DB_GRAPH,
    TL_DB_NAME, /* id of a text; this slot and those below are texts */
    TL_DB_TEXT,
    TL_DB_PAYLOAD, /* bytes; a text does not count */
    TL_DB_NSLOTS
} tl_db_slot;

typedef struct tl_db_row {
    uint32_t has; /* bit k: slot k has a value */
    int64_t number[TL_DB_NAME];
    tl_text text[TL_DB_NSLOTS - TL_DB_NAME]; /* valid until the next row */
} tl_db_row;

#define TL_DB_HAS(row, slot) ((row)->has >> (slot)&1)

/* Returns the text of a slot from TL_DB_NAME on; empty: none. */
static inline tl_text tl_db_text(const tl_db_row *row, tl_db_slot slot)
{
    return TL_DB_HAS(row, slot) ? row->text[slot - TL_DB_NAME] : (tl_text){ "", 0 };
}

typedef struct tl_db_reading tl_db_reading;

/* One table.  In its name, and in all SQL below, @ stands for the common ending of all table names of the database.
 * fill: completes the entry of a row with what only this table has; false: the row is not an entry. */
typedef struct tl_db_table {
    const char *name, *category;
    bool of_device; /* true: of a device; false: of a thread of the host */
    bool (*fill)(tl_db_reading *reading, const tl_db_row *row, tl_fields *entry);
    const char *without; /* what is unknown if the table has no rows; NULL: most databases have none */
} tl_db_table;

/* A column, by its name in any table; of several for one slot, the first that a table has is read. */
typedef struct tl_db_column {
    const char *name;
    tl_db_slot to;
    const char *value; /* SQL of the value, in terms of table t and the joined tables; NULL: the column itself */
    const char *join;  /* table and condition, after LEFT JOIN; NULL: none, or that of an earlier column */
} tl_db_column;

/* A rank's part of a file; -1: any. */
typedef struct tl_db_part {
    int64_t pid, device;
} tl_db_part;

typedef struct tl_db tl_db;

/* The stream and correlation of the recording of an event. */
typedef struct tl_db_recording {
    int64_t stream, correlation;
} tl_db_recording;

/* State while reading a part. */
struct tl_db_reading {
    tl_db *db;
    const tl_read_options *options;
    tl_trace *trace;
    struct tl_nvtx *nvtx; /* ranges */
    tl_map records;       /* number of a recording, or of its event -> index in `recorded` */
    TL_VEC(tl_db_recording) recorded;
    uint32_t uid;      /* of the next entry */
    uint64_t row;      /* index of the current row, from 1, among the part's rows of its table */
    char name[320];    /* scratch for a composed name of an entry */
    char numbers[160]; /* scratch for numbers as texts */
    size_t nnumbers;
    size_t checked; /* bytes of events for which there was enough memory */
};

/* --------------------------------------------------------------------------------------------------------- database */

/* Opens the database read-only and never writes beside it.  TL_EINPUT: it cannot be opened or is not a database. */
tl_status tl_db_open(const char *path, tl_db **out, tl_error *err);

void tl_db_close(tl_db *db); /* NULL is fine */

/* Sets the replacement of @, at most 63 bytes; empty before. */
void tl_db_set_ending(tl_db *db, const char *ending);

/* Return the size of the file, and the size in its head, which is larger if the file is truncated. */
uint64_t tl_db_bytes(const tl_db *db);
uint64_t tl_db_whole_bytes(const tl_db *db);

/* Whether the database has the table; with column not NULL, whether the table has it. */
bool tl_db_has(const tl_db *db, const char *table, const char *column);

/* Calls take with up to two values of each row of a query (texts, or numbers as texts; NULL: none) until it returns
 * false.  Returns false if the database is damaged. */
bool tl_db_each(const tl_db *db, const char *sql, bool (*take)(void *arg, const char *first, const char *second),
                void *arg);

/* Returns the first number of a query; `absent` if there is none. */
int64_t tl_db_number(const tl_db *db, const char *sql, int64_t absent);

/* Copies the first text of a query, truncated to size; `to` is unchanged if there is none. */
void tl_db_copy_text(const tl_db *db, const char *sql, char *to, size_t size);

/* Calls take with pid and device of the work in a table, each pair once; NULL: not in the table.  Returns false if the
 * database is damaged. */
bool tl_db_each_part(const tl_db *db, const tl_db_table *table, const tl_db_column *columns,
                     bool (*take)(void *arg, const char *pid, const char *device), void *arg);

/* Returns the start of the part's first row in table order, ns; -1: there is none. */
int64_t tl_db_first_start(const tl_db *db, const tl_db_table *table, const tl_db_column *columns,
                          const tl_db_part *part);

/* Reads the rows of the part into entries.  Faults go to the report of the trace. */
void tl_db_read_table(tl_db_reading *reading, const tl_db_table *table, const tl_db_column *columns,
                      const tl_db_part *part);

/* --------------------------------------------------------------------------------------------------------- an entry */

/* Sets a number of an entry. */
void tl_db_put_number(tl_db_reading *reading, tl_fields *entry, tl_key key, int64_t number);

/* Sets a time or duration of an entry, ns, which Kineto writes as us with three decimals; below 0: an invalid
 * duration. */
void tl_db_put_ns(tl_fields *entry, tl_key key, int64_t ns);

/* Sets a text of an entry; the text is not copied. */
static inline void tl_db_put_text(tl_fields *entry, tl_key key, tl_text text)
{
    tl_fields_set(entry, key, text.p, text.n, TL_VALUE_STRING);
}

/* Sets the name of an entry to the first `length` bytes of reading->name, not copied. */
void tl_db_put_name(tl_db_reading *reading, tl_fields *entry, int length);

/* Completes the entry of a kernel with the grid, if the row has it. */
bool tl_db_fill_kernel(tl_db_reading *reading, const tl_db_row *row, tl_fields *entry);

/* Adds an entry, whose times are set, to the trace. */
void tl_db_take(tl_db_reading *reading, const tl_fields *entry, const char *table);

/* --------------------------------------------------- ranges of NVTX and roctx, as operators and annotations of PyTorch
 *
 *     "aten::add, seq = 7, op_id = 9"       operator aten::add of emit_nvtx; an arrow for each seq links the forward
 *                                           operator to the backward operator
 *     "ncclAllReduce" and a payload         annotation nccl:all_reduce, with bytes and communicator
 *     "iteration 5"                         annotation
 */

typedef struct tl_nvtx tl_nvtx;

/* Reads the database's descriptions of payloads.  tl_nvtx_free ends the result. */
tl_nvtx *tl_nvtx_new(const tl_db *db);
void tl_nvtx_free(tl_nvtx *nvtx);

/* Completes the entry of a row that is a range of that name; false: the range has no end or no name. */
bool tl_nvtx_fill(tl_nvtx *nvtx, tl_db_reading *reading, const tl_db_row *row, tl_text name, tl_fields *entry);

/* -------------------------------------------------------- the profilers that write SQLite, each with a file of its own
 *
 *     process 144   [kernel, device 0] ...      a part of the file, pid-144, and a rank
 *     process 145   [kernel, device 1] ...      pid-145
 *
 * Each process with device work is a rank.  In a file of one process with several devices, each device is a rank, and
 * the host events belong to each.
 */

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
