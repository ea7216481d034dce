/* nsys.c - reads exports of Nsight Systems: nsys export --type sqlite.
 *
 * globalPid and globalTid hold a virtual machine id, a pid of 24 bits and a tid of 24 bits.
 */
#include "database.h"
#if TLMPI_HAVE_SQLITE
#include <inttypes.h>
#include <stdio.h>

/* ----------------------------------------------------------------------------------------------------------- tables */

/* Returns the word at that index of a list; the first word if the index is out of range. */
static const char *word_of(const char *const *words, size_t n, int64_t number)
{
    return words[number >= 0 && (uint64_t)number < n ? number : 0];
}

#define WORD_OF(words, number) word_of(words, sizeof(words) / sizeof *(words), number)

/* A graph launch that was recorded as one piece of work. */
static bool fill_graph(tl_db_reading *r, const tl_db_row *row, tl_fields *entry)
{
    tl_db_put_name(r, entry,
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
    tl_db_put_name(r, entry, n);
    return true;
}

static bool fill_memset(tl_db_reading *r, const tl_db_row *row, tl_fields *entry)
{
    tl_db_put_name(r, entry,
                   snprintf(r->name, sizeof r->name, "Memset (%s)",
                            WORD_OF(memory_kinds, TL_DB_HAS(row, TL_DB_TO) ? row->number[TL_DB_TO] : 2)));
    return true;
}

/* Removes the version that CUPTI adds: "cudaLaunchKernel_v7000" becomes cudaLaunchKernel; "cuMemcpyAsync_v2" is the
 * call's real name. */
static bool fill_call(tl_db_reading *r, const tl_db_row *row, tl_fields *entry)
{
    enum { OF_DRIVER = 1 };
    tl_text name = tl_db_text(row, TL_DB_NAME);
    size_t n = name.n;

    (void)r;
    if (TL_DB_HAS(row, TL_DB_KIND) && row->number[TL_DB_KIND] == OF_DRIVER)
        tl_db_put_text(entry, TL_KEY_CAT, TL_TEXT("cuda_driver"));
    while (n > 0 && tl_is_digit(name.p[n - 1]))
        n--;
    if (name.n - n >= 4 && n > 2 && name.p[n - 2] == '_' && name.p[n - 1] == 'v')
        tl_db_put_text(entry, TL_KEY_NAME, (tl_text){ name.p, n - 2 });
    return true;
}

/* ------------------------------------------------------------------------------------------------- waits and events */

/* Adds the recording of an event that a wait refers to; in older exports, which do not number recordings, the last one
 * of the event. */
static bool note_record(tl_db_reading *r, const tl_db_row *row, tl_fields *entry)
{
    (void)entry;
    if (TL_DB_HAS(row, TL_DB_EVENT)) {
        tl_map_put(&r->records, (uint64_t)row->number[TL_DB_EVENT], (uint32_t)r->recorded.n);
        tl_vec_push(&r->recorded,
                    (tl_db_recording){ TL_DB_HAS(row, TL_DB_STREAM) ? row->number[TL_DB_STREAM] : -1,
                                       TL_DB_HAS(row, TL_DB_CORRELATION) ? row->number[TL_DB_CORRELATION] : -1 });
    }
    return false;
}

static bool fill_wait(tl_db_reading *r, const tl_db_row *row, tl_fields *entry)
{
    static const char *const kinds[] = { "Unknown", "Event Sync", "Stream Wait Event", "Stream Sync", "Context Sync" };
    const char *name = WORD_OF(kinds, TL_DB_HAS(row, TL_DB_KIND) ? row->number[TL_DB_KIND] : 0);
    uint32_t record =
        TL_DB_HAS(row, TL_DB_EVENT) ? tl_map_get(&r->records, (uint64_t)row->number[TL_DB_EVENT]) : TL_MAP_NONE;

    tl_db_put_text(entry, TL_KEY_NAME, (tl_text){ name, strlen(name) });
    if (TL_DB_HAS(row, TL_DB_STREAM) && row->number[TL_DB_STREAM] == UINT32_MAX)
        tl_db_put_number(r, entry, TL_KEY_STREAM, -1);
    if (record != TL_MAP_NONE) {
        tl_db_put_number(r, entry, TL_KEY_WAIT_ON_STREAM, r->recorded.v[record].stream);
        tl_db_put_number(r, entry, TL_KEY_WAIT_ON_CORR, r->recorded.v[record].correlation);
    }
    return true;
}

static bool fill_range(tl_db_reading *r, const tl_db_row *row, tl_fields *entry)
{
    enum { PUSH_POP = 59, START_END = 60, TEXT_PUSH_POP = 70, TEXT_START_END = 71 };
    const int64_t kind = TL_DB_HAS(row, TL_DB_KIND) ? row->number[TL_DB_KIND] : -1;
    tl_text name = tl_db_text(row, TL_DB_TEXT);

    name = name.n > 0 ? name : tl_db_text(row, TL_DB_NAME);
    return (kind == PUSH_POP || kind == START_END || kind == TEXT_PUSH_POP || kind == TEXT_START_END) &&
           tl_nvtx_fill(r->nvtx, r, row, name, entry);
}

/* ------------------------------------------------------------------------------------------------------- the schema */

#define STRING_ID(column) "s.value", "StringIds AS s ON s.id = t." column

static const tl_db_column columns[] = {
    { "start", TL_DB_START, NULL, NULL },
    { "end", TL_DB_END, NULL, NULL },
    { "timestamp", TL_DB_START, NULL, NULL },
    { "globalPid", TL_DB_PROCESS, NULL, NULL },
    { "globalTid", TL_DB_PROCESS, NULL, NULL },
    { "deviceId", TL_DB_DEVICE, NULL, NULL },
    { "streamId", TL_DB_STREAM, NULL, NULL },
    { "correlationId", TL_DB_CORRELATION, NULL, NULL },
    { "bytes", TL_DB_BYTES, NULL, NULL },
    { "copyKind", TL_DB_KIND, NULL, NULL },
    { "syncType", TL_DB_KIND, NULL, NULL },
    { "eventClass", TL_DB_KIND, NULL, NULL },
    { "eventType", TL_DB_KIND, NULL, NULL },
    { "srcKind", TL_DB_FROM, NULL, NULL },
    { "dstKind", TL_DB_TO, NULL, NULL },
    { "memKind", TL_DB_TO, NULL, NULL },
    { "gridX", TL_DB_GRID_X, NULL, NULL },
    { "gridY", TL_DB_GRID_Y, NULL, NULL },
    { "gridZ", TL_DB_GRID_Z, NULL, NULL },
    { "eventSyncId", TL_DB_EVENT, NULL, NULL },
    { "eventId", TL_DB_EVENT, NULL, NULL },
    { "graphId", TL_DB_GRAPH, NULL, NULL },
    { "text", TL_DB_TEXT, NULL, NULL },
    { "binaryData", TL_DB_PAYLOAD, NULL, NULL },
    { "demangledName", TL_DB_NAME, STRING_ID("demangledName") },
    { "shortName", TL_DB_NAME, STRING_ID("shortName") },
    { "nameId", TL_DB_NAME, STRING_ID("nameId") },
    { "textId", TL_DB_NAME, STRING_ID("textId") },
    { NULL, TL_DB_NSLOTS, NULL, NULL },
};

#define KIND(table) "CUPTI_ACTIVITY_KIND_" table

static const tl_db_table tables[] = {
    { KIND("KERNEL"), "kernel", true, tl_db_fill_kernel, "kernels: where the time of devices went" },
    { KIND("GRAPH_TRACE"), "kernel", true, fill_graph, NULL },
    { KIND("MEMCPY"), "gpu_memcpy", true, fill_copy, "copies" },
    { KIND("MEMSET"), "gpu_memset", true, fill_memset, NULL },
    { KIND("CUDA_EVENT"), "cuda_sync", true, note_record, "recordings of events: which work a wait is for" },
    { KIND("SYNCHRONIZATION"), "cuda_sync", true, fill_wait, "synchronisations: what a host waits for" },
    { KIND("RUNTIME"), "cuda_runtime", false, fill_call, "calls: launches, and why a device is idle" },
    { "NVTX_EVENTS", "user_annotation", false, fill_range, "ranges of NVTX: operators, annotations and steps" },
};

/* ----------------------------------------------------------------------------------------------- what the file says */

/* Sets the base time.  Times count from the start of the session, at utcEpochNs of Unix time; in exports whose times
 * are greater than the session is long, from the start of the system's clock, at startTime.  Exports with Unix times
 * need no base. */
static void read_epoch(const tl_db *db, tl_meta *meta)
{
    int64_t normal = tl_db_number(db,
                                  "SELECT 1 FROM META_DATA_EXPORT WHERE name = 'EXPORT_PARAM_TIME_NORMALIZE' AND "
                                  "value = 'true'",
                                  0);
    int64_t utc_ns = tl_db_number(db, "SELECT utcEpochNs FROM TARGET_INFO_SESSION_START_TIME", -1);
    int64_t session_ns = tl_db_number(db, "SELECT duration FROM ANALYSIS_DETAILS", INT64_MAX);
    int64_t clock_ns = tl_db_number(db, "SELECT startTime FROM ANALYSIS_DETAILS", 0);
    int64_t start_ns = tl_db_first_start_of(db, &tl_nsys_schema, &(tl_db_part){ -1, -1 });
    int64_t zero_ns = start_ns > session_ns && start_ns >= clock_ns ? clock_ns : 0;

    if (normal != 0)
        utc_ns = zero_ns = 0;
    meta->has_base = utc_ns >= 0 && utc_ns < TL_BASE_LIMIT && zero_ns >= 0 && zero_ns <= utc_ns;
    meta->base_ns = meta->has_base ? utc_ns - zero_ns : 0;
    meta->bad_base = !meta->has_base && utc_ns != -1;
}

static void read_meta(const tl_db *db, tl_meta *meta)
{
    read_epoch(db, meta);
    meta->ndevices = tl_db_number(db, "SELECT count(*) FROM TARGET_INFO_GPU", -1);
    tl_db_copy_text(db, "SELECT name FROM TARGET_INFO_GPU", meta->device, sizeof meta->device);
    tl_db_copy_text(db, "SELECT value FROM TARGET_INFO_SYSTEM_ENV WHERE name = 'Hostname'", meta->host,
                    sizeof meta->host);
}

/* The environment of the recorder belongs to the process if the file has one process; else to their launcher. */
static void read_variable(const tl_db *db, const tl_db_part *part, bool alone, const char *name, char *text,
                          size_t size)
{
    char sql[512];
    size_t n = strlen(name) + 2;

    (void)part;
    if (!alone)
        return;
    snprintf(sql, sizeof sql,
             "SELECT substr(value, %zu) FROM META_DATA_CAPTURE WHERE name = 'PROCESS_0:ENVIRONMENT_VARIABLE' AND "
             "substr(value, 1, %zu) = '%s='",
             n, n - 1, name);
    tl_db_copy_text(db, sql, text, size);
    snprintf(sql, sizeof sql,
             "SELECT substr(';' || value, instr(';' || value, ';%s=') + %zu) FROM TARGET_INFO_SYSTEM_ENV WHERE "
             "name = 'DeviceEnvironment' AND instr(';' || value, ';%s=') > 0",
             name, n, name);
    if (text[0] == '\0')
        tl_db_copy_text(db, sql, text, size);
}

static bool refuses(const tl_db *db, char *why, size_t size)
{
    bool is_export = tl_db_has(db, "META_DATA_EXPORT", NULL) || tl_db_has(db, "StringIds", NULL);

    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
        if (tl_db_has(db, tables[t].name, NULL))
            return false;
    snprintf(why, size, "%s",
             tl_db_has(db, "COMPUTE_TASK_INFO", NULL) || tl_db_has(db, "RANK_DEVICE_MAP", NULL)
                 ? "of Ascend's torch_npu profiler, whose traces are not read"
             : is_export
                 ? "expected work of CUDA (tables CUPTI_ACTIVITY_KIND_...) in this export of Nsight Systems, found none"
                 : "an SQLite database of another program than Nsight Systems or rocprofv3, which is not read");
    return true;
}

/* "Nsight Systems 2026.2.1, schema 3.25.0" */
static void say_version(const tl_db *db, char *words, size_t size)
{
    char version[40] = "of no version", schema[24] = "of no version";

    tl_db_copy_text(db, "SELECT value FROM META_DATA_EXPORT WHERE name = 'EXPORT_PRODUCT_VERSION'", version,
                    sizeof version);
    tl_db_copy_text(db, "SELECT value FROM META_DATA_EXPORT WHERE name = 'EXPORT_SCHEMA_VERSION'", schema,
                    sizeof schema);
    snprintf(words, size, "Nsight Systems %s, schema %s", version, schema);
}

static void say_missing(const tl_db *db, char *words, size_t size)
{
    if (tl_db_number(db, "SELECT 1 FROM NVTX_EVENTS WHERE typeof(binaryData) = 'blob' LIMIT 1", 0) == 0)
        snprintf(words, size, "; without payloads of NVTX: sizes and groups of collectives");
}

const tl_db_schema tl_nsys_schema = { .tables = tables,
                                      .ntables = sizeof tables / sizeof *tables,
                                      .nwork_tables = 4,
                                      .columns = columns,
                                      .refuses = refuses,
                                      .read_meta = read_meta,
                                      .read_variable = read_variable,
                                      .say_version = say_version,
                                      .say_missing = say_missing };

#endif
