#include "database.h"
#if TLMPI_HAVE_SQLITE
#include "tlmpi/base/hash.h"
#include "tlmpi/base/log.h"
#include "tlmpi/base/sort.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* Largest number of parts of a file; a file with more is damaged. */
#define PARTS_MOST 4096

/* Returns the schema of a database; one that fits neither is taken for an export of Nsight Systems without its
 * tables. */
static const tl_db_schema *schema_of(tl_db *db)
{
    return tl_rocpd_schema.claims(db) ? &tl_rocpd_schema : &tl_nsys_schema;
}

/* ------------------------------------------------------------------------------------------------------------ parts */

typedef TL_VEC(tl_db_part) part_list;

static bool add_part(void *arg, const char *process, const char *device)
{
    part_list *parts = arg;
    tl_vec_push(parts, (tl_db_part){ process != NULL ? strtoll(process, NULL, 10) >> 24 & 0xffffff : -1,
                                     device != NULL ? strtoll(device, NULL, 10) : -1 });
    return parts->n < PARTS_MOST;
}

TL_SORT_BY(by_number, tl_db_part, pid, device)

/* Lists the parts of a database, in order; none if it has no device work.  A process with a single device has device
 * -1.  *damaged: there may be more. */
static part_list parts_of(const tl_db *db, const tl_db_schema *schema, bool *damaged)
{
    part_list found = { 0 };
    size_t n = 0;

    *damaged = false;
    for (size_t t = 0; t < schema->nwork_tables; t++)
        *damaged = !tl_db_each_part(db, &schema->tables[t], schema->columns, add_part, &found) || *damaged;
    tl_vec_sort(&found, by_number);
    bool one_process = found.n > 0 && found.v[0].pid == found.v[found.n - 1].pid;
    for (size_t i = 0; i < found.n; i++) {
        tl_db_part part = { found.v[i].pid, one_process ? found.v[i].device : -1 };
        bool told_later = one_process && part.device < 0 && found.v[found.n - 1].device >= 0; /* a copy on the host */
        if (!told_later && (n == 0 || by_number(&found.v[n - 1], &part) != 0))
            found.v[n++] = part;
    }
    found.n = n;
    if (one_process && n == 1)
        found.v[0].device = -1;
    return found;
}

static const char pid_word[] = "pid-", device_word[] = "device-";

static void list_parts(const char *path, tl_bytes *names)
{
    char name[40];
    bool damaged;
    tl_db *db;

    if (tl_db_open(path, &db, NULL) != TL_OK)
        return;
    part_list parts = parts_of(db, schema_of(db), &damaged);
    if (damaged)
        tl_warn("%s: the database is damaged: processes whose work stands behind the damage are missing", path);
    for (size_t i = 0; parts.n > 1 && i < parts.n; i++) {
        bool device = parts.v[i].device >= 0;
        snprintf(name, sizeof name, "%s%" PRId64, device ? device_word : pid_word,
                 device ? parts.v[i].device : parts.v[i].pid);
        tl_bytes_put(names, name, strlen(name) + 1);
    }
    free(parts.v);
    tl_db_close(db);
}

/* Opens the file of a path, or of the path of a part, and finds the part; for a file of one rank, that rank's.  alone:
 * the part is the whole file. */
static tl_status open_part(const char *path, tl_db **db, const tl_db_schema **schema, tl_db_part *part, bool *alone,
                           tl_error *err)
{
    size_t n = tl_file_length(path);
    char *file = tl_strndup(path, n);
    const char *name = path[n] != '\0' ? path + n + 1 : "";
    tl_status st = tl_db_open(file, db, err);

    free(file);
    *part = (tl_db_part){ -1, -1 };
    *alone = false;
    if (st != TL_OK)
        return st;
    *schema = schema_of(*db);
    if (strncmp(name, pid_word, strlen(pid_word)) == 0)
        part->pid = strtoll(name + strlen(pid_word), NULL, 10);
    else if (strncmp(name, device_word, strlen(device_word)) == 0)
        part->device = strtoll(name + strlen(device_word), NULL, 10);
    else if (*name != '\0')
        st = tl_fail(err, TL_EINPUT, "%s: expected pid-N or device-N after the file, found \"%.40s\"", path, name);
    if (st == TL_OK && *name == '\0') {
        bool damaged;
        part_list parts = parts_of(*db, *schema, &damaged);
        *alone = parts.n <= 1;
        *part = parts.n == 1 ? parts.v[0] : *part;
        free(parts.v);
    }
    if (st != TL_OK)
        tl_db_close(*db);
    return st;
}

/* ----------------------------------------------------------------------------------------------- what the file says */

/* Returns a number from the environment of the part; -1: absent. */
static int64_t environment(const tl_db *db, const tl_db_schema *schema, const tl_db_part *part, bool alone,
                           const char *const *names)
{
    int64_t number = -1;

    for (; number < 0 && *names != NULL; names++) {
        char text[32] = "";
        schema->read_variable(db, part, alone, *names, text, sizeof text);
        const char *digits = text + (text[0] == '"');
        if (*digits >= '0' && *digits <= '9')
            number = strtoll(digits, NULL, 10);
    }
    return number <= INT32_MAX ? number : -1;
}

static void read_meta(const tl_db *db, const tl_db_schema *schema, const tl_db_part *part, bool alone, tl_meta *meta)
{
    static const char *const rank_names[] = { "RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "SLURM_PROCID", NULL };
    static const char *const size_names[] = { "WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "SLURM_NTASKS", NULL };

    schema->read_meta(db, meta);
    meta->has_trace_keys = true;
    meta->rank = environment(db, schema, part, alone, rank_names);
    meta->world_size = environment(db, schema, part, alone, size_names);
    if (meta->world_size == 0 || meta->rank >= meta->world_size)
        meta->world_size = -1;
}

int64_t tl_db_first_start_of(const tl_db *db, const tl_db_schema *schema, const tl_db_part *part)
{
    int64_t start_ns = -1;

    for (size_t t = 0; start_ns <= 0 && t < schema->ntables; t++) { /* an event without a time is at 0 */
        int64_t first_ns = tl_db_first_start(db, &schema->tables[t], schema->columns, part);
        start_ns = first_ns >= 0 ? first_ns : start_ns;
    }
    return start_ns;
}

/* ------------------------------------------------------------------------------------------------------- the reader */

static bool is_database(const char *path, tl_text head)
{
    (void)path;
    return tl_text_starts(head, "SQLite format 3");
}

static void look(const char *path, tl_text head, bool deep, bool should_be, tl_look *out)
{
    tl_meta meta = TL_META_INIT;
    tl_error err = { 0 };
    const tl_db_schema *schema;
    tl_db_part part;
    tl_db *db;
    char why[200];
    bool alone;

    (void)head;
    (void)deep;
    (void)should_be;
    if (open_part(path, &db, &schema, &part, &alone, &err) != TL_OK) {
        tl_look_say(out, TL_INPUT_UNREADABLE, tl_error_reason(&err, path));
        return;
    }
    bool refused = schema->refuses(db, why, sizeof why);
    read_meta(db, schema, &part, alone, &meta);
    int64_t start_ns = tl_db_first_start_of(db, schema, &part);
    if (refused || start_ns < 0)
        tl_look_say(out, refused ? TL_INPUT_OTHER : TL_INPUT_UNREADABLE,
                    refused ? why : "expected events of the rank in its tables, found none");
    else
        out->kind = TL_INPUT_TRACE;
    out->rank = meta.rank;
    out->world_size = meta.world_size;
    out->begin_ns =
        meta.has_base && !__builtin_add_overflow(start_ns, meta.base_ns, &out->begin_ns) ? out->begin_ns : -1;
    out->origin.pid = part.device < 0 && part.pid > 0 ? part.pid : 0;
    out->origin.gpu = meta.device[0] != 0 ? tl_hash_bytes(meta.device, strlen(meta.device)) | 1 : 0;
    out->origin.head = tl_hash_mix(tl_hash_mix((uint64_t)part.pid, (uint64_t)part.device), (uint64_t)start_ns) | 1;
    out->origin.extent.text_bytes = (uint32_t)tl_db_bytes(db);
    out->origin.no_device_work = alone && part.pid < 0;
    snprintf(out->origin.host, sizeof out->origin.host, "%.*s", (int)sizeof out->origin.host - 1, meta.host);
    tl_meta_free(&meta);
    tl_db_close(db);
}

static tl_status read_trace(const char *path, const tl_read_options *options, tl_trace *out, tl_error *err)
{
    tl_db_reading r = { .options = options, .trace = out };
    const tl_db_schema *schema;
    tl_db_part part;
    char why[200];
    bool alone;

    if (options->range != NULL)
        return tl_fail(err, TL_EINTERNAL, "%s: a database is read in one", path);
    if (options->hook != NULL)
        return tl_fail(err, TL_EINPUT, "%s: expected Kineto's JSON, found a database", path);
    tl_status st = open_part(path, &r.db, &schema, &part, &alone, err);
    if (st != TL_OK)
        return st;
    if (schema->refuses(r.db, why, sizeof why)) {
        tl_db_close(r.db);
        return tl_fail(err, TL_EINPUT, "%s: %s", path, why);
    }
    tl_read_report *report = &out->report;
    report->file_bytes = report->text_bytes = tl_db_bytes(r.db);
    report->cut = tl_db_whole_bytes(r.db) > report->file_bytes;
    if (report->cut) {
        report->first_bad_byte = (int64_t)report->file_bytes;
        snprintf(report->first_bad, sizeof report->first_bad,
                 "expected a database of %" PRIu64 " bytes, found %" PRIu64 "; kept the rows before the end",
                 tl_db_whole_bytes(r.db), report->file_bytes);
    }
    r.nvtx = tl_nvtx_new(r.db);
    read_meta(r.db, schema, &part, alone, &out->meta);
    for (size_t t = 0; t < schema->ntables; t++)
        tl_db_read_table(&r, &schema->tables[t], schema->columns, &part);
    tl_nvtx_free(r.nvtx);
    report->has_events = report->entries > 0;
    tl_map_free(&r.records);
    free(r.recorded.v);
    tl_db_close(r.db);
    if (report->no_memory && !report->over_limit)
        return tl_fail(err, TL_EINPUT, "%s: more than memory has room for, after %" PRIu64 " rows", path,
                       report->entries);
    return report->has_events ? TL_OK
                              : tl_fail(err, TL_EINPUT, "%s: expected events, found none%s%s", path,
                                        report->first_bad[0] ? "; " : "", report->first_bad);
}

/* "Nsight Systems 2026.2.1, schema 3.25.0; without copies; ..." */
static void say(const char *path, char *words, size_t size)
{
    char sql[128];
    tl_db *db;

    *words = '\0';
    if (tl_db_open(path, &db, NULL) != TL_OK)
        return;
    const tl_db_schema *schema = schema_of(db);
    schema->say_version(db, words, size);
    for (const tl_db_table *t = schema->tables; t < schema->tables + schema->ntables; t++) {
        size_t n = strlen(words);
        snprintf(sql, sizeof sql, "SELECT 1 FROM \"%s\" LIMIT 1", t->name);
        if (t->without != NULL && tl_db_number(db, sql, 0) == 0)
            snprintf(words + n, size - n, "; without %s", t->without);
    }
    schema->say_missing(db, words + strlen(words), size - strlen(words));
    tl_db_close(db);
}

static const char *const endings[] = { ".sqlite", ".sqlite3", ".db", NULL };

const tl_reader tl_database_reader = { .name = "database",
                                       .endings = endings,
                                       .claims = is_database,
                                       .look = look,
                                       .say = say,
                                       .parts = list_parts,
                                       .read = read_trace };

#endif
