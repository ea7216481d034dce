/* side_table.h - the files beside traces: phases, memory timelines, execution traces. */
#ifndef TLMPI_MODEL_SIDE_TABLE_H
#define TLMPI_MODEL_SIDE_TABLE_H

#include "tlmpi/model/schema.h"

#define TL_SIDE_KIND_VALUES(V)                                                                                         \
    V(TL_SIDE_PHASES, "phases", "phases, as libtlmpi_record writes them")                                              \
    V(TL_SIDE_MEMORY, "memory", "a raw memory timeline")                                                               \
    V(TL_SIDE_EXECUTION, "execution", "an execution trace")
typedef enum tl_side_kind { TL_SIDE_KIND_VALUES(TL_VALUE_NAME) } tl_side_kind;
TL_LABELS(side_kind);

#define TL_SIDE_STATUS_VALUES(V)                                                                                       \
    V(TL_SIDE_OK, "ok", "read whole")                                                                                  \
    V(TL_SIDE_DAMAGED, "damaged", "lines were lost, or the text or its compressed stream is damaged")                  \
    V(TL_SIDE_CUT, "cut", "the text ends too early")                                                                   \
    V(TL_SIDE_EMPTY, "empty", "the file has no line, entry or node")                                                   \
    V(TL_SIDE_UNREADABLE, "unreadable", "nothing could be read")
typedef enum tl_side_status { TL_SIDE_STATUS_VALUES(TL_VALUE_NAME) } tl_side_status;
TL_LABELS(side_status);

/* Whether an execution trace could be linked to the Kineto trace, and by which of its ids. */
#define TL_EXECUTION_BY_VALUES(V)                                                                                      \
    V(TL_EXECUTION_BY_NOTHING, "none", "not an execution trace")                                                       \
    V(TL_EXECUTION_BY_RECORD, "record_function_id", "Record function id of events")                                    \
    V(TL_EXECUTION_BY_EXTERNAL, "external_id", "External id of events, where none has a record function id above 0")   \
    V(TL_EXECUTION_NO_IDS, "no_ids", "not linked: the trace has no ids")                                               \
    V(TL_EXECUTION_OTHER_PROCESS, "other_process", "not linked: the trace is of another process, so of another run")   \
    V(TL_EXECUTION_NO_TRACE, "no_trace", "not linked: no trace of its rank can be read")
typedef enum tl_execution_by { TL_EXECUTION_BY_VALUES(TL_VALUE_NAME) } tl_execution_by;
TL_LABELS(execution_by);

#define TL_SIDE_FILE_FIELDS(F, T)                                                                                      \
    F(T, ENUM(side_kind), kind, KEY, "", "what it is")                                                                 \
    F(T, I32, file, KEY, "", "number among the files of its kind, from 0, in order of paths")                          \
    F(T, ENUM(side_status), status, LABEL, "", "whether the whole file was read; entries before a fault count")        \
    F(T, I32, rank, LABEL, "",                                                                                         \
      "rank: for phases that of its records; else the one in its name, for an execution trace also that of its "       \
      "process, or the only rank; -1: several, none, or unknown")                                                      \
    F(T, I64, entries, MEASURE, "",                                                                                    \
      "records of phases; allocations, frees and changes of category; nodes with an id and an rf_id")                  \
    F(T, I64, lost, MEASURE, "",                                                                                       \
      "lost lines of phases: no JSON object, or its name, step, rank or duration is missing or invalid; nodes "        \
      "without an id or rf_id")                                                                                        \
    F(T, I64, repeated, MEASURE, "", "identical records in this file or again in a later one: each counts once")       \
    F(T, I64, superseded, MEASURE, "", "records of steps that were run again: the later records count")                \
    F(T, I64, replaced, MEASURE, "", "among these: records that a later file replaces, with other durations")          \
    F(T, I32, replaced_by, MEASURE, "", "the first such file; -1: none")                                               \
    F(T, I64, left_out, MEASURE, "", "records of phases beyond the 256 that take most time")                           \
    F(T, ENUM(execution_by), linked_by, LABEL, "", "which id of events is compared with a node's rf_id")               \
    F(T, I64, frames, MEASURE, "", "nodes that are a thread or the process, which have no event")                      \
    F(T, I64, linked, MEASURE, "", "nodes with an event; table execution_node says why others have none")              \
    F(T, TEXT256, error, SOURCE, "", "what is wrong, and at which byte of the text; empty: nothing")                   \
    F(T, TEXT256, path, SOURCE, "", "path of the file; of a longer one the last 255 bytes")
TL_TABLE(side_file, TL_SIDE_FILE_FIELDS);

#endif
