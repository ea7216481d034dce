/* kineto.h - events to the JSON file that PyTorch's profiler writes, in bounded memory. */
#ifndef DATA_KINETO_H
#define DATA_KINETO_H

#include "sim.h"

enum layout {
    LAYOUT_KINETO,      /* several keys a line, as the profiler itself writes */
    LAYOUT_ONELINE,     /* as Python's json.dump */
    LAYOUT_INDENT       /* as json.dump with indent=2 */
};

/* What process groups are called. */
enum naming {
    NAMING_MESH,        /* counted over the job, "mesh_tp" */
    NAMING_MEGATRON,    /* counted over the job, "TENSOR_MODEL_PARALLEL_GROUP" */
    NAMING_UNDEFINED,   /* counted over the job, "undefined" */
    NAMING_LOCAL        /* each process counts its own groups, so that groups of one name have different ranks */
};

struct format {
    enum layout layout;
    bool gzip;
    bool absolute;      /* ts is Unix time in whole microseconds, as before 2024; else from baseTimeNanoseconds on */
    bool no_seq, no_groups;     /* collectives carry no count; nothing at all */
    enum naming naming;
};

/* The kinds of events in the order in which their part of the file comes. */
enum part { PART_HOST, PART_FRAMES, PART_DEVICE, PART_DEVICE_ANNOTATIONS, NPARTS };

struct trace;

/* Starts the file of a rank, which holds what lies in the window; path NULL writes nowhere and only counts.  NULL:
 * it cannot be made, errno says why. */
struct trace *trace_open(const char *path, const struct format *format, const struct job *job, int rank,
                         const struct window *window);

/* An event_sink over all kinds: writes those of the part that is set. */
void trace_part(struct trace *trace, enum part part);
void trace_event(void *trace, const struct event *event);

/* Bytes of text so far. */
int64_t trace_bytes(const struct trace *trace);

/* What stands after the events; then closes and frees.  False: some byte could not be written, errno says why. */
bool trace_close(struct trace *trace);

#endif
