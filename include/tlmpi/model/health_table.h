/* health_table.h - defects of the recording itself, and what was done about each.
 *
 * Each defect of a rank in a step is one row, no matter which analysis finds it:
 *
 *     tl_health_add(health, (tl_health){ .rank = 3, .defect = TL_DEFECT_LOST, .step = 12, .count = 15, .of = 48 })
 *
 * The kind of a defect decides what is done about the defect.  A new kind is one line in TL_DEFECTS; the analysis that
 * finds the defect appends its rows: the rows of a rank when that rank is analysed, the rows of the job on proc 0.
 */
#ifndef TLMPI_MODEL_HEALTH_TABLE_H
#define TLMPI_MODEL_HEALTH_TABLE_H

#include "tlmpi/model/schema.h"
#include "tlmpi/model/table.h"

/* What is done about a defect. */
#define TL_REMEDY_VALUES(V)                                                                                            \
    V(TL_REMEDY_TOLD, "told", "it is reported only")                                                                   \
    V(TL_REMEDY_NOT_JUDGED, "not_judged", "the rank is not judged in the step")                                        \
    V(TL_REMEDY_LEFT_OUT, "left_out", "no rank is judged in the step; shares and costs exclude it")
typedef enum tl_remedy { TL_REMEDY_VALUES(TL_VALUE_NAME) } tl_remedy;
TL_LABELS(remedy);

/* D(kind, label, what is done, meaning) */
#define TL_DEFECTS(D)                                                                                                  \
    D(LOST, "work_lost", NOT_JUDGED,                                                                                   \
      "launches of kernels, copies and graphs whose work is not in the trace, though "                                 \
      "work launched before and after them is; idle there may be work")                                                \
    D(LOST_AT_BEGIN, "work_lost_at_begin", NOT_JUDGED, "launches before the first whose work is in the trace")         \
    D(LOST_AT_END, "work_lost_at_end", NOT_JUDGED,                                                                     \
      "launches of a stream after the last of it whose work is in the trace, for which no call waited: it may not "    \
      "have run by then")                                                                                              \
    D(BEGINS_LATER, "begins_later", LEFT_OUT,                                                                          \
      "the recording of the rank begins later than those of others: what others wait there is not known to be "        \
      "waiting")                                                                                                       \
    D(ENDS_EARLIER, "ends_earlier", LEFT_OUT, "the recording of the rank ends earlier than those of others")           \
    D(NOT_WHOLE, "step_not_whole", LEFT_OUT, "not all ranks of the job have the whole step")                           \
    D(NO_LAUNCH, "launch_lost", TOLD,                                                                                  \
      ("device work whose launch is not in the trace, after work of its stream whose launch is: what released it is "  \
       "unknown"))

#define TL_DEFECT_VALUE(kind, label, remedy, meaning) TL_DEFECT_##kind,
typedef enum tl_defect { TL_DEFECTS(TL_DEFECT_VALUE) TL_NDEFECTS } tl_defect;
TL_LABELS(defect);

#define TL_HEALTH_FIELDS(F, T)                                                                                         \
    F(T, I32, rank, KEY, "", "traced rank; -1: the job")                                                               \
    F(T, ENUM(defect), defect, KEY, "", "what is wrong")                                                               \
    F(T, I32, step, KEY, "", "profiler step; -1: in no step, or the whole recording")                                  \
    F(T, I64, count, MEASURE, "",                                                                                      \
      "number of launches; for a recording that begins or ends at another time than the others, number of steps")      \
    F(T, I64, of, MEASURE, "", "number of cases in which the check was made")                                          \
    F(T, I64, time_ns, MEASURE, "ns",                                                                                  \
      "time for which the truth is unknown: idle time that may be work; how much later a recording begins, or how "    \
      "much earlier it ends; the length of a step that is not whole")                                                  \
    F(T, ENUM(remedy), done, LABEL, "", "what tlmpi does about it")
TL_TABLE(health, TL_HEALTH_FIELDS);

/* Appends the row, and sets `done` by the row's defect. */
void tl_health_add(tl_table *health, tl_health row);

/* Returns whether some rank lacks a part of the step (TL_DEFECT_NOT_WHOLE).  Rows must be in key order, in which the
 * job's rows come first. */
bool tl_step_is_left_out(const tl_table *health, int32_t step);

/* Returns ns, a time of the job, less the time of the steps that are left out; ns if nothing would remain. */
int64_t tl_whole_steps_ns(const tl_table *health, int64_t ns);

/* Returns whether the defect is lost work: the rank is then not judged in the step. */
static inline bool tl_is_lost(uint8_t defect)
{
    return defect <= TL_DEFECT_LOST_AT_END;
}

#endif
