#include "database.h"
#if TLMPI_HAVE_SQLITE
#include "tlmpi/base/log.h"
#include <inttypes.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

/* Largest length of a record, bytes; a longer one is not an event's. */
#define RECORD_MOST (16 << 20)

/* Largest cost of a query, in steps of SQLite's virtual machine per byte of the file: a row takes 40 bytes and about
 * 100 steps.  Pages with circular links cost more. */
#define STEPS_A_BYTE 64
#define STEPS_A_TURN 100000

/* Number of rows between two checks of memory. */
#define TURN_ROWS 4096

struct tl_db {
    sqlite3 *handle;
    char ending[64]; /* replaces @ */
    uint64_t bytes, whole_bytes;
    int64_t turns, most_turns; /* of the current query */
    const tl_read_options *options;
};

/* --------------------------------------------------------------------------------------------------------- database */

static int count_turn(void *arg)
{
    tl_db *db = arg;
    if (db->options != NULL && db->options->tick != NULL)
        db->options->tick(db->options->tick_arg);
    return ++db->turns > db->most_turns;
}

/* The path as a URI that forbids locks and files beside the database. */
static char *uri_of(const char *path)
{
    static const char *const end = "?mode=ro&immutable=1";
    char *uri = tl_malloc(3 * strlen(path) + strlen(end) + 8), *to = uri;

    memcpy(to, "file:", 5);
    to += 5;
    for (const char *p = path; *p != '\0'; p++)
        if (*p == '%' || *p == '?' || *p == '#')
            to += snprintf(to, 4, "%%%02X", (unsigned)*p);
        else
            *to++ = *p;
    memcpy(to, end, strlen(end) + 1);
    return uri;
}

/* Returns the size of the database by its head: big-endian page size and number of pages at bytes 16 and 28; 64 KiB is
 * written as 1. */
static uint64_t whole_bytes(const char *path)
{
    char name[TL_HEAD_BYTES];
    const unsigned char *head = (const unsigned char *)name;

    if (tl_source_head(path, name, sizeof name) < 32)
        return 0;
    uint64_t size = (uint64_t)head[16] << 8 | head[17];
    uint64_t pages = (uint64_t)head[28] << 24 | (uint64_t)head[29] << 16 | (uint64_t)head[30] << 8 | head[31];
    return pages * (size == 1 ? 65536 : size);
}

/* Allows queries to read tables only: no views and no recursion, which a file could compute at any cost. */
static int authorize(void *none, int action, const char *first, const char *second, const char *database,
                     const char *view)
{
    const bool reads = action == SQLITE_SELECT || action == SQLITE_READ || action == SQLITE_FUNCTION;

    (void)none;
    (void)first;
    (void)second;
    (void)database;
    return reads && view == NULL ? SQLITE_OK : SQLITE_DENY;
}

/* Whether a table has columns that are computed when read, at any cost. */
static bool has_computed_columns(sqlite3 *handle)
{
    sqlite3_stmt *query = NULL;
    bool found = false;

    (void)sqlite3_prepare_v2(
        handle,
        "SELECT 1 FROM sqlite_master AS m, pragma_table_xinfo(m.name) AS c WHERE m.type = 'table' AND "
        "m.sql NOT LIKE 'CREATE VIRTUAL%' AND c.hidden > 1",
        -1, &query, NULL);
    found = query != NULL && sqlite3_step(query) == SQLITE_ROW;
    (void)sqlite3_finalize(query);
    return found;
}

/* Whether the write-ahead log still has rows of the database. */
static bool has_log(const char *path)
{
    static const char ending[] = "-wal";
    struct stat st;
    char *log = tl_malloc(strlen(path) + sizeof ending);

    (void)stpcpy(stpcpy(log, path), ending);
    bool found = stat(log, &st) == 0 && st.st_size > 0;
    free(log);
    return found;
}

tl_status tl_db_open(const char *path, tl_db **out, tl_error *err)
{
    struct stat st;
    if (has_log(path))
        return tl_fail(err, TL_EINPUT,
                       "%s: expected a whole database, found rows of it in %s-wal: end the program that writes it",
                       path, path);
    tl_db *db = tl_calloc(1, sizeof *db);
    char *uri = uri_of(path);
    int rc = sqlite3_open_v2(uri, &db->handle, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, NULL);

    free(uri);
    if (rc == SQLITE_OK) {
        sqlite3_limit(db->handle, SQLITE_LIMIT_LENGTH, RECORD_MOST);
        /* A truncated database is read as far as possible, even if its schema is wrong: nothing of it is written. */
        sqlite3_db_config(db->handle, SQLITE_DBCONFIG_WRITABLE_SCHEMA, 1, NULL);
        sqlite3_db_config(db->handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
        (void)sqlite3_drop_modules(db->handle, NULL);
        rc = sqlite3_exec(db->handle, "SELECT count(*) FROM sqlite_master", NULL, NULL, NULL);
    }
    const bool computed = rc == SQLITE_OK && has_computed_columns(db->handle);
    if (rc != SQLITE_OK || computed) {
        tl_status failed =
            tl_fail(err, TL_EINPUT, "%s: expected an SQLite database%s: %s", path, computed ? " of stored values" : "",
                    computed             ? "found columns that are computed (GENERATED ALWAYS AS)"
                    : db->handle != NULL ? sqlite3_errmsg(db->handle)
                                         : sqlite3_errstr(rc));
        tl_db_close(db);
        return failed;
    }
    db->bytes = stat(path, &st) == 0 ? (uint64_t)st.st_size : 0;
    db->whole_bytes = whole_bytes(path);
    db->most_turns = 10 + (int64_t)(db->bytes / STEPS_A_TURN * STEPS_A_BYTE);
    sqlite3_set_authorizer(db->handle, authorize, NULL);
    sqlite3_progress_handler(db->handle, STEPS_A_TURN, count_turn, db);
    *out = db;
    return TL_OK;
}

void tl_db_close(tl_db *db)
{
    if (db != NULL)
        (void)sqlite3_close(db->handle);
    free(db);
}

uint64_t tl_db_whole_bytes(const tl_db *db)
{
    return db->whole_bytes;
}

uint64_t tl_db_bytes(const tl_db *db)
{
    return db->bytes;
}

void tl_db_set_ending(tl_db *db, const char *ending)
{
    snprintf(db->ending, sizeof db->ending, "%s", ending);
}

/* Returns the words with each @ replaced by the ending; the caller frees them. */
static char *with_ending(const tl_db *db, const char *words)
{
    tl_bytes out = { 0 };
    for (const char *p = words; *p != '\0'; p++)
        tl_bytes_put(&out, *p == '@' ? db->ending : p, *p == '@' ? strlen(db->ending) : 1);
    tl_bytes_put(&out, "", 1);
    return out.v;
}

bool tl_db_has(const tl_db *db, const char *table, const char *column)
{
    char *name = with_ending(db, table);
    int rc = sqlite3_table_column_metadata(db->handle, "main", name, column, NULL, NULL, NULL, NULL, NULL);
    free(name);
    return rc == SQLITE_OK;
}

/* Returns a query that is ready to run; NULL: it names something that the database lacks, or the database is
 * damaged. */
static sqlite3_stmt *prepare(const tl_db *db, const char *sql)
{
    sqlite3_stmt *query = NULL;
    char *whole = with_ending(db, sql);
    (void)sqlite3_prepare_v2(db->handle, whole, -1, &query, NULL);
    free(whole);
    return query;
}

bool tl_db_each(const tl_db *db, const char *sql, bool (*take)(void *arg, const char *first, const char *second),
                void *arg)
{
    sqlite3_stmt *query = prepare(db, sql);
    int rc = query != NULL ? SQLITE_ROW : SQLITE_DONE;

    ((tl_db *)(uintptr_t)db)->turns = 0;
    while (rc == SQLITE_ROW && (rc = sqlite3_step(query)) == SQLITE_ROW)
        if (!take(arg, (const char *)sqlite3_column_text(query, 0), (const char *)sqlite3_column_text(query, 1)))
            rc = SQLITE_DONE;
    (void)sqlite3_finalize(query);
    return rc == SQLITE_DONE;
}

int64_t tl_db_number(const tl_db *db, const char *sql, int64_t absent)
{
    sqlite3_stmt *query = prepare(db, sql);
    int64_t number = absent;

    if (query != NULL && sqlite3_step(query) == SQLITE_ROW && sqlite3_column_type(query, 0) == SQLITE_INTEGER)
        number = sqlite3_column_int64(query, 0);
    (void)sqlite3_finalize(query);
    return number;
}

static bool take_text(void *arg, const char *first, const char *second)
{
    tl_text *to = arg; /* a buffer */
    (void)second;
    if (first != NULL)
        snprintf((char *)(uintptr_t)to->p, to->n, "%s", first);
    return false;
}

void tl_db_copy_text(const tl_db *db, const char *sql, char *to, size_t size)
{
    (void)tl_db_each(db, sql, take_text, &(tl_text){ to, size });
}

/* ---------------------------------------------------------------------------------------------------------- queries */

#define BIT(slot) (1u << (slot))

/* A query of a table: its columns, and the slot of each. */
typedef struct selecting {
    char sql[4096];
    tl_db_slot slots[TL_DB_NSLOTS];
    int nslots;
} selecting;

__attribute__((format(printf, 2, 3))) static void add(selecting *s, const char *format, ...)
{
    size_t n = strlen(s->sql);
    va_list args;
    va_start(args, format);
    (void)vsnprintf(s->sql + n, sizeof s->sql - n, format, args);
    va_end(args);
}

/* Returns the SQL of a column's value; "NULL": there is no column. */
static const char *value_of(const tl_db_column *column, char own[128])
{
    if (column != NULL && column->value == NULL)
        snprintf(own, 128, "t.\"%s\"", column->name);
    return column == NULL ? "NULL" : column->value != NULL ? column->value : own;
}

/* Makes "SELECT what FROM the table WHERE the rows are the part's", for the wanted slots.  what: NULL: the slots that
 * the table has.  Returns false if the table does not exist, or has no times. */
static bool make_query(const tl_db *db, const tl_db_table *table, const tl_db_column *columns, uint32_t wanted,
                       const char *what, const tl_db_part *part, selecting *s)
{
    const tl_db_column *of[TL_DB_NSLOTS] = { NULL };
    char own[128];

    s->nslots = 0;
    s->sql[0] = '\0';
    for (const tl_db_column *c = columns; c->name != NULL; c++)
        if (of[c->to] == NULL && tl_db_has(db, table->name, c->name))
            of[c->to] = c;
    add(s, "SELECT %s", what != NULL ? what : "");
    for (int slot = 0; slot < TL_DB_NSLOTS; slot++)
        if (wanted & BIT(slot) && (what != NULL || of[slot] != NULL)) {
            add(s, "%s%s", s->nslots > 0 ? ", " : " ", value_of(of[slot], own));
            s->slots[s->nslots++] = (tl_db_slot)slot;
        }
    add(s, " FROM \"%s\" AS t NOT INDEXED", table->name);
    for (const tl_db_column *c = columns; c->name != NULL; c++)
        if (of[c->to] == c && c->join != NULL)
            add(s, " LEFT JOIN %s", c->join);
    add(s, " WHERE 1");
    if (part->pid >= 0 && of[TL_DB_PROCESS] != NULL)
        add(s, " AND (%s) >> 24 & 16777215 = %" PRId64, value_of(of[TL_DB_PROCESS], own), part->pid);
    if (part->device >= 0 && of[TL_DB_DEVICE] != NULL)
        add(s, " AND (%s) = %" PRId64, value_of(of[TL_DB_DEVICE], own), part->device);
    return of[TL_DB_START] != NULL;
}

bool tl_db_each_part(const tl_db *db, const tl_db_table *table, const tl_db_column *columns,
                     bool (*take)(void *arg, const char *pid, const char *device), void *arg)
{
    selecting s;
    (void)make_query(db, table, columns, BIT(TL_DB_PROCESS) | BIT(TL_DB_DEVICE), "DISTINCT", &(tl_db_part){ -1, -1 },
                     &s);
    return tl_db_each(db, s.sql, take, arg);
}

int64_t tl_db_first_start(const tl_db *db, const tl_db_table *table, const tl_db_column *columns,
                          const tl_db_part *part)
{
    selecting s;
    return make_query(db, table, columns, BIT(TL_DB_START), NULL, part, &s) ? tl_db_number(db, s.sql, -1) : -1;
}

/* ------------------------------------------------------------------------------------------------------------- rows */

/* Reports the first fault of a table. */
static void report_row(tl_db_reading *r, const char *table, const char *expected, const char *done)
{
    tl_read_report *report = &r->trace->report;
    char words[sizeof report->first_bad];

    if (report->first_bad_byte >= 0)
        return;
    char *name = with_ending(r->db, table);
    report->first_bad_byte = 0;
    snprintf(words, sizeof words, "table %.80s, row %" PRIu64 " of the rank's: %.120s; %s", name, r->row, expected,
             done);
    tl_printable(report->first_bad, sizeof report->first_bad, words);
    free(name);
}

void tl_db_put_number(tl_db_reading *r, tl_fields *entry, tl_key key, int64_t number)
{
    entry->seen |= TL_KEY_BIT(key);
    entry->value[key] = (tl_value){ { "", 0 }, TL_VALUE_NUMBER, 0, (uint64_t)number };
    if (number >= 0)
        return;
    char *text = r->numbers + r->nnumbers;
    int n = snprintf(text, sizeof r->numbers - r->nnumbers, "%" PRId64, number);
    tl_fields_set(entry, key, text, (size_t)n, TL_VALUE_NUMBER);
    r->nnumbers += (size_t)n + 1;
}

void tl_db_put_ns(tl_fields *entry, tl_key key, int64_t ns)
{
    static const char before[] = "-1";

    entry->seen |= TL_KEY_BIT(key);
    entry->value[key] = (tl_value){
        { before, sizeof before - 1 }, TL_VALUE_NUMBER, ns < 0 ? 0 : 3, ns < 0 ? TL_DIGITS_UNREAD : (uint64_t)ns
    };
}

void tl_db_put_name(tl_db_reading *r, tl_fields *entry, int length)
{
    size_t n = length < 0 ? 0 : (size_t)length;
    tl_db_put_text(entry, TL_KEY_NAME, (tl_text){ r->name, n < sizeof r->name ? n : sizeof r->name - 1 });
}

bool tl_db_fill_kernel(tl_db_reading *r, const tl_db_row *row, tl_fields *entry)
{
    const int64_t *number = row->number;
    char *text = r->numbers + r->nnumbers;

    if (!TL_DB_HAS(row, TL_DB_GRID_X) || !TL_DB_HAS(row, TL_DB_GRID_Y) || !TL_DB_HAS(row, TL_DB_GRID_Z))
        return true;
    int n = snprintf(text, sizeof r->numbers - r->nnumbers, "[%" PRId64 ",%" PRId64 ",%" PRId64 "]",
                     number[TL_DB_GRID_X], number[TL_DB_GRID_Y], number[TL_DB_GRID_Z]);
    tl_fields_set(entry, TL_KEY_GRID, text, (size_t)n, TL_VALUE_OTHER);
    return true;
}

void tl_db_take(tl_db_reading *r, const tl_fields *entry, const char *table)
{
    const tl_take_options take = { r->options->keep, NULL };
    tl_read_report *report = &r->trace->report;
    const char *why = "";
    tl_taken taken = tl_events_take(&r->trace->events, &take, entry, r->uid++, &report->fractional_ts, &why);

    bool bad;
    const bool kept = tl_report_taken(report, taken, &bad);
    if (bad)
        report_row(r, table, why, kept ? "kept that row" : "dropped that row");
}

/* Reads the values of the current row.  Returns false, with what was expected, if one has the wrong type. */
static bool read_row(sqlite3_stmt *query, const selecting *s, tl_db_row *row, const char **expected)
{
    row->has = 0;
    row->number[TL_DB_START] = -1;
    for (int i = 0; i < s->nslots; i++) {
        tl_db_slot slot = s->slots[i];
        int type = sqlite3_column_type(query, i);
        if (type == SQLITE_NULL || (slot == TL_DB_PAYLOAD && type != SQLITE_BLOB))
            continue;
        if (slot != TL_DB_PAYLOAD && type != (slot < TL_DB_NAME ? SQLITE_INTEGER : SQLITE_TEXT)) {
            *expected = slot == TL_DB_START || slot == TL_DB_END ? "expected a time in whole nanoseconds"
                        : slot < TL_DB_NAME                      ? "expected a whole number"
                                                                 : "expected a text";
            return false;
        }
        row->has |= 1u << slot;
        if (slot < TL_DB_NAME) {
            row->number[slot] = sqlite3_column_int64(query, i);
        } else {
            const char *text = sqlite3_column_blob(query, i); /* the bytes of a text */
            row->text[slot - TL_DB_NAME] =
                (tl_text){ text != NULL ? text : "", (size_t)sqlite3_column_bytes(query, i) };
        }
    }
    *expected = !TL_DB_HAS(row, TL_DB_START)   ? "expected a start, found none"
                : row->number[TL_DB_START] < 0 ? "expected a start of 0 ns or more"
                                               : NULL;
    return *expected == NULL;
}

/* Fills the entry that Kineto would have written for the row, as far as all tables are alike. */
static void fill_entry(tl_db_reading *r, const tl_db_table *table, const tl_db_row *row, tl_fields *entry)
{
    static const struct {
        tl_db_slot from;
        tl_key to;
    } same[] = { { TL_DB_DEVICE, TL_KEY_DEVICE },
                 { TL_DB_STREAM, TL_KEY_STREAM },
                 { TL_DB_CORRELATION, TL_KEY_CORRELATION },
                 { TL_DB_BYTES, TL_KEY_BYTES } };
    const int64_t *number = row->number;
    const int64_t process = TL_DB_HAS(row, TL_DB_PROCESS) ? number[TL_DB_PROCESS] : 0;

    entry->seen = 0;
    entry->args = (tl_text){ "", 0 };
    r->nnumbers = 0;
    tl_db_put_text(entry, TL_KEY_PH, TL_TEXT("X"));
    tl_db_put_text(entry, TL_KEY_CAT, (tl_text){ table->category, strlen(table->category) });
    tl_db_put_ns(entry, TL_KEY_TS, number[TL_DB_START]);
    if (TL_DB_HAS(row, TL_DB_END))
        tl_db_put_ns(entry, TL_KEY_DUR,
                     number[TL_DB_END] < number[TL_DB_START] ? -1 : number[TL_DB_END] - number[TL_DB_START]);
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++)
        if (TL_DB_HAS(row, same[i].from))
            tl_db_put_number(r, entry, same[i].to, number[same[i].from]);
    if (table->of_device) {
        tl_db_put_number(r, entry, TL_KEY_PID, TL_DB_HAS(row, TL_DB_DEVICE) ? number[TL_DB_DEVICE] : 0);
        tl_db_put_number(r, entry, TL_KEY_TID, TL_DB_HAS(row, TL_DB_STREAM) ? number[TL_DB_STREAM] : 0);
    } else {
        tl_db_put_number(r, entry, TL_KEY_PID, process >> 24 & 0xffffff);
        tl_db_put_number(r, entry, TL_KEY_TID, process & 0xffffff);
    }
    if (TL_DB_HAS(row, TL_DB_NAME))
        tl_db_put_text(entry, TL_KEY_NAME, tl_db_text(row, TL_DB_NAME));
}

void tl_db_read_table(tl_db_reading *r, const tl_db_table *table, const tl_db_column *columns, const tl_db_part *part)
{
    tl_read_report *report = &r->trace->report;
    const char *expected = NULL;
    tl_fields *entry = tl_calloc(1, sizeof *entry);
    selecting s;
    tl_db_row row;
    int rc = SQLITE_ROW;

    r->row = 0;
    r->db->turns = 0;
    r->db->options = r->options;
    if (!tl_db_has(r->db, table->name, NULL) || report->no_memory) {
        free(entry);
        return;
    }
    const bool timed = make_query(r->db, table, columns, ~0u, NULL, part, &s);
    sqlite3_stmt *query = timed ? prepare(r->db, s.sql) : NULL;
    while (query != NULL && !report->no_memory && (rc = sqlite3_step(query)) == SQLITE_ROW) {
        r->row++;
        if (!read_row(query, &s, &row, &expected)) {
            report->entries++;
            report->dropped++;
            report_row(r, table->name, expected, "dropped that row");
            continue;
        }
        fill_entry(r, table, &row, entry);
        bool is_entry = table->fill == NULL || table->fill(r, &row, entry);
        if (is_entry)
            tl_db_take(r, entry, table->name);
        report->entries += !is_entry;
        report->filtered += !is_entry;
        if (r->row % TURN_ROWS == 0 && !tl_report_room(r->trace, &r->checked)) {
            report->cut = report->over_limit;
            report->first_bad_byte = -1; /* the first report of a rank stays: the limit, not an earlier bad row */
            report_row(r, table->name, TL_OVER_LIMIT, "kept the rows before it");
        }
    }
    if (query == NULL || (rc != SQLITE_DONE && rc != SQLITE_ROW)) {
        char words[200];
        snprintf(words, sizeof words, "expected its rows: %s",
                 rc == SQLITE_INTERRUPT ? "its pages lead in circles"
                 : timed                ? sqlite3_errmsg(r->db->handle)
                                        : "it has no column of starts");
        report->source_fault = true;
        report_row(r, table->name, words, "kept the rows before it");
    }
    (void)sqlite3_finalize(query);
    r->db->options = NULL;
    free(entry);
}

#endif
