/* meta.h - the metadata of a trace outside traceEvents: rank, base time, devices, groups.
 *
 * Input: the text around the array, valid or damaged, or only the last bytes of a file.  May use: text.
 *
 * The keys may come before or after the array, in any order (an on-demand trace has distributedInfo after it, a 2025
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
    char *name, *desc; /* owned; NULL: absent */
    int32_t *ranks;    /* owned */
    size_t nranks, ranks_cap;
} tl_pg_config;

/* Libraries whose version a trace may have. */
typedef enum tl_library {
    TL_PYTORCH,
    TL_CUDA,
    TL_CUDA_DRIVER,
    TL_HIP,
    TL_HIP_DRIVER,
    TL_NCCL, /* for AMD devices RCCL */
    TL_CUPTI,
    TL_NLIBRARIES
} tl_library;

/* Start from TL_META_INIT; tl_meta_free ends it. */
typedef struct tl_meta {
    int64_t rank, world_size; /* distributedInfo; -1: absent */
    bool has_base;
    int64_t base_ns;                 /* baseTimeNanoseconds, below TL_BASE_LIMIT; 0: absent, and ts is Unix time */
    bool bad_base;                   /* the last baseTimeNanoseconds is not a valid whole number */
    int64_t ndevices;                /* entries of deviceProperties; -1: absent */
    char device[64];                 /* name of the first device; empty: absent */
    char backend[64];                /* distributedInfo.backend */
    char host[128];                  /* host_name or similar; empty: absent */
    char trace_name[256];            /* traceName */
    char library[TL_NLIBRARIES][24]; /* version as text; empty: absent */
    bool has_schema, has_nodes;      /* top-level keys of an execution trace */
    bool has_trace_keys;             /* top-level keys that only a trace has */
    TL_VEC(tl_pg_config) groups;
} tl_meta;

/* Base times from here on (the year 2116) are invalid: adding ts and dur could overflow 64 bits. */
#define TL_BASE_LIMIT (INT64_C(1) << 61)

#define TL_META_INIT                                                                                                   \
    {                                                                                                                  \
        .rank = -1, .world_size = -1, .ndevices = -1                                                                   \
    }

/* Reads the document `text` (n bytes; traceEvents may be empty) into *meta.  Values before a fault are kept; TL_EINPUT
 * then gives the byte and what was expected. */
tl_status tl_meta_parse(const char *text, size_t n, tl_meta *meta, tl_error *err);

void tl_meta_free(tl_meta *meta);

/* Writes the versions in the trace, "CUDA 12.4, CUDA driver 12.9, NCCL 2.21.5", into a text of n bytes. */
void tl_meta_libraries(const tl_meta *meta, char *out, size_t n);

/* Reads the text around the array into *meta; if the splitter has found a fault in the text, reads what can be
 * recognised.  TL_EINPUT: the text is not JSON although the splitter accepted it, or it is too long; values before the
 * fault are kept. */
tl_status tl_document_read(const tl_split *split, tl_meta *meta, tl_error *err);

/* Adds rank and base time from the last MiB of the text to *meta.  An uncompressed file is read at its end; a
 * compressed file is inflated to its end from the source's position; `after`: the text that the source returned last.
 * *meta is unchanged if nothing is found. */
void tl_tail_read(const char *path, tl_source *source, tl_text after, tl_meta *meta);

#endif
