/* lens_rank.h - a trace in words, linked as TraceLens does; for the tests of its face. */
#ifndef TLMPI_TESTS_LENS_RANK_H
#define TLMPI_TESTS_LENS_RANK_H

#include "scratch.h"
#include "src/compat/tracelens/lens.h"
#include "unit.h"
#include <math.h>

#define TRACE(entries) "{\"schemaVersion\": 1, \"traceEvents\": [" entries "]}"
#define ENTRY(cat, name, pid, tid, ts, dur, args)                                                                      \
    "{\"ph\":\"X\",\"cat\":\"" cat "\",\"name\":\"" name "\",\"pid\":" pid ",\"tid\":" tid ",\"ts\":" ts               \
    ",\"dur\":" dur ",\"args\":{" args "}}"
#define KERNEL(name, corr, ts, dur) \
    ENTRY("kernel", name, "0", "7", ts, dur, "\"stream\":7,\"correlation\":" corr)
#define CALL(name, corr, ts, dur) ENTRY("cuda_runtime", name, "1", "1", ts, dur, "\"correlation\":" corr)
#define LAUNCH(corr, ts, dur) CALL("cudaLaunchKernel", corr, ts, dur)
#define COPY(args, ts, dur) ENTRY("cuda_runtime", "hipMemcpyAsync", "1", "1", ts, dur, args)
#define OP(name, ts, dur) ENTRY("cpu_op", name, "1", "1", ts, dur, "")
#define FRAME(name, ts, dur) ENTRY("python_function", name, "1", "2", ts, dur, "")
#define START(id) "{\"ph\":\"s\",\"id\":" id ",\"pid\":1,\"tid\":1,\"ts\":1,\"cat\":\"ac2g\",\"name\":\"ac2g\"}"
#define END(id) "{\"ph\":\"f\",\"id\":" id ",\"pid\":0,\"tid\":7,\"ts\":1,\"cat\":\"ac2g\",\"name\":\"ac2g\"}"
#define FLOW(id) START(id) "," END(id)

#define MICRO "\302\265"

/* A trace, what TraceLens sees in it, and its gaps. */
typedef struct rank {
    tl_trace trace;
    tl_verbatim words;
    tl_lens lens;
    tl_lens_idle idle;
} rank;

static inline void load(rank *r, const char *text)
{
    const tl_entry_hook hook = tl_verbatim_hook(&r->words, true);
    const tl_read_options options = { .keep = ~0u, .hook = &hook };
    tl_error err;
    *r = (rank){ .lens = { 0 } };
    CU_ASSERT_EQUAL_FATAL(tl_trace_read(scratch_text("rank.json", text), &options, &r->trace, &err), TL_OK);
    r->lens = tl_lens_open(&r->trace, &r->words);
    r->idle = tl_lens_idle_of(&r->lens);
}

static inline void unload(rank *r)
{
    tl_lens_idle_free(&r->idle);
    tl_lens_free(&r->lens);
    tl_trace_free(&r->trace);
    tl_verbatim_free(&r->words);
}

static inline const char *word(const rank *r, uint32_t id)
{
    return tl_names_text(&r->idle.words, id).p;
}

#endif
