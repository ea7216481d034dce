/* trace.h - the file of one rank while it is written: what its events and what stands around them share. */
#ifndef DATA_TRACE_H
#define DATA_TRACE_H

#include "json.h"

#define BASE_NS INT64_C(1751410836000000000)
#define LISTED_RANKS 30                 /* a longer list of members is cut */

struct trace {
    struct json *json;
    struct format format;
    const struct job *job;
    int rank;
    enum part part;
    int64_t index;                      /* Ev Idx of the next host event */
    char members[LISTED_RANKS * 6 + 8]; /* "[0, 1, 2]" */
};

/* Who is who in the file: devices and hosts are processes, streams and host threads their threads. */
int device_of(const struct trace *trace);
int64_t host_pid(const struct trace *trace);
int64_t host_tid(const struct trace *trace, int thread);

/* A ts. */
void time_value(struct trace *trace, int64_t unix_ns);

/* Ends the args and their event. */
void end_span(struct trace *trace);

/* A key and its value, on a new line where `line` says so (json_key). */
void arg_int(struct trace *trace, const char *key, int64_t value, bool line);
void arg_text(struct trace *trace, const char *key, const char *value, bool line);

#endif
