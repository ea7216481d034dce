/* blame_tables.h - the tables of a result file about delays of the job, column by column: which rank waited for which,
 * the verdict on each rank and link, and what repairs would gain.  The final answer is in culprit_table.h. */
#ifndef TLMPI_MODEL_BLAME_TABLES_H
#define TLMPI_MODEL_BLAME_TABLES_H

#include "tlmpi/model/coll_tables.h"
#include "tlmpi/model/activity.h"
#include "tlmpi/model/schema.h"
#include "tlmpi/model/table.h"

#define TL_VERDICT_VALUES(V)                                                                                           \
    V(TL_VERDICT_OK, "ok", "not late, or late at little cost")                                                         \
    V(TL_VERDICT_STRAGGLER, "straggler", "it holds the job up")                                                        \
    V(TL_VERDICT_INCONCLUSIVE, "inconclusive", "the traces do not allow a verdict; reason says why")
typedef enum tl_verdict { TL_VERDICT_VALUES(TL_VALUE_NAME) } tl_verdict;
TL_LABELS(verdict);

#define TL_CAUSE_VALUES(V)                                                                                             \
    V(TL_CAUSE_UNKNOWN, "unknown", "nothing in the rank's own time explains the delay")                                \
    V(TL_CAUSE_COMPUTE_SLOW, "compute_slow", "some of its kernels are slower than the same ones elsewhere")            \
    V(TL_CAUSE_THROTTLED, "throttled", "a slow device: all its kernels are slower than elsewhere")                     \
    V(TL_CAUSE_MORE_WORK, "more_work", "it has more kernels, or larger ones, than others")                             \
    V(TL_CAUSE_HOST_LATE, "host_late", "its device waits for launches, because its CPU thread sleeps or works")        \
    V(TL_CAUSE_INPUT, "input", "its host waits for input data")                                                        \
    V(TL_CAUSE_H2D, "h2d", "copies from host to device")                                                               \
    V(TL_CAUSE_GC, "gc", "its host collects garbage")                                                                  \
    V(TL_CAUSE_SYNC_DRAIN, "sync_drain", "its host waits for the device, which then has nothing queued")               \
    V(TL_CAUSE_ALLOCATOR, "allocator", "its host allocates or frees device memory")                                    \
    V(TL_CAUSE_SLOW_LINK, "slow_link", "no rank is late, but data move slowly (table link)")                           \
    V(TL_CAUSE_OTHER_GROUP, "other_group", "communication that could not be matched")                                  \
    V(TL_CAUSE_MIXED, "mixed", "several causes, none of which has 80 % of the gain")                                   \
    V(TL_CAUSE_COPY, "copy", "copies from its device, within it or to another one take longer than elsewhere")
typedef enum tl_cause { TL_CAUSE_VALUES(TL_VALUE_NAME) } tl_cause;
TL_LABELS(cause);

/* Returns whether the cause lies in the host: something that it did, or did not do in time. */
bool tl_cause_is_of_host(tl_cause cause);

/* What the work of a rank is compared with. */
#define TL_AGAINST_VALUES(V)                                                                                           \
    V(TL_AGAINST_PEERS, "peers", "ranks that do the same work")                                                        \
    V(TL_AGAINST_STAGES, "stages", "other stages of a pipeline")                                                       \
    V(TL_AGAINST_OWN_STEPS, "own_steps", "its own other steps")
typedef enum tl_against { TL_AGAINST_VALUES(TL_VALUE_NAME) } tl_against;
TL_LABELS(against);

/* When a rank is late. */
#define TL_PATTERN_VALUES(V)                                                                                           \
    V(TL_PATTERN_NONE, "none", "no step is flagged")                                                                   \
    V(TL_PATTERN_PERSISTENT, "persistent", "80 % of the steps or more")                                                \
    V(TL_PATTERN_BOUNDED, "bounded", "consecutive steps, and few steps outside of them")                               \
    V(TL_PATTERN_SPORADIC, "sporadic", "some steps, not in a row")                                                     \
    V(TL_PATTERN_DRIFTING, "drifting", "the delay grows or shrinks from step to step")                                 \
    V(TL_PATTERN_ONE_OFF, "one_off", "a single step")
typedef enum tl_pattern { TL_PATTERN_VALUES(TL_VALUE_NAME) } tl_pattern;
TL_LABELS(pattern);

/* The source of a rank's steps in blame_step. */
#define TL_STEPS_FROM_VALUES(V)                                                                                        \
    V(TL_STEPS_MARKED, "marks", "the rank's own marks, of the profiler or of an inference server")                     \
    V(TL_STEPS_MET, "others", "the collectives that it shares with ranks that have marks")                             \
    V(TL_STEPS_RETURNED, "return", "no trace has marks: steps follow from the repetition of the collectives")          \
    V(TL_STEPS_NONE, "nothing", "the rank's time is in no step")
typedef enum tl_steps_from { TL_STEPS_FROM_VALUES(TL_VALUE_NAME) } tl_steps_from;
TL_LABELS(steps_from);

/* The evidence of how long a transfer should take. */
#define TL_EVIDENCE_VALUES(V)                                                                                          \
    V(TL_LINK_BY_GROUPS, "groups", "other links that carry the same")                                                  \
    V(TL_LINK_BY_STEPS, "steps", "the same link in other steps")
typedef enum tl_link_evidence { TL_EVIDENCE_VALUES(TL_VALUE_NAME) } tl_link_evidence;
TL_LABELS(link_evidence);

/* What has the excess. */
#define TL_EXCESS_VALUES(V)                                                                                            \
    V(TL_EXCESS_WORK, "work", "device time of a kernel or copy")                                                       \
    V(TL_EXCESS_HOST, "host", "host time of an operator, annotation or frame, without those inside of it")
typedef enum tl_excess_of { TL_EXCESS_VALUES(TL_VALUE_NAME) } tl_excess_of;
TL_LABELS(excess);

/* Waits in collectives, charged to the ranks that came late.  Times are GPU time, summed over all ranks that waited. */
#define TL_BLAME_FIELDS(F, T)                                                                                          \
    F(T, I32, to_rank, KEY, "", "the rank that arrived late and is charged")                                           \
    F(T, I32, step, KEY, "",                                                                                           \
      "step of the delay of to_rank: the step of the collective, or the step before for work after the last "          \
      "collective of that step; -1: none")                                                                             \
    F(T, I32, from_rank, KEY, "",                                                                                      \
      "for direct_ns the rank that waited; for indirect_ns the rank that other ranks waited for because it had "       \
      "waited for to_rank; -1: several ranks, in a group of more than 32")                                             \
    F(T, ENUM(activity), cause, KEY, "",                                                                               \
      "the activity in which the charged rank spent more time than its peers since its previous collective with them") \
    F(T, I32, waiters, LABEL, "", "greatest number of ranks that waited")                                              \
    F(T, I64, direct_ns, MEASURE, "ns", "time that from_rank waited for to_rank")                                      \
    F(T, I64, indirect_ns, MEASURE, "ns",                                                                              \
      "time that other ranks waited for from_rank, because from_rank had waited for to_rank")
TL_TABLE(blame, TL_BLAME_FIELDS);

/* The cost of each rank to the others, step by step. */
#define TL_BLAME_STEP_FIELDS(F, T)                                                                                     \
    F(T, I32, rank, KEY, "", "traced rank")                                                                            \
    F(T, I32, step, KEY, "", "step, -1 where the traces have none")                                                    \
    F(T, I64, blame_ns, MEASURE, "ns",                                                                                 \
      "GPU time: waits of all other ranks for the rank's work in the step, or for ranks that had waited for it; "      \
      "includes waits in the next step for work after the last collective. Waits outside of steps are in table blame " \
      "only")                                                                                                          \
    F(T, I64, excess_ns, MEASURE, "ns",                                                                                \
      "by how much the rank's own work in the step (of its device or its host, the larger excess) exceeds that of "    \
      "its peers, at most the length of the step; negative: less than its peers; 0: nothing to compare with")          \
    F(T, F64, z, MEASURE, "",                                                                                          \
      "excess of the rank's own work over its peers in the step (of its device or its host, the later one) / the "     \
      "scale of noise of its role; none: nothing to compare with")                                                     \
    F(T, I32, flagged, MEASURE, "",                                                                                    \
      "1: the rank is late in the step, and its repair contributes to the gain (straggler)")                           \
    F(T, I64, gain_ns, MEASURE, "ns",                                                                                  \
      "how much shorter the step would be without the excess of this rank in its flagged steps, simulated; 0: the "    \
      "rank is not named")                                                                                             \
    F(T, I64, step_ns, MEASURE, "ns",                                                                                  \
      "length of the step for the job, the same for all ranks: from the last end of the previous step on any rank to " \
      "the last end of this one; if unknown, the median length of the marks")
TL_TABLE(blame_step, TL_BLAME_STEP_FIELDS);

#define TL_SCENARIO_VALUES(V)                                                                                          \
    V(TL_SCENARIO_UNCHANGED, "unchanged", "the job as recorded")                                                       \
    V(TL_SCENARIO_IDEAL, "ideal",                                                                                      \
      "no rank and no transfer slower than the median of its peers in any whole step, by chance or not")               \
    V(TL_SCENARIO_LINKS, "links", "all slow links as fast as links like them (no row of a rank)")                      \
    V(TL_SCENARIO_RANK, "rank",                                                                                        \
      "one straggler no slower than the median of its peers in the steps in which it is late (16 rows of ranks and "   \
      "hosts at most)")                                                                                                \
    V(TL_SCENARIO_HOST, "host", "all stragglers of one host repaired likewise")                                        \
    V(TL_SCENARIO_CAUSE, "cause", "ideal for one activity only")                                                       \
    V(TL_SCENARIO_SUSPECTS, "suspects", "all stragglers and slow links repaired together, if there are several")       \
    V(TL_SCENARIO_GROUPS, "groups",                                                                                    \
      "ideal for the transfers in groups of one kind only, for the 8 kinds with most transfer")                        \
    V(TL_SCENARIO_BALANCED, "balanced",                                                                                \
      "the ranks of all roles (stages of a pipeline) compute equally long; negative gain: it takes longer")            \
    V(TL_SCENARIO_HOST_FREE, "host_free", "hosts take no time of their own; they wait for devices only")
typedef enum tl_scenario_kind { TL_SCENARIO_VALUES(TL_VALUE_NAME) } tl_scenario_kind;
/* "unchanged", "ideal", "links", "rank", "host", "cause", "suspects", "groups", "balanced", "host_free", NULL */
TL_LABELS(scenario);

/* The most kinds of groups, and the most hosts, that have rows in table whatif. */
enum { TL_SCENARIO_GROUPS_MOST = 8, TL_SCENARIO_HOSTS_MOST = 16 };

/* The time that the job would take in each scenario, simulated. */
#define TL_WHATIF_FIELDS(F, T)                                                                                         \
    F(T, ENUM(scenario), scenario, KEY, "", "what is changed in the replay")                                           \
    F(T, I32, rank, KEY, "",                                                                                           \
      "the repaired rank, for host its lowest rank; for balanced the lowest rank of the role that computes longest; "  \
      "-1: all ranks")                                                                                                 \
    F(T, ENUM(activity), cause, KEY, "",                                                                               \
      "the activity that is repaired: compute, h2d, copy, host_late (all host work) or sync_drain (waits for devices " \
      "that peers do not have); unknown: all of them")                                                                 \
    F(T, I32, group, KEY, "",                                                                                          \
      "for groups the first group of its kind in table group: groups of a kind have one description and size, or, "    \
      "without descriptions, the same size, the same distance of ranks, and are all within a host or all between "     \
      "hosts; else -1")                                                                                                \
    F(T, I64, time_ns, MEASURE, "ns", "wall time of the traced window, simulated")                                     \
    F(T, I64, gain_ns, MEASURE, "ns",                                                                                  \
      "time_ns of unchanged less time_ns of this scenario; negative: the scenario takes longer, as balanced may")      \
    F(T, F64, share, MEASURE, "",                                                                                      \
      "gain_ns / the time_ns of unchanged that all ranks have recorded. Gains of rows overlap, so shares do not sum "  \
      "up")                                                                                                            \
    F(T, F64, slowdown, MEASURE, "",                                                                                   \
      "for unchanged: time_ns of unchanged / that of ideal; for balanced: compute time of the longest role / mean of " \
      "the other roles; else none")                                                                                    \
    F(T, F64, model_error, MEASURE, "",                                                                                \
      "for unchanged: largest difference between a replayed and a measured time / the job's time; else 0")             \
    F(T, I64, unexplained_ns, MEASURE, "ns",                                                                           \
      "for unchanged: time of the critical path that no work, transfer or known wait explains, including time before " \
      "it in judged steps; a smaller gain is uncertain. For balanced: by how much the gain may be larger if waits of " \
      "unknown reason hide work. Else 0")
TL_TABLE(whatif_row, TL_WHATIF_FIELDS);

/* Returns the first row of a scenario and rank in table whatif; rank -1: all ranks together.  NULL: no such row. */
tl_whatif_row *tl_whatif_row_of(const tl_table *whatif, tl_scenario_kind scenario, int32_t rank);

/* The activities on the critical path: those of tl_activity_kind, then what lies before. */
#define TL_PATH_VALUES(V)                                                                                              \
    V(TL_ACTIVITY_COMPUTE, "compute", "kernels that compute")                                                          \
    V(TL_ACTIVITY_H2D, "h2d", "copies from host to device")                                                            \
    V(TL_ACTIVITY_COPY, "copy", "other copies and memsets")                                                            \
    V(TL_ACTIVITY_COMM, "communication",                                                                               \
      "communication after the last rank with a trace has arrived (transfer, and waiting for ranks without a trace)")  \
    V(TL_ACTIVITY_HOST, "host", "host work outside of the calls of the other activities")                              \
    V(TL_ACTIVITY_INPUT, "input", "hosts waiting for input")                                                           \
    V(TL_ACTIVITY_GC, "gc", "hosts collecting garbage")                                                                \
    V(TL_ACTIVITY_SYNC, "sync_drain", "hosts waiting for their device")                                                \
    V(TL_ACTIVITY_ALLOCATOR, "allocator", "hosts allocating or freeing device memory")                                 \
    V(TL_ACTIVITY_DEVICE, "latency",                                                                                   \
      "from a launch, or from the end of what was waited for, to the start of the work")                               \
    V(TL_PATH_BEFORE, "before", "before the recording of the path's first rank began")
TL_LABELS(path);
enum { TL_PATH_BEFORE = TL_NACTIVITIES }; /* time before a recording began, which explains nothing */

/* The chain of work, launches and transfers that determined the end of the job. */
#define TL_PATH_FIELDS(F, T)                                                                                           \
    F(T, I32, rank, KEY, "",                                                                                           \
      "rank, including a rank without a trace that the replay substitutes by another; -1: the whole path")             \
    F(T, ENUM(path), activity, KEY, "", "the activity on the path")                                                    \
    F(T, I64, path_ns, MEASURE, "ns",                                                                                  \
      "time on the path, which leaves a piece of work where the next piece that waited for it begins; the rows of "    \
      "rank -1 sum up to time_ns of unchanged in whatif")                                                              \
    F(T, I64, imbalance_ns, MEASURE, "ns",                                                                             \
      "for rank -1 and device work: path_ns less the mean of the activity over all ranks, on the path or not, which "  \
      "is the time that exists only because ranks differ; else 0")
TL_TABLE(path_row, TL_PATH_FIELDS);

/* Ranks between which data move slowly. */
#define TL_SLOW_LINK_FIELDS(F, T)                                                                                      \
    F(T, I32, link, KEY, "", "number")                                                                                 \
    F(T, I32, group, LABEL, "", "process group: its row in table group")                                               \
    F(T, TEXT64, ranks, LABEL, "", "ranks that take part in the slow collectives")                                     \
    F(T, I32, rank, LABEL, "", "the lower rank of a link of two; -1: more ranks take part")                            \
    F(T, I32, peer, LABEL, "", "the other rank of a link of two; -1: more ranks take part")                            \
    F(T, ENUM(link_evidence), evidence, LABEL, "", "what the link is compared with")                                   \
    F(T, ENUM(collective), kind, LABEL, "", "kind of collective with the largest surplus")                             \
    F(T, I64, bytes, LABEL, "byte", "size of its message")                                                             \
    F(T, I64, transfer_ns, MEASURE, "ns", "median transfer of that kind and size in the flagged steps")                \
    F(T, I64, elsewhere_ns, MEASURE, "ns", "expected transfer, from the comparison")                                   \
    F(T, F64, ratio, MEASURE, "", "transfer_ns / elsewhere_ns")                                                        \
    F(T, I64, excess_ns, MEASURE, "ns", "surplus of the transfers over the expected time, summed over collectives")    \
    F(T, F64, z, MEASURE, "", "surplus over the slow steps / the scale of noise of links like it")                     \
    F(T, ENUM(pattern), pattern, MEASURE, "", "as in table straggler")                                                 \
    F(T, I32, first_step, MEASURE, "", "first step of the pattern")                                                    \
    F(T, I32, last_step, MEASURE, "", "last step of the pattern")                                                      \
    F(T, F64, p_value, MEASURE, "", "as in table straggler")                                                           \
    F(T, I64, gain_ns, MEASURE, "ns", "wall time that the job would save without the surplus, simulated")
TL_TABLE(slow_link_row, TL_SLOW_LINK_FIELDS);

/* The verdict on each rank. */
#define TL_STRAGGLER_FIELDS(F, T)                                                                                      \
    F(T, I32, rank, KEY, "", "traced rank")                                                                            \
    F(T, ENUM(verdict), verdict, MEASURE, "", "the verdict on the rank")                                               \
    F(T, I64, blame_ns, MEASURE, "ns",                                                                                 \
      "GPU time: waits of all other ranks for this rank, or for ranks that had waited for it: the sum of its rows in " \
      "blame; without steps that are not whole on all ranks (table health)")                                           \
    F(T, I64, late_count, MEASURE, "",                                                                                 \
      "collectives in which the rank arrived last; not counted: sends and receives, suspect collectives, arrivals "    \
      "that the clocks cannot order, and collectives without all their ranks")                                         \
    F(T, F64, z, MEASURE, "",                                                                                          \
      "lateness over the late steps / the scale of noise of the role; none: the rank is not named")                    \
    F(T, F64, share_steps, MEASURE, "", "flagged steps / all whole steps (table blame_step)")                          \
    F(T, ENUM(pattern), pattern, MEASURE, "", "in which steps the rank is late")                                       \
    F(T, I32, first_step, MEASURE, "", "first step of the pattern; -1 without one")                                    \
    F(T, I32, last_step, MEASURE, "", "last step of the pattern; -1 without one")                                      \
    F(T, F64, p_value, MEASURE, "",                                                                                    \
      "probability of a z as large for any rank, link or set of steps of a job without late ranks, by Student's t; "   \
      "none: the rank is not named")                                                                                   \
    F(T, ENUM(cause), cause, MEASURE, "",                                                                              \
      "the activity that alone has 80 % of the gain of the repair; mixed: no activity has")                            \
    F(T, ENUM(cause), largest_cause, MEASURE, "",                                                                      \
      "the activity with the largest share of the gain; as `cause`, unless that is mixed")                             \
    F(T, F64, cause_share, MEASURE, "", "gain of repairing largest_cause alone / gain of the whole repair")            \
    F(T, TEXT128, place, MEASURE, "",                                                                                  \
      "kernel, or innermost annotation, operator or frame, that explains the excess over the peers; empty: none "      \
      "stands out")                                                                                                    \
    F(T, I64, gain_ns, MEASURE, "ns",                                                                                  \
      "simulated saving of wall time if the rank's work were like that of its peers in the late steps; -1: the rank "  \
      "is not named. For both ends of a slow_link: the gain of the link")                                              \
    F(T, F64, slowdown, MEASURE, "",                                                                                   \
      "wall time / (wall time - gain_ns), with the wall time that all ranks have recorded: how much slower the job "   \
      "is than with only this rank repaired; none: the rank is not named")                                             \
    F(T, ENUM(steps_from), steps_from, LABEL, "", "where the rank's steps come from")                                  \
    F(T, ENUM(against), against, LABEL, "",                                                                            \
      "what the rank is compared with: peers; if all of them are late, or there are none, other stages with equally "  \
      "many kernels of the same names, or its own other steps")                                                        \
    F(T, TEXT128, reason, MEASURE, "", "the reason for the verdict")
TL_TABLE(straggler, TL_STRAGGLER_FIELDS);

/* The work in which a straggler spends more time than its peers. */
#define TL_EXCESS_FIELDS(F, T)                                                                                         \
    F(T, I32, rank, KEY, "", "rank that is named")                                                                     \
    F(T, I32, order, KEY, "", "0, 1, 2: the largest excess first")                                                     \
    F(T, ENUM(excess), of, LABEL, "", "kind of time")                                                                  \
    F(T, TEXT128, place, LABEL, "", "that kernel, copy, operator, annotation or frame")                                \
    F(T, I64, own_ns, MEASURE, "ns",                                                                                   \
      "mean time in a flagged step of the rank; without marked steps, time in the whole trace")                        \
    F(T, I64, peers_ns, MEASURE, "ns", "the same of the ranks or steps in the comparison: their median")               \
    F(T, ENUM(against), against, LABEL, "", "what own_ns is compared with")
TL_TABLE(excess_row, TL_EXCESS_FIELDS);

#endif
