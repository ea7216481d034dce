/* damaged.h - a damaged text, read in two ways that must say the same: as a run does, and through yajl alone. */
#ifndef TLMPI_TESTS_TRACE_DAMAGED_H
#define TLMPI_TESTS_TRACE_DAMAGED_H

#include "scratch.h"
#include "tlmpi/trace/read/reader.h"
#include "unit.h"

static inline tl_trace read_one(const char *path, bool yajl_only, tl_status *st)
{
    const tl_read_options options = { .keep = TL_CAT_BIT(TL_CAT_KERNEL), .yajl_only = yajl_only };
    tl_trace trace;
    tl_error err = { 0 };
    *st = tl_trace_read(path, &options, &trace, &err);
    return trace;
}

static inline void check_same(const tl_trace *a, const tl_trace *b)
{
    const tl_read_report *x = &a->report, *y = &b->report;
    CU_ASSERT_EQUAL(a->events.n, b->events.n);
    CU_ASSERT_EQUAL(x->entries, y->entries);
    CU_ASSERT_EQUAL(x->kept, y->kept);
    CU_ASSERT_EQUAL(x->dropped, y->dropped);
    CU_ASSERT_EQUAL(x->repaired, y->repaired);
    CU_ASSERT_EQUAL(x->first_bad_byte, y->first_bad_byte);
    CU_ASSERT_STRING_EQUAL(x->first_bad, y->first_bad);
    CU_ASSERT_EQUAL(x->cut, y->cut);
    CU_ASSERT_EQUAL(x->source_fault, y->source_fault);
    CU_ASSERT_EQUAL(a->meta.rank, b->meta.rank);
    for (size_t i = 0; i < a->events.n && i < b->events.n; i++) {
        CU_ASSERT_EQUAL(tl_event_dur_ns(&a->events, i), tl_event_dur_ns(&b->events, i));
        CU_ASSERT_EQUAL(a->events.uid[i], b->events.uid[i]);
    }
}

static inline tl_trace read_text(const char *text)
{
    const char *path = scratch_text("damage.json", text);
    tl_status st[2];
    tl_trace first = read_one(path, false, &st[0]), other = read_one(path, true, &st[1]);
    CU_ASSERT_EQUAL(st[1], st[0]);
    check_same(&first, &other);
    tl_trace_free(&other);
    return first;
}

#define K(name, dur) "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"" name "\",\"ts\":1,\"dur\":" #dur ",\"args\":{\"stream\":7}}"
#define P(name) "{\"ph\":\"X\",\"cat\":\"python_function\",\"name\":\"" name "\",\"ts\":1,\"dur\":1}"
#define HEAD                                                                                                           \
    "{\"schemaVersion\": 1, \"deviceProperties\": [{\"id\": 0, \"name\": \"A100\"}, {\"id\": 1}], \"x\": {\"y\": [1, \"z\"]}, "        \
    "\"distributedInfo\": {\"backend\": \"nccl\", \"rank\": 5, \"world_size\": 8}, \"baseTimeNanoseconds\": 1700000000000000000, "  \
    "\"traceEvents\": [\n"
#define EVENTS K("a", 1) ",\n" P("p") ",\n" K("b", 2) ",\n" K("c", 3)
#define TAIL "\n], \"traceName\": \"t\"}\n"

#endif
