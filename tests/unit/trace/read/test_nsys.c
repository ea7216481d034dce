/* test_nsys.c - exports of Nsight Systems: rows of a database to events, processes to ranks, and what is damaged. */
#include "trace/read_text.h"
#if TLMPI_HAVE_SQLITE
#include "tlmpi/base/log.h"
#include "database.h"

/* A job of two processes, 11 and 12, each with a device.
 *
 *     11   aten::add [100     200)   launch [120 130)   kernel [140 190) on stream 7
 *     12   iteration 3 [90   400)    copy [300 310)
 */
#define TID(pid, tid) "(281474976710656 + (" #pid " << 24) + " #tid ")"

static const char job[] =
    "CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT);"
    "INSERT INTO StringIds VALUES (1, 'void gemm<int>(float*)'), (2, 'gemm'), (3, 'cudaLaunchKernel_v7000'),"
    " (4, 'aten::add, seq = 5, op_id = 9'), (5, 'cuLaunchKernel'), (6, 'ncclAllReduce');"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start INTEGER, end INTEGER, deviceId INTEGER, streamId INTEGER,"
    " correlationId INTEGER, globalPid INTEGER, shortName INTEGER, demangledName INTEGER, gridX INTEGER, gridY INTEGER,"
    " gridZ INTEGER);"
    "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (140, 190, 0, 7, 1, " TID(11, 0) ", 2, 1, 4, 2, 1),"
    " (150, 180, 1, 7, 1, " TID(12, 0) ", 2, 1, 4, 2, 1);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY(start INTEGER, end INTEGER, deviceId INTEGER, streamId INTEGER,"
    " correlationId INTEGER, globalPid INTEGER, bytes INTEGER, copyKind INTEGER, srcKind INTEGER, dstKind INTEGER);"
    "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (300, 310, 1, 7, 2, " TID(12, 0) ", 80, 1, 0, 2);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start INTEGER, end INTEGER, eventClass INTEGER, globalTid INTEGER,"
    " correlationId INTEGER, nameId INTEGER);"
    "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (120, 130, 0, " TID(11, 21) ", 1, 3),"
    " (125, 135, 1, " TID(12, 22) ", 1, 5);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_CUDA_EVENT(deviceId INTEGER, streamId INTEGER, correlationId INTEGER,"
    " globalPid INTEGER, eventId INTEGER, eventSyncId INTEGER, timestamp INTEGER);"
    "INSERT INTO CUPTI_ACTIVITY_KIND_CUDA_EVENT VALUES (1, 9, 40, " TID(12, 0) ", 3, 77, 0);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION(start INTEGER, end INTEGER, deviceId INTEGER, streamId INTEGER,"
    " correlationId INTEGER, globalPid INTEGER, syncType INTEGER, eventId INTEGER, eventSyncId INTEGER);"
    "INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES (350, 360, 0, 4294967295, 50, " TID(12, 0) ", 1, 3, 77);"
    "CREATE TABLE NVTX_EVENTS(start INTEGER, end INTEGER, eventType INTEGER, text TEXT, globalTid INTEGER,"
    " textId INTEGER, domainId INTEGER);"
    "INSERT INTO NVTX_EVENTS VALUES (100, 200, 59, NULL, " TID(11, 21) ", 4, 0),"
    " (90, 400, 60, 'iteration 3', " TID(12, 22) ", NULL, 0), (95, NULL, 59, 'open', " TID(12, 22) ", NULL, 0),"
    " (96, NULL, 34, 'mark', " TID(12, 22) ", NULL, 0), (97, 98, 59, NULL, " TID(12, 22) ", 6, 1);"
    "CREATE TABLE TARGET_INFO_SESSION_START_TIME(utcEpochNs INTEGER, systemClockNs INTEGER);"
    "INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (1700000000000000050, 50);"
    "CREATE TABLE TARGET_INFO_GPU(id INTEGER, name TEXT);"
    "INSERT INTO TARGET_INFO_GPU VALUES (0, 'H100'), (1, 'H100');"
    "CREATE TABLE META_DATA_CAPTURE(name TEXT, value TEXT);"
    "INSERT INTO META_DATA_CAPTURE VALUES ('PROCESS_0:ENVIRONMENT_VARIABLE', 'RANK=\"6\"'),"
    " ('PROCESS_0:ENVIRONMENT_VARIABLE', 'WORLD_SIZE=\"8\"');";

static const char *database(const char *name, const char *first, const char *then)
{
    return make_database(name, (const char *const[]){ first, then }, 2);
}

static tl_cat cat_of(const tl_trace *t, size_t i)
{
    return tl_event_cat(&t->events, i);
}

static void each_process_with_work_is_a_part(void)
{
    CU_ASSERT_STRING_EQUAL(parts_of(database("two.sqlite", job, "")), "pid-11 pid-12 ");
    CU_ASSERT_STRING_EQUAL(parts_of(database("one.sqlite", job, "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET globalPid = "
                                                                TID(12, 0) ", deviceId = 1")), "");
    CU_ASSERT_STRING_EQUAL(parts_of(database("gpus.sqlite", job, "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET globalPid = "
                                                                 TID(12, 0))), "device-0 device-1 ");
    CU_ASSERT_STRING_EQUAL(parts_of(scratch_text("no.json", "{}")), "");
}

static void rows_become_the_events_of_their_process(void)
{
    const char *path = database("two.sqlite", job, "");
    tl_status st;
    tl_trace t = read_part(path, "/pid-11", &st);
    const tl_events *e = &t.events;

    CU_ASSERT_EQUAL_FATAL(st, TL_OK);
    CU_ASSERT_EQUAL_FATAL(e->n, 3);
    CU_ASSERT_STRING_EQUAL(name_of(&t, 0), "void gemm<int>(float*)");
    CU_ASSERT(cat_of(&t, 0) == TL_CAT_KERNEL && cat_of(&t, 1) == TL_CAT_RUNTIME && cat_of(&t, 2) == TL_CAT_CPU_OP);
    CU_ASSERT(e->ts_ns[0] == 140 && tl_event_dur_ns(e, 0) == 50 && tl_event_corr(e, 0) == 1);
    CU_ASSERT(tl_event_lane(e, 0)->device == 0 && tl_event_lane(e, 0)->stream == 7);
    CU_ASSERT_EQUAL_FATAL(e->grids.n, 1);
    CU_ASSERT_EQUAL(e->grids.v[0].blocks, 8);
    CU_ASSERT_STRING_EQUAL(name_of(&t, 1), "cudaLaunchKernel");
    CU_ASSERT(e->tracks.v[tl_event_track(e, 1)].pid == 11 && e->tracks.v[tl_event_track(e, 1)].tid == 21);
    CU_ASSERT_STRING_EQUAL(name_of(&t, 2), "aten::add");
    CU_ASSERT(t.meta.has_base && t.meta.base_ns == 1700000000000000050);
    CU_ASSERT_STRING_EQUAL(t.meta.device, "H100");
    CU_ASSERT(t.report.kept == 3 && t.report.dropped == 0 && t.report.first_bad_byte < 0);
    tl_trace_free(&t);

    t = read_part(path, "/pid-12", &st);
    CU_ASSERT_EQUAL_FATAL(st, TL_OK);
    CU_ASSERT_EQUAL_FATAL(e->n, 6);
    CU_ASSERT_STRING_EQUAL(name_of(&t, 1), "Memcpy HtoD (Pageable -> Device)");
    CU_ASSERT(e->copies.n == 1 && e->copies.v[0].bytes == 80);
    CU_ASSERT_STRING_EQUAL(name_of(&t, 2), "Event Sync");
    const tl_wait_args *wait = tl_events_wait(e, 2);
    CU_ASSERT_PTR_NOT_NULL_FATAL(wait);
    CU_ASSERT(wait->wait_on_stream == 9 && wait->wait_on_corr == 40 && tl_event_lane(e, 2)->stream == -1);
    CU_ASSERT_EQUAL(cat_of(&t, 3), TL_CAT_DRIVER);
    CU_ASSERT_STRING_EQUAL(name_of(&t, 4), "iteration 3");
    CU_ASSERT_EQUAL(cat_of(&t, 4), TL_CAT_USER_ANNOTATION);
    CU_ASSERT_STRING_EQUAL(name_of(&t, 5), "nccl:all_reduce");
    tl_trace_free(&t);
}

static void a_look_tells_what_one_process_was_started_with(void)
{
    const char *two = database("two.sqlite", job, ""),
               *one = database("one.sqlite", job, "DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE deviceId = 0");
    char part[1100];
    tl_look look;

    tl_look_at(one, false, false, &look);
    CU_ASSERT(look.kind == TL_INPUT_TRACE && look.rank == 6 && look.world_size == 8);
    CU_ASSERT(look.begin_ns == 1700000000000000200 && look.origin.pid == 12);
    snprintf(part, sizeof part, "%s/pid-11", two);
    tl_look_at(part, false, false, &look);
    CU_ASSERT(look.kind == TL_INPUT_TRACE && look.rank == -1 && look.origin.pid == 11);
    CU_ASSERT_EQUAL(look.begin_ns, 1700000000000000190);
    snprintf(part, sizeof part, "%s/pid-13", two);
    tl_look_at(part, false, false, &look);
    CU_ASSERT(look.kind == TL_INPUT_UNREADABLE && strstr(look.why, "found none") != NULL);
    tl_look_at(database("other.sqlite", "CREATE TABLE t(x);", ""), false, false, &look);
    CU_ASSERT(look.kind == TL_INPUT_OTHER && strstr(look.why, "another program") != NULL);
    tl_look_at(database("npu.db", "CREATE TABLE RANK_DEVICE_MAP(rankId, deviceId);", ""), false, false, &look);
    CU_ASSERT(look.kind == TL_INPUT_OTHER && strstr(look.why, "Ascend") != NULL);
    tl_look_at(scratch_text("head.sqlite", "SQLite format 3"), false, false, &look);
    CU_ASSERT(look.kind == TL_INPUT_UNREADABLE && strstr(look.why, "expected an SQLite database") != NULL);
}

static void times_count_from_the_session_or_the_clock(void)
{
    static const struct {
        const char *sql;
        int64_t base_ns;
    } cases[] = {
        { "CREATE TABLE ANALYSIS_DETAILS AS SELECT 1000 AS duration, 50 AS startTime", 1700000000000000050 },
        { "CREATE TABLE ANALYSIS_DETAILS AS SELECT 1000 AS duration, 9000 AS startTime", 1700000000000000050 },
        { "CREATE TABLE ANALYSIS_DETAILS AS SELECT 100 AS duration, 50 AS startTime", 1700000000000000000 },
        { "CREATE TABLE META_DATA_EXPORT AS SELECT 'EXPORT_PARAM_TIME_NORMALIZE' AS name, 'true' AS value", 0 },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        tl_status st;
        tl_trace t = read_part(database("times.sqlite", job, cases[i].sql), "/pid-11", &st);
        CU_ASSERT(st == TL_OK && t.meta.has_base && !t.meta.bad_base);
        CU_ASSERT_EQUAL(t.meta.base_ns, cases[i].base_ns);
        tl_trace_free(&t);
    }
}

static void what_a_file_lacks_is_said(void)
{
    char words[600];

    tl_format_say(database("two.sqlite", job, "CREATE TABLE META_DATA_EXPORT(name TEXT, value TEXT); INSERT INTO META_DATA_EXPORT "
                                              "VALUES ('EXPORT_PRODUCT_VERSION', '2026.2.1'), ('EXPORT_SCHEMA_VERSION', '3.25.0');"
                                              " DELETE FROM CUPTI_ACTIVITY_KIND_SYNCHRONIZATION"), words, sizeof words);
    CU_ASSERT_STRING_EQUAL(words, "Nsight Systems 2026.2.1, schema 3.25.0; without synchronisations: what a host waits for; "
                                  "without payloads of NVTX: sizes and groups of collectives");
    tl_format_say(database("bare.sqlite", "CREATE TABLE t(x);", ""), words, sizeof words);
    CU_ASSERT_PTR_NOT_NULL(strstr(words, "schema of no version; without kernels"));
    tl_format_say(scratch_text("a.json", "{}"), words, sizeof words);
    CU_ASSERT_STRING_EQUAL(words, "");
}

/* ------------------------------------------------------------------------------------------------------------ ranges */

static tl_trace read_ranges(const char *rows)
{
    static const char table[] = "CREATE TABLE NVTX_EVENTS(start INTEGER, end INTEGER, eventType INTEGER, text TEXT,"
                                " globalTid INTEGER, binaryData TEXT);"
                                "CREATE TABLE NVTX_PAYLOAD_SCHEMA_ENTRIES(domainId INTEGER, schemaId INTEGER, idx INTEGER,"
                                " type INTEGER, name TEXT, offset INTEGER);"
                                "INSERT INTO NVTX_PAYLOAD_SCHEMA_ENTRIES VALUES (1, 7, 0, 18, 'NCCL communicator ID', NULL),"
                                " (1, 7, 1, 22, 'Message size [bytes]', 8), (1, 7, 2, 5, 'Peer rank', 16),"
                                " (1, 8, 0, 18, 'NCCL communicator ID', NULL), (1, 8, 1, 5, 'No. of ranks', 8),"
                                " (1, 8, 2, 5, 'Rank', 12), (1, 9, 0, 18, 'NCCL communicator ID', 4000000000);";
    tl_status st;
    tl_trace t = read_part(database("ranges.sqlite", table, rows), "", &st);
    CU_ASSERT_EQUAL_FATAL(st, TL_OK);
    return t;
}

/* The names of all events of a category, with their starts. */
static const char *listed(const tl_trace *t, tl_cat cat)
{
    static char words[1024];
    size_t n = 0;

    words[0] = '\0';
    for (size_t i = 0; i < t->events.n && n < sizeof words; i++)
        if (cat_of(t, i) == cat)
            n += (size_t)snprintf(words + n, sizeof words - n, "%s@%d ", name_of(t, i), (int)t->events.ts_ns[i]);
    return words;
}

static void a_seq_joins_the_passes_once(void)
{
    tl_trace t = read_ranges("INSERT INTO NVTX_EVENTS(start, end, eventType, text, globalTid) VALUES"
                             " (10, 20, 59, 'aten::linear, seq = 3, op_id = 1', 1), (12, 15, 59, 'aten::addmm, seq = 3', 1),"
                             " (30, 40, 59, 'AddmmBackward0, seq = 3, op_id = 9', 2), (50, 60, 59, 'AddmmBackward0, seq = 3', 2),"
                             " (70, 80, 59, 'aten::view', 1), (81, 82, 59, 'loss, part 1', 1)");
    CU_ASSERT_STRING_EQUAL(listed(&t, TL_CAT_CPU_OP),
                           "aten::linear@10 aten::addmm@12 AddmmBackward0@30 AddmmBackward0@50 aten::view@70 ");
    CU_ASSERT_STRING_EQUAL(listed(&t, TL_CAT_USER_ANNOTATION), "loss, part 1@81 ");
    CU_ASSERT_EQUAL_FATAL(t.events.n, 8);
    const tl_events *e = &t.events;
    CU_ASSERT(cat_of(&t, 2) == TL_CAT_FWDBWD && (e->flags[2] & TL_EVENT_PH_START) && e->ts_ns[2] == 12);
    CU_ASSERT(cat_of(&t, 3) == TL_CAT_FWDBWD && (e->flags[3] & TL_EVENT_PH_END) && e->ts_ns[3] == 30);
    CU_ASSERT_EQUAL(tl_event_corr(e, 2), tl_event_corr(e, 3));
    CU_ASSERT(tl_event_track(e, 2) == tl_event_track(e, 0) && tl_event_track(e, 3) == tl_event_track(e, 4));
    tl_trace_free(&t);
}

#define HEAD(schema) "x'01000000000000000" #schema "0000000000000018000000000000003800000000000000"

static void payloads_of_nccl_tell_bytes_and_ranks(void)
{
    tl_trace t = read_ranges(
        "INSERT INTO NVTX_EVENTS(start, end, eventType, text, globalTid, binaryData) VALUES"
        " (1, 2, 59, 'ncclCommInitRank', 1, " HEAD(8) "aa000000000000000400000002000000'),"
        " (3, 4, 59, 'ncclAllGather', 1, " HEAD(7) "aa0000000000000000010000000000000000000000000000'),"
        " (5, 6, 59, 'ncclSend', 1, " HEAD(7) "aa00000000000000000100000000000003000000'),"
        " (7, 8, 59, 'ncclAllReduce', 1, " HEAD(7) "bb0000000000000000010000000000000000'),"
        " (9, 10, 59, 'ncclAllReduce', 1, " HEAD(9) "bb'), (11, 12, 59, 'ncclAllReduce', 1, x'01'),"
        " (13, 14, 59, 'ncclAllReduce', 1, 'text'), (15, 16, 59, 'ncclGroupEnd', 1, NULL)");
    CU_ASSERT_STRING_EQUAL(listed(&t, TL_CAT_USER_ANNOTATION),
                           "ncclCommInitRank@1 nccl:all_gather@3 nccl:send 2->3@5 nccl:all_reduce@7 nccl:all_reduce@9 "
                           "nccl:all_reduce@11 nccl:all_reduce@13 ncclGroupEnd@15 ");
    const tl_coll_args *gather = tl_events_coll(&t.events, 1), *reduce = tl_events_coll(&t.events, 3);
    CU_ASSERT_FATAL(gather != NULL && reduce != NULL);
    CU_ASSERT(gather->in_nelems == 256 && gather->out_nelems == 1024 && gather->group_size == 4);
    CU_ASSERT_STRING_EQUAL(tl_names_text(&t.events.names, gather->pg_name).p, "NCCL 00000000000000aa");
    CU_ASSERT(reduce->in_nelems == 256 && reduce->out_nelems == 256 && reduce->group_size == -1);
    CU_ASSERT_PTR_NULL(tl_events_coll(&t.events, 5));
    tl_trace_free(&t);
}

/* ----------------------------------------------------------------------------------------------------------- damage */

/* What is damaged in the kernels of process 11; what its reading then says. */
static void a_bad_row_is_lost_alone_and_told(void)
{
    static const struct {
        const char *sql, *word;
        size_t kept, dropped;
    } cases[] = {
        { "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET start = 'soon'", "expected a time in whole nanoseconds", 2, 1 },
        { "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET start = NULL", "expected a start, found none", 2, 1 },
        { "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET start = -5", "expected a start of 0 ns or more", 2, 1 },
        { "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET start = 9223372036854775807", "no time", 2, 1 },
        { "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET streamId = x'00'", "expected a whole number", 2, 1 },
        { "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET end = NULL", "expected a dur, took 0", 3, 0 },
        { "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET end = -9223372036854775808", "expected a dur of 0 or more", 3, 0 },
        { "UPDATE StringIds SET value = x'00' WHERE id = 1", "expected a text", 2, 1 },
        { "DELETE FROM StringIds WHERE id = 1", "", 3, 0 },
        { "ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL RENAME COLUMN start TO begin", "no column of starts", 2, 0 },
        { "DROP TABLE StringIds", "no such table: StringIds", 0, 0 },
        { "DROP TABLE CUPTI_ACTIVITY_KIND_KERNEL", "", 2, 0 },
        { "DROP TABLE TARGET_INFO_SESSION_START_TIME", "", 3, 0 },
        { "UPDATE TARGET_INFO_SESSION_START_TIME SET utcEpochNs = -9", "", 3, 0 },
        { "DROP TABLE CUPTI_ACTIVITY_KIND_KERNEL; CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS WITH RECURSIVE n(i) AS "
          "(SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i AS start, i AS end, 0 AS deviceId, " TID(11, 0)
          " AS globalPid FROM n", "", 2, 0 },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        tl_status st;
        tl_trace t = read_part(database("bad.sqlite", job, cases[i].sql), "/pid-11", &st);
        CU_ASSERT_EQUAL(t.events.n, cases[i].kept);
        CU_ASSERT_EQUAL(t.report.dropped, cases[i].dropped);
        CU_ASSERT_PTR_NOT_NULL(strstr(t.report.first_bad, cases[i].word));
        CU_ASSERT_EQUAL(t.report.first_bad_byte >= 0, cases[i].word[0] != '\0');
        tl_trace_free(&t);
    }
}

/* Exports of 2019 have neither processes nor domains. */
static void columns_that_are_not_there_are_not_needed(void)
{
    tl_status st;
    const char *path = database("old.sqlite", job,
                                "CREATE TABLE k AS SELECT start, end, deviceId, streamId, correlationId, shortName FROM "
                                "CUPTI_ACTIVITY_KIND_KERNEL; DROP TABLE CUPTI_ACTIVITY_KIND_KERNEL; ALTER TABLE k RENAME "
                                "TO CUPTI_ACTIVITY_KIND_KERNEL; DROP TABLE CUPTI_ACTIVITY_KIND_MEMCPY; DROP TABLE "
                                "StringIds; CREATE TABLE StringIds(id INT, value TEXT); INSERT INTO StringIds VALUES"
                                "(2, 'gemm'), (3, 'cudaLaunchKernel')");
    CU_ASSERT_STRING_EQUAL(parts_of(path), "device-0 device-1 ");
    tl_trace t = read_part(path, "/device-1", &st);
    CU_ASSERT_EQUAL_FATAL(st, TL_OK);
    CU_ASSERT_STRING_EQUAL(name_of(&t, 0), "gemm");
    CU_ASSERT_EQUAL(t.events.ts_ns[0], 150);
    tl_trace_free(&t);
}

/* Whatever is cut off or changed, the reading ends, and a table that is damaged is told. */
static void a_damaged_file_ends_in_a_message(void)
{
    static char whole[1 << 18], bytes[sizeof whole];
    uint64_t seed = 7;
    tl_log_enable(false);
    FILE *f = fopen(database("two.sqlite", job, ""), "rb");
    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    size_t n = fread(whole, 1, sizeof whole, f);
    (void)fclose(f);
    for (int i = 0; i < 400; i++) {
        size_t length = i % 4 == 0 ? (size_t)(unit_random(&seed) % n) : n;
        tl_status st;
        tl_look look;
        memcpy(bytes, whole, n);
        for (int k = 0; i % 4 != 0 && k < 20; k++)
            bytes[unit_random(&seed) % n] = (char)unit_random(&seed);
        memcpy(bytes, "SQLite format 3", 16);
        const char *path = scratch_write("damaged.sqlite", bytes, length > 16 ? length : 16);
        (void)parts_of(path);
        tl_look_at(path, true, true, &look);
        tl_trace t = read_part(path, "", &st);
        CU_ASSERT(st != TL_OK || t.events.n > 0 || t.report.dropped > 0 || t.report.source_fault ||
                  t.report.filtered > 0);
        tl_trace_free(&t);
    }
    const char *cut = scratch_write("cut.sqlite", whole, n / 2);
    tl_look look;
    tl_status st;
    tl_look_at(cut, true, true, &look);
    tl_trace t = read_part(cut, "/pid-11", &st);
    CU_ASSERT(look.kind == TL_INPUT_UNREADABLE || st != TL_OK || t.report.cut);
    tl_trace_free(&t);
    t = read_part(scratch_write("cut.sqlite", whole, n - 1), "/pid-11", &st);
    CU_ASSERT(st == TL_OK && t.report.cut && strstr(t.report.first_bad, "; kept the rows before the end") != NULL);
    tl_trace_free(&t);
}

static void nothing_is_written_beside_the_file(void)
{
    tl_status st;
    const char *path = database("wal.sqlite", job, "PRAGMA journal_mode = WAL");
    char beside[1100];
    tl_trace t = read_part(path, "", &st);

    tl_trace_free(&t);
    snprintf(beside, sizeof beside, "%s-wal", path);
    CU_ASSERT_NOT_EQUAL(access(beside, F_OK), 0);
    snprintf(beside, sizeof beside, "%s-shm", path);
    CU_ASSERT_NOT_EQUAL(access(beside, F_OK), 0);
}

int main(void)
{
    static const unit_test tests[] = {
        TEST(each_process_with_work_is_a_part),
        TEST(rows_become_the_events_of_their_process),
        TEST(a_look_tells_what_one_process_was_started_with),
        TEST(times_count_from_the_session_or_the_clock),
        TEST(what_a_file_lacks_is_said),
        TEST(a_seq_joins_the_passes_once),
        TEST(payloads_of_nccl_tell_bytes_and_ranks),
        TEST(a_bad_row_is_lost_alone_and_told),
        TEST(columns_that_are_not_there_are_not_needed),
        TEST(a_damaged_file_ends_in_a_message),
        TEST(nothing_is_written_beside_the_file),
    };
    int failed = scratch_make() || unit_main("nsys", tests, COUNT(tests));
    return scratch_remove() || failed;
}
#else
int main(void)
{
    return 0;
}
#endif
