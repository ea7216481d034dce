/* whatif.h - how long would the job have taken with changes that a user names?
 *
 *     scale        selected work takes its time times a factor.  Of communication only the transfer is scaled, from
 *                  the last arrival to the first end, if all ranks with a trace select it, and the time from there to
 *                  the end on each rank that selects it; waits for other ranks follow from it.  A call that frees
 *                  memory also waits for the device: a factor of 0 removes that wait with the call, other factors
 *                  leave it
 *     remove-sync  a call that waited for the device returns at once (20 us), if it is known which work released it;
 *                  so do blocking copies, calls that free memory, and unrecorded waits of the host.  A launch that
 *                  found the queue full still waits
 *     no-launch-overhead
 *                  the host takes no time between its launches and waits, and work may start when it is launched.
 *                  Named host activities stay: input, garbage collection, the allocator; and so do waits
 *     overlap      computing, copies and memsets no longer wait for the selected communication, neither by events nor
 *                  by stream order, but only for the work that it waited for on its rank.  Other communication, the
 *                  host, and the other ranks still wait for it
 *
 * A change selects work by a comma-separated list of conditions, which must all hold: KEY=TEXT, KEY!=TEXT,
 * KEY~REGEX, KEY!~REGEX; keys: name, operator, annotation (the innermost around the launch), kind, rank, step (of
 * the launch).
 *
 * The replay is that of the verdict (replay.h).  Residual latency (rest), which no edge explains, stays, and so
 * do the times of work launched before the recording.  May use graph, baseline and replay.
 */
#ifndef TLMPI_ANALYSIS_VERDICT_WHATIF_H
#define TLMPI_ANALYSIS_VERDICT_WHATIF_H

#include "tlmpi/analysis/verdict/replay.h"
#include "tlmpi/base/ranges.h"
#include "tlmpi/model/blame_tables.h"
#include "tlmpi/model/names.h"
#include "tlmpi/model/path_tables.h"
#include "tlmpi/model/table.h"
#include <regex.h>

/* --------------------------------------------------------------------------------------------------------- changes */

typedef enum tl_whatif_sort {
    TL_WHATIF_SCALE,
    TL_WHATIF_OVERLAP,
    TL_WHATIF_REMOVE_SYNC,
    TL_WHATIF_NO_LAUNCH_OVERHEAD,
    TL_WHATIF_FASTER /* read as a SCALE by TL_WHATIF_FASTER_PERCENT less */
} tl_whatif_sort;

typedef struct tl_whatif_condition {
    uint8_t key;      /* index of the key in changes.c */
    bool wanted;      /* false: of != and !~ */
    bool has_pattern; /* of ~ and !~ */
    const char *text; /* behind = or ~; part of `words` */
    regex_t pattern;
    tl_ranges numbers; /* of rank and step */
} tl_whatif_condition;

typedef struct tl_whatif_change {
    const char *text; /* borrowed from the caller */
    char *words;      /* a copy of the text, cut into conditions */
    uint8_t sort;     /* tl_whatif_sort; FASTER is stored as SCALE */
    double factor;    /* of SCALE, at most TL_WHATIF_MOST; else 1 */
    TL_VEC(tl_whatif_condition) conditions;
} tl_whatif_change;

typedef TL_VEC(tl_whatif_change) tl_whatif_changes;

/* By how many percent work is shortened to measure the job's gain. */
enum { TL_WHATIF_FASTER_PERCENT = 10 };

/* Largest factor of a change: even weeks scaled by it are representable in ns. */
enum { TL_WHATIF_MOST = 1000 };

/* Appends a change.  text: of SCALE "CONDITIONS:FACTOR", of OVERLAP "CONDITIONS", of FASTER one condition, whose value
 * may contain commas and colons; of other sorts their names.  The text must outlive the change.  TL_EUSAGE.
 * tl_whatif_changes_free ends the list in any case. */
tl_status tl_whatif_change_read(tl_whatif_sort sort, const char *text, tl_whatif_changes *changes, tl_error *err);
void tl_whatif_changes_free(tl_whatif_changes *changes);

/* Returns whether the change selects work of the rank in its steps; the other, whether it selects the step.  A label
 * without a name is host work, and `kind` its tl_activity_kind. */
bool tl_whatif_selects(const tl_whatif_change *change, int32_t rank, const tl_node_label *label);
bool tl_whatif_selects_step(const tl_whatif_change *change, int32_t step);

/* --------------------------------------------------------------------------------------------------------- answers */

#define TL_WHATIF_CHANGE_FIELDS(F, T)                                                                                  \
    F(T, I32, place, KEY, "", "number of the change, from 1; 0: all changes together")                                 \
    F(T, I64, pieces, MEASURE, "", "kernels, waits and pieces of host work that the change selects, on all ranks")     \
    F(T, I64, own_ns, MEASURE, "ns",                                                                                   \
      "recorded time of the selection, summed over ranks: durations; for communication the time after the last "       \
      "arrival (up to the first end once for all ranks, then for each rank); for waits and overlapped work the whole " \
      "call or kernel")                                                                                                \
    F(T, I64, left_ns, MEASURE, "ns",                                                                                  \
      "selected time that cannot be changed: waiting calls whose release is unknown; waits for the device in calls "   \
      "that free memory, unless the factor is 0; transfers that are not selected on all ranks with a trace")           \
    F(T, I64, time_ns, MEASURE, "ns", "the job's time with this change alone")                                         \
    F(T, I64, gain_ns, MEASURE, "ns",                                                                                  \
      "the job's recorded time less time_ns; negative if the change makes the job longer")                             \
    F(T, F64, share, MEASURE, "", "gain_ns / the job's recorded time")                                                 \
    F(T, TEXT128, change, LABEL, "", "the change")
TL_TABLE(whatif_change_row, TL_WHATIF_CHANGE_FIELDS);

#define TL_WHATIF_PART_VALUES(V)                                                                                       \
    V(TL_WHATIF_WHOLE, "whole", "all ranks have recorded all of it")                                                   \
    V(TL_WHATIF_CUT, "cut", "a part of the step is missing in the recording of at least one rank")                     \
    V(TL_WHATIF_BEFORE, "before", "time before the first step")                                                        \
    V(TL_WHATIF_AFTER, "after", "time after the last step")
typedef enum tl_whatif_part { TL_WHATIF_PART_VALUES(TL_VALUE_NAME) } tl_whatif_part;
TL_LABELS(whatif_part);

#define TL_WHATIF_STEP_FIELDS(F, T)                                                                                    \
    F(T, ENUM(whatif_part), part, KEY, "", "which part of the job's time the row describes")                           \
    F(T, I32, step, KEY, "", "its number; -1 for none")                                                                \
    F(T, I64, recorded_ns, MEASURE, "ns",                                                                              \
      "from the last end of the previous step on any rank to the last end of this one: ends of device work and of "    \
      "waits for device work. Host work after the last end of all is in no step here; table path_sum has it in the "   \
      "window of its step")                                                                                            \
    F(T, I64, time_ns, MEASURE, "ns", "the same with all changes")                                                     \
    F(T, I64, gain_ns, MEASURE, "ns", "recorded_ns - time_ns")                                                         \
    F(T, F64, share, MEASURE, "", "gain_ns / recorded_ns")                                                             \
    F(T, ENUM(bound), recorded_bound, MEASURE, "",                                                                     \
      "what the recorded time is bound by: the largest part of the ranks' critical paths to the work of the step, as " \
      "in table path_sum")                                                                                             \
    F(T, F64, recorded_bound_share, MEASURE, "", "the share of that part in these paths")                              \
    F(T, ENUM(bound), bound, MEASURE, "", "what the time with all changes is bound by")                                \
    F(T, F64, bound_share, MEASURE, "", "the share of that part in the paths with all changes")                        \
    F(T, F64, unsure, MEASURE, "",                                                                                     \
      "share by which time_ns may be wrong: the part of the paths with all changes that nothing known explains; what " \
      "kernels lose beside communication, if more or less of them run beside it than recorded; the error of clocks "   \
      "for each collective to which another rank comes last than recorded; and of the first step what it would "       \
      "differ by if ranks had begun to record as far apart as they come to the second step")
TL_TABLE(whatif_step, TL_WHATIF_STEP_FIELDS);

#define TL_WHATIF_PATH_FIELDS(F, T)                                                                                    \
    F(T, ENUM(path), activity, KEY, "", "as in table critical_path")                                                   \
    F(T, I64, recorded_ns, MEASURE, "ns", "its part of the critical path as recorded")                                 \
    F(T, I64, time_ns, MEASURE, "ns", "its part of the critical path with all changes")                                \
    F(T, F64, share, MEASURE, "", "time_ns / the job's time with all changes")                                         \
    F(T, I32, rank, LABEL, "", "the rank with most of that time, with all changes; ties: the lowest; -1: none")        \
    F(T, I64, rank_ns, MEASURE, "ns", "the part on that rank")
TL_TABLE(whatif_path, TL_WHATIF_PATH_FIELDS);

#define TL_WHATIF_OF_VALUES(V)                                                                                         \
    V(TL_WHATIF_OF_KERNEL, "kernel", "kernels, copies and memsets of one name")                                        \
    V(TL_WHATIF_OF_OPERATOR, "operator", "work whose innermost operator has one name")
typedef enum tl_whatif_of { TL_WHATIF_OF_VALUES(TL_VALUE_NAME) } tl_whatif_of;
TL_LABELS(whatif_of);

#define TL_WHATIF_TOP_FIELDS(F, T)                                                                                     \
    F(T, I32, place, KEY, "", "1 for the largest gain, and so on")                                                     \
    F(T, ENUM(whatif_of), of, LABEL, "", "what the work has in common")                                                \
    F(T, I64, pieces, MEASURE, "", "kernels, copies and memsets on all ranks")                                         \
    F(T, I64, total_ns, MEASURE, "ns", "their recorded time, as own_ns of whatif_change")                              \
    F(T, I64, gain_ns, MEASURE, "ns", "the job's gain if this work takes 10 % less time on all ranks")                 \
    F(T, F64, percent_ns, MEASURE, "ns",                                                                               \
      "gain_ns / 10: the mean gain for each percent; the first percent may gain more than the tenth")                  \
    F(T, F64, share, MEASURE, "", "gain_ns / the job's recorded time")                                                 \
    F(T, TEXT256, name, LABEL, "", "name of the kernel or operator, cut after 255 bytes")
TL_TABLE(whatif_top, TL_WHATIF_TOP_FIELDS);

/* Input and output of a study.  Zero-initialise; tl_whatif_free ends it. */
typedef struct tl_whatif_study {
    tl_whatif_changes changes;
    int64_t top; /* number of rows of table whatif_top */
    tl_table change_rows, step_rows, path_rows, top_rows;
    int64_t recorded_ns, time_ns; /* time of the job: as recorded (0: nothing was replayed); with all changes */
    int64_t error_ns;             /* by how much the replay without a change misses the recorded time of any node: 0 */
    int64_t recorded_unexplained_ns, unexplained_ns; /* part of the critical path that no work, transfer or launch
                                                      * explains: as recorded; with all changes */
    int64_t unmatched_ns; /* scaled communication of which no other rank's part is known, waiting included */
    int64_t unsure_ns;    /* by how much all steps may be wrong, besides unexplained_ns */
    int64_t untraced_ns;  /* part of the critical path with all changes that waits for ranks without a trace */
} tl_whatif_study;

void tl_whatif_free(tl_whatif_study *study);

/* ----------------------------------------------------------------------------------------------------------- replay */

typedef struct tl_whatif_input {
    tl_job_graph *graph;
    const tl_baseline *baseline;
    const tl_names *names;              /* of the work of all ranks */
    const tl_folded *folded;            /* [graph->nranks] unchanged */
    const int64_t *step_ns;             /* [baseline->nsteps] */
    const int32_t *ranks;               /* [graph->nranks] */
    int64_t start_ns, end_ns, error_ns; /* as in tl_findings */
    int64_t clock_error_ns;             /* by how much the clocks of two ranks may be apart */
} tl_whatif_input;

/* On proc 0: runs the study, asking WHATIF and PATH.  Afterwards the graph, there and on the procs of the ranks, is
 * that of the job with all changes. */
void tl_whatif_find(const tl_whatif_input *input, tl_whatif_study *study);

/* On the proc of the rank: answers WHATIF.  Returns whether *graph was replaced by the changed graph: the caller must
 * then open the rank again. */
bool tl_whatif_answer(const tl_open_rank *rank, const tl_work_class_map *class_map, tl_final_graph *graph, tl_bytes *in,
                      tl_bytes *out);

#endif
