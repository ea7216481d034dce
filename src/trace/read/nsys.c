/* nsys.c - exports of Nsight Systems: nsys export --type sqlite.
 *
 *     process 144   [kernel, device 0] ...      a part of the file, pid-144, and a rank
 *     process 145   [kernel, device 1] ...      pid-145
 *
 * Each process that has device work is a rank.  Of a file of one process with several devices each device is a rank, and
 * what the host did belongs to each.
 *
 * globalPid and globalTid hold a virtual machine, pid and tid, of which the latter two have 24 bits each.  Ranges of NVTX
 * are what nvtx.h says.
 */
#include "nvtx.h"
#include <stdlib.h>
#if TLMPI_HAVE_SQLITE
#include "tlmpi/base/hash.h"
#include "tlmpi/base/log.h"
#include "tlmpi/base/group.h"
#include "tlmpi/base/sort.h"
#include <inttypes.h>
#include <stdio.h>

/* More parts than that are of no file that is whole. */
#define PARTS_MOST 4096

/* ----------------------------------------------------------------------------------------------------------- tables */

/* Where an event was recorded. */
typedef struct recording {
    int64_t stream, correlation;
} recording;

typedef struct nsys {
    tl_map records; /* number of a recording, or of its event -> place in `recorded` */
    TL_VEC(recording) recorded;
    tl_nvtx *nvtx;
} nsys;

/* The word with that number of a list; the first where the list has none. */
static const char *word_of(const char *const *words, size_t n, int64_t number)
{
    return words[number >= 0 && (uint64_t)number < n ? number : 0];
}

#define WORD_OF(words, number) word_of(words, sizeof(words) / sizeof *(words), number)

static void put_name(tl_db_reading *r, tl_fields *entry, int length)
{
    size_t n = length < 0 ? 0 : (size_t)length;
    tl_db_put_text(entry, TL_KEY_NAME, (tl_text){ r->name, n < sizeof r->name ? n : sizeof r->name - 1 });
}

static bool fill_kernel(tl_db_reading *r, const tl_db_row *row, tl_fields *entry)
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

/* A graph that was recorded as one piece of work. */
static bool fill_graph(tl_db_reading *r, const tl_db_row *row, tl_fields *entry)
{
    put_name(r, entry,
             snprintf(r->name, sizeof r->name, "CUDA graph %" PRId64,
                      TL_DB_HAS(row, TL_DB_GRAPH) ? row->number[TL_DB_GRAPH] : -1));
    return true;
}

static const char *const memory_kinds[] = { "Pageable", "Pinned",        "Device",         "Array",
                                            "Managed",  "Device Static", "Managed Static", "Unknown" };

static bool fill_copy(tl_db_reading *r, const tl_db_row *row, tl_fields *entry)
{
    static const char *const ways[] = { "Unknown", "HtoD", "DtoH", "HtoA", "AtoH", "AtoA", "AtoD",
                                        "DtoA",    "DtoD", "HtoH", "PtoP", "HtoD", "DtoH", "DtoD" };
    const int64_t *number = row->number;
    int n = snprintf(r->name, sizeof r->name, "Memcpy %s",
                     WORD_OF(ways, TL_DB_HAS(row, TL_DB_KIND) ? number[TL_DB_KIND] : 0));

    if (TL_DB_HAS(row, TL_DB_FROM) && TL_DB_HAS(row, TL_DB_TO))
        n += snprintf(r->name + n, sizeof r->name - (size_t)n, " (%s -> %s)", WORD_OF(memory_kinds, number[TL_DB_FROM]),
                      WORD_OF(memory_kinds, number[TL_DB_TO]));
    put_name(r, entry, n);
    return true;
}

static bool fill_memset(tl_db_reading *r, const tl_db_row *row, tl_fields *entry)
{
    put_name(r, entry,
             snprintf(r->name, sizeof r->name, "Memset (%s)",
                      WORD_OF(memory_kinds, TL_DB_HAS(row, TL_DB_TO) ? row->number[TL_DB_TO] : 2)));
    return true;
}

/* "cudaLaunchKernel_v7000" is cudaLaunchKernel; "cuMemcpyAsync_v2" is called so. */
static bool fill_call(tl_db_reading *r, const tl_db_row *row, tl_fields *entry)
{
    enum { OF_DRIVER = 1 };
    tl_text name = tl_db_text(row, TL_DB_NAME);
    size_t n = name.n;

    (void)r;
    if (TL_DB_HAS(row, TL_DB_KIND) && row->number[TL_DB_KIND] == OF_DRIVER)
        tl_db_put_text(entry, TL_KEY_CAT, TL_TEXT("cuda_driver"));
    while (n > 0 && name.p[n - 1] >= '0' && name.p[n - 1] <= '9')
        n--;
    if (name.n - n >= 4 && n > 2 && name.p[n - 2] == '_' && name.p[n - 1] == 'v')
        tl_db_put_text(entry, TL_KEY_NAME, (tl_text){ name.p, n - 2 });
    return true;
}

/* ---------------------------------------------------------------------------------------------------- waits and events */

/* The recording of an event that a wait names; of older exports, which number no recordings, the last of the event. */
static bool note_record(tl_db_reading *r, const tl_db_row *row, tl_fields *entry)
{
    nsys *own = r->own;

    (void)entry;
    if (TL_DB_HAS(row, TL_DB_EVENT)) {
        tl_map_put(&own->records, (uint64_t)row->number[TL_DB_EVENT], (uint32_t)own->recorded.n);
        tl_vec_push(&own->recorded,
                    (recording){ TL_DB_HAS(row, TL_DB_STREAM) ? row->number[TL_DB_STREAM] : -1,
                                 TL_DB_HAS(row, TL_DB_CORRELATION) ? row->number[TL_DB_CORRELATION] : -1 });
    }
    return false;
}

static bool fill_wait(tl_db_reading *r, const tl_db_row *row, tl_fields *entry)
{
    static const char *const kinds[] = { "Unknown", "Event Sync", "Stream Wait Event", "Stream Sync", "Context Sync" };
    const nsys *own = r->own;
    const char *name = WORD_OF(kinds, TL_DB_HAS(row, TL_DB_KIND) ? row->number[TL_DB_KIND] : 0);
    uint32_t record =
        TL_DB_HAS(row, TL_DB_EVENT) ? tl_map_get(&own->records, (uint64_t)row->number[TL_DB_EVENT]) : TL_MAP_NONE;

    tl_db_put_text(entry, TL_KEY_NAME, (tl_text){ name, strlen(name) });
    if (TL_DB_HAS(row, TL_DB_STREAM) && row->number[TL_DB_STREAM] == UINT32_MAX)
        tl_db_put_number(r, entry, TL_KEY_STREAM, -1);
    if (record != TL_MAP_NONE) {
        tl_db_put_number(r, entry, TL_KEY_WAIT_ON_STREAM, own->recorded.v[record].stream);
        tl_db_put_number(r, entry, TL_KEY_WAIT_ON_CORR, own->recorded.v[record].correlation);
    }
    return true;
}

static bool fill_range(tl_db_reading *r, const tl_db_row *row, tl_fields *entry)
{
    return tl_nvtx_fill(((nsys *)r->own)->nvtx, r, row, entry);
}

/* -------------------------------------------------------------------------------------------------------- the schema */

static const tl_db_column columns[] = {
    { "start", TL_DB_START },        { "end", TL_DB_END },
    { "timestamp", TL_DB_START },    { "globalPid", TL_DB_PROCESS },
    { "globalTid", TL_DB_PROCESS },  { "deviceId", TL_DB_DEVICE },
    { "streamId", TL_DB_STREAM },    { "correlationId", TL_DB_CORRELATION },
    { "bytes", TL_DB_BYTES },        { "copyKind", TL_DB_KIND },
    { "syncType", TL_DB_KIND },      { "eventClass", TL_DB_KIND },
    { "eventType", TL_DB_KIND },     { "srcKind", TL_DB_FROM },
    { "dstKind", TL_DB_TO },         { "memKind", TL_DB_TO },
    { "gridX", TL_DB_GRID_X },       { "gridY", TL_DB_GRID_Y },
    { "gridZ", TL_DB_GRID_Z },       { "eventSyncId", TL_DB_EVENT },
    { "eventId", TL_DB_EVENT },      { "graphId", TL_DB_GRAPH },
    { "demangledName", TL_DB_NAME }, { "shortName", TL_DB_NAME },
    { "nameId", TL_DB_NAME },        { "textId", TL_DB_NAME },
    { "text", TL_DB_TEXT },          { "binaryData", TL_DB_PAYLOAD },
    { NULL, TL_DB_NSLOTS },
};

#define KIND(table) "CUPTI_ACTIVITY_KIND_" table

static const tl_db_table tables[] = {
    { KIND("KERNEL"), "kernel", true, fill_kernel, "kernels: where the time of devices went" },
    { KIND("GRAPH_TRACE"), "kernel", true, fill_graph, NULL },
    { KIND("MEMCPY"), "gpu_memcpy", true, fill_copy, "copies" },
    { KIND("MEMSET"), "gpu_memset", true, fill_memset, NULL },
    { KIND("CUDA_EVENT"), "cuda_sync", true, note_record, "recordings of events: which work a wait is for" },
    { KIND("SYNCHRONIZATION"), "cuda_sync", true, fill_wait, "synchronisations: what a host waits for" },
    { KIND("RUNTIME"), "cuda_runtime", false, fill_call, "calls: launches, and why a device is idle" },
    { "NVTX_EVENTS", "user_annotation", false, fill_range, "ranges of NVTX: operators, annotations and steps" },
};

#define NTABLES (sizeof tables / sizeof tables[0])

/* The tables of work of devices: that tell which processes are ranks. */
#define NWORK_TABLES 4

/* ------------------------------------------------------------------------------------------------------------- parts */

typedef TL_VEC(tl_db_part) part_list;

static bool add_part(void *arg, const char *pid, const char *device)
{
    part_list *parts = arg;
    tl_vec_push(parts, (tl_db_part){ pid != NULL ? strtoll(pid, NULL, 10) : -1,
                                     device != NULL ? strtoll(device, NULL, 10) : -1 });
    return parts->n < PARTS_MOST;
}

static int by_number(const void *a, const void *b)
{
    const tl_db_part *x = a, *y = b;
    return TL_ORDER(x, y, pid, device);
}

/* The parts of a database, in order; of one without work of devices none.  A process that has one device has no number of
 * it.  *damaged: there may be more. */
static part_list parts_of(const tl_db *db, bool *damaged)
{
    part_list found = { 0 };
    char sql[256];
    size_t n = 0;

    *damaged = false;
    for (size_t t = 0; t < NWORK_TABLES; t++) {
        const char *pid = tl_db_has(db, tables[t].name, "globalPid") ? "(globalPid >> 24) & 16777215" : "NULL";
        const char *device = tl_db_has(db, tables[t].name, "deviceId") ? "deviceId" : "NULL";
        snprintf(sql, sizeof sql, "SELECT DISTINCT %s, %s FROM %s", pid, device, tables[t].name);
        *damaged = !tl_db_each(db, sql, add_part, &found) || *damaged;
    }
    tl_vec_sort(&found, by_number);
    bool one_process = found.n > 0 && found.v[0].pid == found.v[found.n - 1].pid;
    for (size_t i = 0; i < found.n; i++) {
        tl_db_part part = { found.v[i].pid, one_process ? found.v[i].device : -1 };
        if (n == 0 || by_number(&found.v[n - 1], &part) != 0)
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
    part_list parts = parts_of(db, &damaged);
    if (damaged)
        tl_warn("%s: the database is damaged: processes of which all work stands behind that are missing", path);
    for (size_t i = 0; parts.n > 1 && i < parts.n; i++) {
        bool device = parts.v[i].device >= 0;
        snprintf(name, sizeof name, "%s%" PRId64, device ? device_word : pid_word,
                 device ? parts.v[i].device : parts.v[i].pid);
        tl_bytes_put(names, name, strlen(name) + 1);
    }
    free(parts.v);
    tl_db_close(db);
}

/* Opens the file of a path, or of the path of a part, and finds which part that is; of a file of one rank that rank's.
 * alone: the part is all of the file. */
static tl_status open_part(const char *path, tl_db **db, tl_db_part *part, bool *alone, tl_error *err)
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
    if (strncmp(name, pid_word, strlen(pid_word)) == 0)
        part->pid = strtoll(name + strlen(pid_word), NULL, 10);
    else if (strncmp(name, device_word, strlen(device_word)) == 0)
        part->device = strtoll(name + strlen(device_word), NULL, 10);
    else if (*name != '\0')
        st = tl_fail(err, TL_EINPUT, "%s: expected pid-N or device-N after the file, found \"%.40s\"", path, name);
    if (st == TL_OK && *name == '\0') {
        bool damaged;
        part_list parts = parts_of(*db, &damaged);
        *alone = parts.n <= 1;
        *part = parts.n == 1 ? parts.v[0] : *part;
        free(parts.v);
    }
    if (st != TL_OK)
        tl_db_close(*db);
    return st;
}

/* ------------------------------------------------------------------------------------------------- what the file says */

/* When the first work of the part, as it stands in the file, began; -1: there is none. */
static int64_t first_start(const tl_db *db, const tl_db_part *part)
{
    char sql[256];
    int64_t start_ns = -1;

    for (size_t t = 0; start_ns < 0 && t < NTABLES; t++) {
        const char *process = tl_db_has(db, tables[t].name, "globalPid")   ? "globalPid"
                              : tl_db_has(db, tables[t].name, "globalTid") ? "globalTid"
                                                                           : NULL;
        int n = snprintf(sql, sizeof sql, "SELECT start FROM %s WHERE 1", tables[t].name);
        if (part->pid >= 0 && process != NULL)
            n += snprintf(sql + n, sizeof sql - (size_t)n, " AND (%s >> 24) & 16777215 = %" PRId64, process, part->pid);
        if (part->device >= 0 && tl_db_has(db, tables[t].name, "deviceId"))
            snprintf(sql + n, sizeof sql - (size_t)n, " AND deviceId = %" PRId64, part->device);
        start_ns = tl_db_number(db, sql, -1);
    }
    return start_ns;
}

/* Times count from the start of the session, which was at utcEpochNs of Unix time; of exports whose times are greater than
 * the session is long, from the start of the system's clock, which was at startTime then.  Where the export has made them
 * Unix times, they need nothing. */
static void read_epoch(const tl_db *db, tl_meta *meta)
{
    int64_t normal = tl_db_number(db,
                                  "SELECT 1 FROM META_DATA_EXPORT WHERE name = 'EXPORT_PARAM_TIME_NORMALIZE' AND "
                                  "value = 'true'",
                                  0);
    int64_t utc_ns = tl_db_number(db, "SELECT utcEpochNs FROM TARGET_INFO_SESSION_START_TIME", -1);
    int64_t session_ns = tl_db_number(db, "SELECT duration FROM ANALYSIS_DETAILS", INT64_MAX);
    int64_t clock_ns = tl_db_number(db, "SELECT startTime FROM ANALYSIS_DETAILS", 0);
    int64_t start_ns = first_start(db, &(tl_db_part){ -1, -1 });
    int64_t zero_ns = start_ns > session_ns && start_ns >= clock_ns ? clock_ns : 0;

    if (normal != 0)
        utc_ns = zero_ns = 0;
    meta->has_base = utc_ns >= 0 && utc_ns < TL_BASE_LIMIT && zero_ns >= 0 && zero_ns <= utc_ns;
    meta->base_ns = meta->has_base ? utc_ns - zero_ns : 0;
    meta->bad_base = !meta->has_base && utc_ns != -1;
}

static bool take_text(void *arg, const char *first, const char *second)
{
    tl_text *to = arg; /* a buffer */
    (void)second;
    if (first != NULL)
        snprintf((char *)(uintptr_t)to->p, to->n, "%s", first);
    return false;
}

static void text_of(const tl_db *db, const char *sql, char *to, size_t size)
{
    (void)tl_db_each(db, sql, take_text, &(tl_text){ to, size });
}

/* A number of the environment in which the recorder started the first process; -1 where the file does not have it. */
static int64_t environment(const tl_db *db, const char *const *names)
{
    char sql[512], text[32] = "";
    int64_t number = -1;

    for (; number < 0 && *names != NULL; names++) {
        size_t n = strlen(*names) + 2;
        snprintf(sql, sizeof sql,
                 "SELECT substr(value, %zu) FROM META_DATA_CAPTURE WHERE name = 'PROCESS_0:ENVIRONMENT_VARIABLE' AND "
                 "substr(value, 1, %zu) = '%s='",
                 n, n - 1, *names);
        text_of(db, sql, text, sizeof text);
        snprintf(sql, sizeof sql,
                 "SELECT substr(';' || value, instr(';' || value, ';%s=') + %zu) FROM TARGET_INFO_SYSTEM_ENV WHERE "
                 "name = 'DeviceEnvironment' AND instr(';' || value, ';%s=') > 0",
                 *names, n, *names);
        if (text[0] == '\0')
            text_of(db, sql, text, sizeof text);
        const char *digits = text + (text[0] == '"');
        if (*digits >= '0' && *digits <= '9')
            number = strtoll(digits, NULL, 10);
    }
    return number <= INT32_MAX ? number : -1;
}

/* What the recorder was started with is true of the one process of the file; of several it is their launcher's. */
static void read_meta(const tl_db *db, bool alone, tl_meta *meta)
{
    static const char *const rank_names[] = { "RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "SLURM_PROCID", NULL };
    static const char *const size_names[] = { "WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "SLURM_NTASKS", NULL };

    read_epoch(db, meta);
    meta->has_trace_keys = true;
    meta->ndevices = tl_db_number(db, "SELECT count(*) FROM TARGET_INFO_GPU", -1);
    text_of(db, "SELECT name FROM TARGET_INFO_GPU", meta->device, sizeof meta->device);
    text_of(db, "SELECT value FROM TARGET_INFO_SYSTEM_ENV WHERE name = 'Hostname'", meta->host, sizeof meta->host);
    if (!alone)
        return;
    meta->rank = environment(db, rank_names);
    meta->world_size = environment(db, size_names);
    if (meta->world_size == 0 || meta->rank >= meta->world_size)
        meta->world_size = -1;
}

/* -------------------------------------------------------------------------------------------------------- the reader */

static bool is_database(const char *path, tl_text head)
{
    (void)path;
    return tl_text_starts(head, "SQLite format 3");
}

/* What the database is, where no profiler's events are in it; NULL: they are. */
static const char *unlike(const tl_db *db)
{
    for (size_t t = 0; t < NTABLES; t++)
        if (tl_db_has(db, tables[t].name, NULL))
            return NULL;
    if (tl_db_has(db, "META_DATA_EXPORT", NULL) || tl_db_has(db, "StringIds", NULL))
        return "expected work of CUDA (tables CUPTI_ACTIVITY_KIND_...) in this export of Nsight Systems, found none";
    return "an SQLite database of another program than Nsight Systems, which is not read";
}

static void look(const char *path, tl_text head, bool deep, bool should_be, tl_look *out)
{
    tl_meta meta = TL_META_INIT;
    tl_error err = { 0 };
    tl_db_part part;
    tl_db *db;
    bool alone;

    (void)head;
    (void)deep;
    (void)should_be;
    if (open_part(path, &db, &part, &alone, &err) != TL_OK) {
        tl_look_say(out, TL_INPUT_UNREADABLE, tl_error_reason(&err, path));
        return;
    }
    const char *why = unlike(db);
    read_meta(db, alone, &meta);
    int64_t start_ns = first_start(db, &part);
    if (why != NULL || start_ns < 0)
        tl_look_say(out, why != NULL ? TL_INPUT_OTHER : TL_INPUT_UNREADABLE,
                    why != NULL ? why : "expected events of the rank in its tables, found none");
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
    nsys own = { .records = { 0 } };
    tl_db_reading r = { .options = options, .trace = out, .own = &own };
    tl_db_part part;
    bool alone;

    if (options->range != NULL)
        return tl_fail(err, TL_EINTERNAL, "%s: a database is read in one", path);
    if (options->hook != NULL)
        return tl_fail(err, TL_EINPUT, "%s: expected Kineto's JSON, found an export of Nsight Systems", path);
    tl_status st = open_part(path, &r.db, &part, &alone, err);
    if (st != TL_OK)
        return st;
    tl_read_report *report = &out->report;
    report->file_bytes = report->text_bytes = tl_db_bytes(r.db);
    report->cut = tl_db_whole_bytes(r.db) > report->file_bytes;
    if (report->cut) {
        report->first_bad_byte = (int64_t)report->file_bytes;
        snprintf(report->first_bad, sizeof report->first_bad,
                 "expected a database of %" PRIu64 " bytes, found %" PRIu64 "; kept the rows before the end",
                 tl_db_whole_bytes(r.db), report->file_bytes);
    }
    own.nvtx = tl_nvtx_new(r.db);
    read_meta(r.db, alone, &out->meta);
    for (size_t t = 0; t < NTABLES; t++)
        tl_db_read_table(&r, &tables[t], columns, &part);
    tl_nvtx_mark_steps(own.nvtx, &r);
    tl_nvtx_free(own.nvtx);
    report->has_events = report->entries > 0;
    tl_map_free(&own.records);
    free(own.recorded.v);
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
    char version[40] = "", schema[24] = "", sql[128];
    tl_db *db;

    *words = '\0';
    if (tl_db_open(path, &db, NULL) != TL_OK)
        return;
    text_of(db, "SELECT value FROM META_DATA_EXPORT WHERE name = 'EXPORT_PRODUCT_VERSION'", version, sizeof version);
    text_of(db, "SELECT value FROM META_DATA_EXPORT WHERE name = 'EXPORT_SCHEMA_VERSION'", schema, sizeof schema);
    size_t n =
        (size_t)snprintf(words, size, "Nsight Systems %s, schema %s", version[0] != '\0' ? version : "of no version",
                         schema[0] != '\0' ? schema : "of no version");
    for (size_t t = 0; t < NTABLES && n < size; t++) {
        snprintf(sql, sizeof sql, "SELECT 1 FROM %s LIMIT 1", tables[t].name);
        if (tables[t].without != NULL && tl_db_number(db, sql, 0) == 0)
            n += (size_t)snprintf(words + n, size - n, "; without %s", tables[t].without);
    }
    if (n < size && tl_db_number(db, "SELECT 1 FROM NVTX_EVENTS WHERE typeof(binaryData) = 'blob' LIMIT 1", 0) == 0)
        snprintf(words + n, size - n, "; without payloads of NVTX: sizes and groups of collectives");
    tl_db_close(db);
}

static const char *const endings[] = { ".sqlite", ".sqlite3", ".db", NULL };

const tl_reader tl_nsys_reader = { .name = "nsys",
                                   .endings = endings,
                                   .claims = is_database,
                                   .look = look,
                                   .say = say,
                                   .parts = list_parts,
                                   .read = read_trace };

#endif
