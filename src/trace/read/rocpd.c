/* rocpd.c - databases of rocprofv3 (rocpd, schema 3), as rocprofiler-sdk publishes it in rocpd_tables.sql.
 *
 *     rocpd_kernel_dispatch_0199...   event_id -> rocpd_event: stack_id, that of the call which queued it
 *     rocpd_memory_copy_0199...       event_id -> rocpd_event
 *     rocpd_region_0199...            event_id -> rocpd_event: stack_id, category_id, extdata: {"message": "..."}
 *
 * The names of all tables of a process end with the process's own id.  Columns whose names end with id refer to rows of
 * rocpd_info_..., rocpd_string or rocpd_event, and are not system ids.  Times are ns of the host's clock, whose origin
 * is unknown.
 */
#include "database.h"
#if TLMPI_HAVE_SQLITE
#include <inttypes.h>
#include <stdio.h>

/* ----------------------------------------------------------------------------------------------------------- tables */

/* "MEMORY_COPY_HOST_TO_DEVICE"; other versions have "HOST_TO_DEVICE". */
static bool fill_copy(tl_db_reading *r, const tl_db_row *row, tl_fields *entry)
{
    static const struct {
        const char *word, *name;
    } ways[] = { { "HOST_TO_DEVICE", "Memcpy HtoD (Host -> Device)" },
                 { "DEVICE_TO_HOST", "Memcpy DtoH (Device -> Host)" },
                 { "DEVICE_TO_DEVICE", "Memcpy DtoD (Device -> Device)" },
                 { "HOST_TO_HOST", "Memcpy HtoH (Host -> Host)" } };
    const char *name = "Memcpy Unknown";

    (void)r;
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        if (tl_text_has(tl_db_text(row, TL_DB_NAME), ways[i].word))
            name = ways[i].name;
    tl_db_put_text(entry, TL_KEY_NAME, (tl_text){ name, strlen(name) });
    return true;
}

/* Kinds of regions, by category. */
enum { REGION_OTHER, REGION_HIP, REGION_HSA, REGION_ROCTX, REGION_RCCL };

#define REGION_KIND                                                                                                    \
    "CASE WHEN c.string LIKE 'HIP%' THEN 1 WHEN c.string LIKE 'HSA%' THEN 2 WHEN c.string LIKE 'MARKER_CORE%' THEN 3 " \
    "WHEN c.string LIKE 'RCCL%' THEN 4 ELSE 0 END"

/* A range of roctx is named by its message. */
static bool fill_region(tl_db_reading *r, const tl_db_row *row, tl_fields *entry)
{
    const int64_t kind = TL_DB_HAS(row, TL_DB_KIND) ? row->number[TL_DB_KIND] : REGION_OTHER;

    if (kind == REGION_HSA)
        tl_db_put_text(entry, TL_KEY_CAT, TL_TEXT("cuda_driver"));
    if (kind == REGION_HIP || kind == REGION_HSA || kind == REGION_OTHER)
        return kind != REGION_OTHER;
    entry->seen &= ~TL_KEY_BIT(TL_KEY_CORRELATION); /* a range does not queue work itself */
    tl_db_put_text(entry, TL_KEY_CAT, TL_TEXT("user_annotation"));
    return tl_nvtx_fill(r->nvtx, r, row, tl_db_text(row, kind == REGION_RCCL ? TL_DB_NAME : TL_DB_TEXT), entry);
}

/* ------------------------------------------------------------------------------------------------------- the schema */

#define PROCESS                                                                                                        \
    "(coalesce(p.pid, 0) << 24) + coalesce(h.tid, 0)",                                                                 \
        "rocpd_info_process@ AS p ON p.id = t.pid LEFT JOIN rocpd_info_thread@ AS h ON h.id = t.tid"
#define EVENT                                                                                                          \
    "e.stack_id", "rocpd_event@ AS e ON e.id = t.event_id LEFT JOIN rocpd_string@ AS c ON c.id = e.category_id"

/* A grid counts work items here, and work groups in Kineto. */
#define GRID(x, slot)                                                                                                  \
    {                                                                                                                  \
        "grid_size_" x, slot,                                                                                          \
            "(t.grid_size_" x " + max(t.workgroup_size_" x ", 1) - 1) / max(t.workgroup_size_" x ", 1)", NULL          \
    }

static const tl_db_column columns[] = {
    { "start", TL_DB_START, NULL, NULL },
    { "end", TL_DB_END, NULL, NULL },
    { "pid", TL_DB_PROCESS, PROCESS },
    { "agent_id", TL_DB_DEVICE, "a.type_index", "rocpd_info_agent@ AS a ON a.id = t.agent_id" },
    { "dst_agent_id", TL_DB_DEVICE,
      "CASE WHEN a.type = 'GPU' THEN a.type_index WHEN f.type = 'GPU' THEN f.type_index END",
      "rocpd_info_agent@ AS a ON a.id = t.dst_agent_id LEFT JOIN rocpd_info_agent@ AS f ON f.id = t.src_agent_id" },
    { "stream_id", TL_DB_STREAM, NULL, NULL },
    { "event_id", TL_DB_CORRELATION, EVENT },
    { "event_id", TL_DB_KIND, REGION_KIND, NULL },
    { "event_id", TL_DB_TEXT, "CASE WHEN json_valid(e.extdata) THEN json_extract(e.extdata, '$.message') END", NULL },
    { "size", TL_DB_BYTES, NULL, NULL },
    GRID("x", TL_DB_GRID_X),
    GRID("y", TL_DB_GRID_Y),
    GRID("z", TL_DB_GRID_Z),
    { "kernel_id", TL_DB_NAME, "s.display_name", "rocpd_info_kernel_symbol@ AS s ON s.id = t.kernel_id" },
    { "name_id", TL_DB_NAME, "s.string", "rocpd_string@ AS s ON s.id = t.name_id" },
    { NULL, TL_DB_NSLOTS, NULL, NULL },
};

static const tl_db_table tables[] = {
    { "rocpd_kernel_dispatch@", "kernel", true, tl_db_fill_kernel, "kernels: where the time of devices went" },
    { "rocpd_memory_copy@", "gpu_memcpy", true, fill_copy, "copies" },
    { "rocpd_region@", "cuda_runtime", false, fill_region, NULL },
};

/* ----------------------------------------------------------------------------------------------- what the file says */

static bool take_ending(void *arg, const char *ending, const char *ignored)
{
    static const char letters[] = "0123456789abcdefABCDEF_";

    (void)ignored;
    if (ending == NULL || strspn(ending, letters) != strlen(ending) || strlen(ending) > 63)
        return true;
    tl_db_set_ending(arg, ending);
    return false;
}

#define NDISPATCH_TABLES                                                                                               \
    "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name GLOB 'rocpd_kernel_dispatch*'"

static bool claims(tl_db *db)
{
    (void)tl_db_each(db,
                     "SELECT substr(name, length('rocpd_kernel_dispatch') + 1) FROM sqlite_master WHERE type = 'table' "
                     "AND name GLOB 'rocpd_kernel_dispatch*'",
                     take_ending, db);
    return tl_db_has(db, tables[0].name, NULL);
}

static void copy_version(const tl_db *db, char *text, size_t size)
{
    tl_db_copy_text(db, "SELECT value FROM \"rocpd_metadata@\" WHERE tag = 'schema_version'", text, size);
}

static bool refuses(const tl_db *db, char *why, size_t size)
{
    char version[16] = "3";

    copy_version(db, version, sizeof version);
    if (version[0] != '3' || tl_is_digit(version[1])) /* "3", later "3.0.5" */
        snprintf(why, size, "a rocpd database of schema %s, which is not read: that of schema 3 is", version);
    else if (tl_db_number(db, NDISPATCH_TABLES, 1) > 1)
        snprintf(why, size,
                 "rocpd databases of several recordings merged into one, which is not read: give each of them");
    else
        return false;
    return true;
}

static void read_meta(const tl_db *db, tl_meta *meta)
{
    meta->ndevices = tl_db_number(db, "SELECT count(*) FROM \"rocpd_info_agent@\" WHERE type = 'GPU'", -1);
    tl_db_copy_text(db, "SELECT coalesce(nullif(product_name, ''), name) FROM \"rocpd_info_agent@\" WHERE type = 'GPU'",
                    meta->device, sizeof meta->device);
    tl_db_copy_text(db, "SELECT hostname FROM \"rocpd_info_node@\"", meta->host, sizeof meta->host);
}

/* The environment belongs to the process; if the process has several devices, it belongs to no rank. */
static void read_variable(const tl_db *db, const tl_db_part *part, bool alone, const char *name, char *text,
                          size_t size)
{
    char sql[256];

    if (part->device >= 0 || (part->pid < 0 && !alone))
        return;
    snprintf(sql, sizeof sql,
             "SELECT json_extract(environment, '$.%s') FROM \"rocpd_info_process@\" WHERE json_valid(environment) AND "
             "(pid = %" PRId64 " OR %" PRId64 " < 0)",
             name, part->pid, part->pid);
    tl_db_copy_text(db, sql, text, size);
}

/* "rocprofv3, rocpd schema 3" */
static void say_version(const tl_db *db, char *words, size_t size)
{
    char version[16] = "of no version";

    copy_version(db, version, sizeof version);
    snprintf(words, size, "rocprofv3, rocpd schema %s", version);
}

static bool has_category(const tl_db *db, const char *pattern)
{
    char sql[256];

    snprintf(sql, sizeof sql,
             "SELECT 1 FROM \"rocpd_event@\" WHERE category_id IN (SELECT id FROM \"rocpd_string@\" WHERE string LIKE "
             "'%s') LIMIT 1",
             pattern);
    return tl_db_number(db, sql, 0) != 0;
}

static void say_missing(const tl_db *db, char *words, size_t size)
{
    snprintf(words, size, "%s%s; without the zero of its clock: ranks are set right by their collectives",
             has_category(db, "HIP%") ? "" : "; without calls of HIP: launches, and why a device is idle",
             has_category(db, "MARKER_CORE%") ? "" : "; without ranges of roctx: operators, annotations and steps");
}

const tl_db_schema tl_rocpd_schema = { .tables = tables,
                                       .ntables = sizeof tables / sizeof *tables,
                                       .nwork_tables = 2,
                                       .columns = columns,
                                       .claims = claims,
                                       .refuses = refuses,
                                       .read_meta = read_meta,
                                       .read_variable = read_variable,
                                       .say_version = say_version,
                                       .say_missing = say_missing };

#endif
