/* meta.h - what a trace says about itself outside traceEvents: rank, base time, devices, groups.
 *
 * From the text around the array, whole or damaged, or from the last bytes of a file alone.  May use: text.
 *
 * The keys may stand before or after the array, in any order (an on-demand trace has distributedInfo after it, a 2025
 * trace baseTimeNanoseconds).
 */
#ifndef TLMPI_TRACE_META_H
#define TLMPI_TRACE_META_H

#include "tlmpi/base/mem.h"
#include "tlmpi/base/status.h"
#include "tlmpi/base/text.h"
#include "tlmpi/trace/text/source.h"
#include "tlmpi/trace/text/split.h"
#include <stdbool.h>
#include <stdint.h>

/* A process group of distributedInfo.pg_config. */
typedef struct tl_pg_config {
    char *name, *desc; /* owned; NULL where absent */
    int32_t *ranks;    /* owned */
    size_t nranks, ranks_cap;
} tl_pg_config;

/* Libraries whose version a trace may tell. */
typedef enum tl_library {
    TL_PYTORCH,
    TL_CUDA,
    TL_CUDA_DRIVER,
    TL_HIP,
    TL_HIP_DRIVER,
    TL_NCCL, /* of AMD's devices RCCL */
    TL_CUPTI,
    TL_NLIBRARIES
} tl_library;

/* Start from TL_META_INIT; tl_meta_free ends it. */
typedef struct tl_meta {
    int64_t rank, world_size; /* distributedInfo; -1 where absent */
    bool has_base;
    int64_t base_ns;            /* baseTimeNanoseconds, below TL_BASE_LIMIT; 0 where absent: ts is Unix time then */
    bool bad_base;              /* the last baseTimeNanoseconds is not a valid whole number */
    int64_t ndevices;           /* entries of deviceProperties; -1 where absent */
    char device[64];            /* name of the first device; empty where absent */
    char backend[64];           /* distributedInfo.backend */
    char host[128];             /* host_name or the like; empty where absent */
    char trace_name[256];       /* traceName */
    char library[TL_NLIBRARIES][24]; /* version, as the trace writes it; empty where absent */
    bool has_schema, has_nodes; /* top-level keys of an execution trace, which is no Kineto trace */
    bool has_trace_keys;        /* top-level keys that nothing but a trace has */
    TL_VEC(tl_pg_config) groups;
} tl_meta;

/* A base time from this limit on (the year 2116) is invalid: adding ts and dur could overflow 64 bits. */
#define TL_BASE_LIMIT (INT64_C(1) << 61)

#define TL_META_INIT                                                                                                   \
    {                                                                                                                  \
        .rank = -1, .world_size = -1, .ndevices = -1                                                                   \
    }

/* Reads the document `text` (n bytes; traceEvents may have been emptied) into *meta.  What was read before a fault
 * stays; TL_EINPUT then names the byte and what was expected. */
tl_status tl_meta_parse(const char *text, size_t n, tl_meta *meta, tl_error *err);

void tl_meta_free(tl_meta *meta);

/* The versions that the trace tells, "CUDA 12.4, CUDA driver 12.9, NCCL 2.21.5", into a text of n bytes. */
void tl_meta_libraries(const tl_meta *meta, char *out, size_t n);

/* Reads the text around the array into *meta; where the splitter has found a fault in the text, reads what can be
 * recognised.  TL_EINPUT: the text is not the JSON that the splitter took it for, or too long; values read before
 * the fault stay. */
tl_status tl_document_read(const tl_split *split, tl_meta *meta, tl_error *err);

/* Adds to *meta the rank and base time from the last MiB of the text.  A plain file is read at its end; a compressed
 * file is inflated to its end from where the source stands, and `after` is the text that the source gave last.
 * Where nothing is found, *meta stays as it is. */
void tl_tail_read(const char *path, tl_source *source, tl_text after, tl_meta *meta);

#endif
