/* test_rocpd.c - databases of rocprofv3: rows to events, processes to ranks, and what is not read.  The tables have the names
 * and columns of rocprofiler-sdk's rocpd_tables.sql. */
#include "trace/read_text.h"
#if TLMPI_HAVE_SQLITE
#include "database.h"

/* Process 4711, rank 5, on the second device:
 *
 *     thread 4712   forward [90            400)   hipLaunchKernel [120 130)   hsa_signal_wait [122 124)
 *     agent 3       kernel [140 190) on stream 2, copies to and from the host [200 210) [220 225)
 */
static const char recorded[] =
    "CREATE TABLE rocpd_metadata@(id INTEGER PRIMARY KEY AUTOINCREMENT, tag TEXT NOT NULL, value TEXT NOT NULL);"
    "INSERT INTO rocpd_metadata@(tag, value) VALUES ('schema_version', '3.0.5'), ('uuid', '@');"
    "CREATE TABLE rocpd_string@(id INTEGER PRIMARY KEY AUTOINCREMENT, guid TEXT, string TEXT NOT NULL UNIQUE);"
    "INSERT INTO rocpd_string@(id, string) VALUES (1, 'KERNEL_DISPATCH'), (2, 'MEMORY_COPY'), (3, 'HIP_RUNTIME_API'),"
    " (4, 'HSA_CORE_API'), (5, 'MARKER_CORE_RANGE_API'), (6, 'RCCL_API'), (7, 'KFD_PAGE_FAULT'), (11, 'hipLaunchKernel'),"
    " (12, 'hsa_signal_wait_scacquire'), (13, 'roctxThreadRangeA'), (14, 'ncclAllReduce'), (15, 'KFD_PAGE_FAULT_CPU'),"
    " (16, 'MEMORY_COPY_HOST_TO_DEVICE'), (17, 'MEMORY_COPY_DEVICE_TO_HOST'), (18, 'MEMORY_COPY_HOST_TO_HOST');"
    "CREATE TABLE rocpd_info_node@(id INTEGER PRIMARY KEY AUTOINCREMENT, guid TEXT, hash BIGINT, machine_id TEXT,"
    " system_name TEXT, hostname TEXT);"
    "INSERT INTO rocpd_info_node@(id, hostname) VALUES (77, 'frontier01');"
    "CREATE TABLE rocpd_info_process@(id INTEGER PRIMARY KEY AUTOINCREMENT, guid TEXT, nid INTEGER, ppid INTEGER,"
    " pid INTEGER, init BIGINT, fini BIGINT, start BIGINT, end BIGINT, command TEXT, environment JSONB DEFAULT '{}');"
    "INSERT INTO rocpd_info_process@(id, nid, pid, environment) VALUES (1, 77, 4711, '{\"RANK\":\"5\",\"WORLD_SIZE\":\"8\"}');"
    "CREATE TABLE rocpd_info_thread@(id INTEGER PRIMARY KEY AUTOINCREMENT, guid TEXT, nid INTEGER, ppid INTEGER,"
    " pid INTEGER, tid INTEGER, name TEXT);"
    "INSERT INTO rocpd_info_thread@(id, pid, tid) VALUES (1, 1, 4712);"
    "CREATE TABLE rocpd_info_agent@(id INTEGER PRIMARY KEY AUTOINCREMENT, guid TEXT, nid INTEGER, pid INTEGER, type TEXT,"
    " absolute_index INTEGER, logical_index INTEGER, type_index INTEGER, uuid INTEGER, name TEXT, model_name TEXT,"
    " vendor_name TEXT, product_name TEXT);"
    "INSERT INTO rocpd_info_agent@(id, type, absolute_index, type_index, name, product_name) VALUES"
    " (1, 'CPU', 0, 0, 'EPYC', ''), (2, 'GPU', 1, 0, 'gfx942', 'MI300X'), (3, 'GPU', 2, 1, 'gfx942', 'MI300X');"
    "CREATE TABLE rocpd_info_kernel_symbol@(id INTEGER PRIMARY KEY AUTOINCREMENT, guid TEXT, nid INTEGER, pid INTEGER,"
    " code_object_id INTEGER, kernel_name TEXT, display_name TEXT);"
    "INSERT INTO rocpd_info_kernel_symbol@(id, kernel_name, display_name) VALUES (9, '_Z4gemmPf.kd', 'gemm(float*)');";

static const char job[] =
    "CREATE TABLE rocpd_event@(id INTEGER PRIMARY KEY AUTOINCREMENT, guid TEXT, category_id INTEGER, stack_id INTEGER,"
    " parent_stack_id INTEGER, correlation_id INTEGER, call_stack JSONB DEFAULT '{}', line_info JSONB DEFAULT '{}',"
    " extdata JSONB DEFAULT '{}');"
    "INSERT INTO rocpd_event@(id, category_id, stack_id, correlation_id, extdata) VALUES (1, 1, 40, 0, '{}'),"
    " (2, 2, 41, 0, '{}'), (3, 3, 40, 0, '{}'), (4, 4, 42, 0, '{}'), (5, 5, 43, 0, '{\"message\":\"forward\"}'),"
    " (6, 6, 44, 0, '{}'), (7, 7, 45, 0, '{}'), (8, 5, 46, 0, '{\"message\":\"aten::add, seq = 5, op_id = 9\"}'),"
    " (9, 5, 47, 0, '{}');"
    "CREATE TABLE rocpd_region@(id INTEGER PRIMARY KEY AUTOINCREMENT, guid TEXT, nid INTEGER, pid INTEGER, tid INTEGER,"
    " start BIGINT, end BIGINT, name_id INTEGER, event_id INTEGER, extdata JSONB DEFAULT '{}');"
    "INSERT INTO rocpd_region@(id, pid, tid, start, end, name_id, event_id) VALUES (40, 1, 1, 120, 130, 11, 3),"
    " (42, 1, 1, 122, 124, 12, 4), (43, 1, 1, 90, 400, 13, 5), (44, 1, 1, 100, 110, 14, 6), (45, 1, 1, 101, 102, 15, 7),"
    " (46, 1, 1, 115, 135, 13, 8), (47, 1, 1, 140, 141, 13, 9);"
    "CREATE TABLE rocpd_kernel_dispatch@(id INTEGER PRIMARY KEY AUTOINCREMENT, guid TEXT, nid INTEGER, pid INTEGER,"
    " tid INTEGER, agent_id INTEGER, kernel_id INTEGER, dispatch_id INTEGER, queue_id INTEGER, stream_id INTEGER,"
    " start BIGINT, end BIGINT, private_segment_size INTEGER, group_segment_size INTEGER, workgroup_size_x INTEGER,"
    " workgroup_size_y INTEGER, workgroup_size_z INTEGER, grid_size_x INTEGER, grid_size_y INTEGER, grid_size_z INTEGER,"
    " region_name_id INTEGER, event_id INTEGER, extdata JSONB DEFAULT '{}');"
    "INSERT INTO rocpd_kernel_dispatch@(pid, tid, agent_id, kernel_id, queue_id, stream_id, start, end, workgroup_size_x,"
    " workgroup_size_y, workgroup_size_z, grid_size_x, grid_size_y, grid_size_z, event_id) VALUES"
    " (1, 1, 3, 9, 1, 2, 140, 190, 256, 1, 1, 1000, 2, 1, 1);"
    "CREATE TABLE rocpd_memory_copy@(id INTEGER PRIMARY KEY AUTOINCREMENT, guid TEXT, nid INTEGER, pid INTEGER,"
    " tid INTEGER, start BIGINT, end BIGINT, name_id INTEGER, dst_agent_id INTEGER, dst_address INTEGER,"
    " src_agent_id INTEGER, src_address INTEGER, size INTEGER, queue_id INTEGER, stream_id INTEGER, region_name_id INTEGER,"
    " event_id INTEGER, extdata JSONB DEFAULT '{}');"
    "INSERT INTO rocpd_memory_copy@(pid, tid, start, end, name_id, dst_agent_id, src_agent_id, size, stream_id, event_id)"
    " VALUES (1, 1, 200, 210, 16, 3, 1, 80, 2, 2), (1, 1, 220, 225, 17, 1, 3, 40, 2, 2), (1, 1, 230, 231, 18, 1, 1, 4, 2, 2);"
    "CREATE VIEW rocpd_kernel_dispatch AS SELECT * FROM rocpd_kernel_dispatch@;";

/* A database that the statements make, with an ending for each @; its path. */
static const char *database(const char *name, const char *then)
{
    static char words[16384];
    size_t n = 0;

    const char *const texts[] = { recorded, job, then };
    for (size_t i = 0; i < COUNT(texts); i++)
        for (const char *p = texts[i]; *p != '\0' && n + 16 < sizeof words; p++)
            n += (size_t)snprintf(words + n, sizeof words - n, *p == '@' ? "_0199f2_7c" : "%c", *p);
    return make_database(name, (const char *const[]){ words }, 1);
}

/* "name@start " of each event of a category. */
static const char *listed(const tl_trace *t, tl_cat cat)
{
    static char words[1024];
    size_t n = 0;

    words[0] = '\0';
    for (size_t i = 0; i < t->events.n && n < sizeof words; i++)
        if (tl_event_cat(&t->events, i) == cat)
            n += (size_t)snprintf(words + n, sizeof words - n, "%s@%d ", name_of(t, i), (int)t->events.ts_ns[i]);
    return words;
}

static void rows_become_events(void)
{
    tl_status st;
    const char *path = database("job.db", "");
    CU_ASSERT_STRING_EQUAL(parts_of(path), "");
    tl_trace t = read_part(path, "", &st);
    const tl_events *e = &t.events;

    CU_ASSERT_EQUAL_FATAL(st, TL_OK);
    CU_ASSERT_STRING_EQUAL(listed(&t, TL_CAT_KERNEL), "gemm(float*)@140 ");
    CU_ASSERT(tl_event_dur_ns(e, 0) == 50 && tl_event_corr(e, 0) == 40);
    CU_ASSERT(tl_event_lane(e, 0)->device == 1 && tl_event_lane(e, 0)->stream == 2);
    CU_ASSERT_EQUAL_FATAL(e->grids.n, 1);
    CU_ASSERT_EQUAL(e->grids.v[0].blocks, 8);
    CU_ASSERT_STRING_EQUAL(listed(&t, TL_CAT_MEMCPY),
                           "Memcpy HtoD (Host -> Device)@200 Memcpy DtoH (Device -> Host)@220 Memcpy HtoH (Host -> Host)@230 ");
    CU_ASSERT(e->copies.n == 3 && e->copies.v[0].bytes == 80);
    CU_ASSERT(tl_event_lane(e, 1)->device == 1 && tl_event_lane(e, 2)->device == 1);
    CU_ASSERT_STRING_EQUAL(listed(&t, TL_CAT_RUNTIME), "hipLaunchKernel@120 ");
    CU_ASSERT_STRING_EQUAL(listed(&t, TL_CAT_DRIVER), "hsa_signal_wait_scacquire@122 ");
    CU_ASSERT_STRING_EQUAL(listed(&t, TL_CAT_USER_ANNOTATION), "forward@90 nccl:all_reduce@100 ");
    CU_ASSERT_STRING_EQUAL(listed(&t, TL_CAT_CPU_OP), "aten::add@115 ");
    const tl_track *track = &e->tracks.v[tl_event_track(e, 4)];
    CU_ASSERT(track->pid == 4711 && track->tid == 4712 && tl_event_corr(e, 4) == 40);
    CU_ASSERT(t.meta.rank == 5 && t.meta.world_size == 8 && t.meta.ndevices == 2 && !t.meta.has_base);
    CU_ASSERT_STRING_EQUAL(t.meta.device, "MI300X");
    CU_ASSERT_STRING_EQUAL(t.meta.host, "frontier01");
    CU_ASSERT(t.report.kept == 9 && t.report.filtered == 2 && t.report.dropped == 0 && t.report.first_bad_byte < 0);
    tl_trace_free(&t);
}

static void each_process_or_device_is_a_part(void)
{
    static const char second[] =
        "INSERT INTO rocpd_info_process@(id, pid, environment) VALUES (2, 4800, '{\"RANK\":\"6\"}');"
        "INSERT INTO rocpd_kernel_dispatch@(pid, tid, agent_id, kernel_id, stream_id, start, end, event_id) VALUES"
        " (2, 1, 2, 9, 2, 150, 160, 1)";
    tl_status st;
    const char *path = database("two.db", second);
    CU_ASSERT_STRING_EQUAL(parts_of(path), "pid-4711 pid-4800 ");
    tl_trace t = read_part(path, "/pid-4800", &st);
    CU_ASSERT(st == TL_OK && t.events.n == 1 && t.meta.rank == 6);
    tl_trace_free(&t);
    path = database("gpus.db", "INSERT INTO rocpd_kernel_dispatch@(pid, tid, agent_id, kernel_id, stream_id, start, end,"
                               " event_id) VALUES (1, 1, 2, 9, 2, 150, 160, 1)");
    CU_ASSERT_STRING_EQUAL(parts_of(path), "device-0 device-1 ");
    t = read_part(path, "/device-0", &st);
    CU_ASSERT(st == TL_OK && t.meta.rank == -1);
    CU_ASSERT_STRING_EQUAL(listed(&t, TL_CAT_KERNEL), "gemm(float*)@150 ");
    CU_ASSERT_STRING_EQUAL(listed(&t, TL_CAT_RUNTIME), "hipLaunchKernel@120 ");
    tl_trace_free(&t);
}

static void what_is_not_read_is_named(void)
{
    static const struct {
        const char *then, *why;
    } cases[] = {
        { "UPDATE rocpd_metadata@ SET value = '4' WHERE tag = 'schema_version'", "a rocpd database of schema 4" },
        { "UPDATE rocpd_metadata@ SET value = '30.1' WHERE tag = 'schema_version'", "a rocpd database of schema 30.1" },
        { "CREATE TABLE rocpd_kernel_dispatch_02(id INTEGER)", "merged into one" },
    };
    char words[600];
    tl_look look;

    for (size_t i = 0; i < COUNT(cases); i++) {
        tl_status st;
        const char *path = database("no.db", cases[i].then);
        tl_look_at(path, true, true, &look);
        CU_ASSERT(look.kind == TL_INPUT_OTHER && strstr(look.why, cases[i].why) != NULL);
        tl_trace t = read_part(path, "", &st);
        CU_ASSERT_EQUAL(st, TL_EINPUT);
        tl_trace_free(&t);
    }
    tl_look_at(database("job.db", ""), true, true, &look);
    CU_ASSERT(look.kind == TL_INPUT_TRACE && look.rank == 5 && look.origin.pid == 4711 && look.begin_ns == -1);
    tl_format_say(database("job.db", "DELETE FROM rocpd_memory_copy@; DELETE FROM rocpd_event@ WHERE category_id = 5"), words,
                  sizeof words);
    CU_ASSERT_STRING_EQUAL(words, "rocprofv3, rocpd schema 3.0.5; without copies; without ranges of roctx: operators, "
                                  "annotations and steps; without the zero of its clock: ranks are set right by their "
                                  "collectives");
}

static void what_is_damaged_is_lost_alone(void)
{
    static const struct {
        const char *then, *word;
        size_t kept, dropped;
    } cases[] = {
        { "UPDATE rocpd_kernel_dispatch@ SET start = 'soon'", "table rocpd_kernel_dispatch_0199f2_7c, row 1", 8, 1 },
        { "UPDATE rocpd_kernel_dispatch@ SET event_id = NULL, kernel_id = 99, tid = 9", "", 9, 0 },
        { "UPDATE rocpd_kernel_dispatch@ SET workgroup_size_x = 0, grid_size_x = NULL", "", 9, 0 },
        { "UPDATE rocpd_event@ SET extdata = '{\"mess'", "", 7, 0 },
        { "UPDATE rocpd_info_process@ SET environment = '{\"RANK'", "", 9, 0 },
        { "DELETE FROM rocpd_info_agent@", "", 9, 0 },
        { "DROP TABLE rocpd_info_agent@", "no such table: rocpd_info_agent", 5, 0 },
        { "DROP TABLE rocpd_memory_copy@; DROP TABLE rocpd_metadata@", "", 6, 0 },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        tl_status st;
        tl_trace t = read_part(database("bad.db", cases[i].then), "", &st);
        CU_ASSERT_EQUAL(t.report.kept, cases[i].kept);
        CU_ASSERT_EQUAL(t.report.dropped, cases[i].dropped);
        CU_ASSERT_PTR_NOT_NULL(strstr(t.report.first_bad, cases[i].word));
        CU_ASSERT_EQUAL(t.report.first_bad_byte >= 0, cases[i].word[0] != '\0');
        tl_trace_free(&t);
    }
}

int main(void)
{
    static const unit_test tests[] = {
        TEST(rows_become_events),
        TEST(each_process_or_device_is_a_part),
        TEST(what_is_not_read_is_named),
        TEST(what_is_damaged_is_lost_alone),
    };
    int failed = scratch_make() || unit_main("rocpd", tests, COUNT(tests));
    return scratch_remove() || failed;
}
#else
int main(void)
{
    return 0;
}
#endif
