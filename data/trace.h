/* trace.h - the file of one rank while it is written: what its events and what stands around them share. */
#ifndef DATA_TRACE_H
#define DATA_TRACE_H

#include "chance.h"
#include "json.h"
#include "meet.h"

#define BASE_NS INT64_C(1751410836000000000)
#define LISTED 30                       /* a longer list, of ranks or sizes, is cut */

/* A process group of the rank. */
struct named_group {
    struct group group;
    char name[16];
    const char *description;
    char members[LISTED * 8 + 8];         /* "[0, 1, 2]" */
};

struct trace {
    struct json *json;
    struct format format;
    const struct job *job;
    int rank;
    struct window window;
    enum part part;
    int64_t index;                      /* Ev Idx of the next host event */
    unsigned streams;                   /* slots that had something to do */
    struct named_group groups[NAXES];   /* PREV and NEXT are not used: PP is both */
};

/* Names and members of the rank's process groups. */
void name_groups(struct trace *trace);

/* Who is who in the file: devices and hosts are processes, streams and host threads their threads. */
int device_of(const struct trace *trace);
int64_t host_pid(const struct trace *trace);
int64_t host_tid(const struct trace *trace, int thread);

/* A ts: true time, as the clock of the host shows it. */
void time_value(struct trace *trace, int64_t true_ns);

/* Ends the args and their event. */
void end_span(struct trace *trace);

/* A key and its value, on a new line where `line` says so (json_key). */
void arg_int(struct trace *trace, const char *key, int64_t value, bool line);
void arg_text(struct trace *trace, const char *key, const char *value, bool line);

/* The arguments of a collective, of its operator (with what only that has) or its kernel.  args.c */
void collective_args(struct trace *trace, const struct collective *collective, bool of_operator);

#endif
