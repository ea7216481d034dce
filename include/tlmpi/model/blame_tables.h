/* blame_tables.h - the tables of a result file about delays of the job, column by column: which rank waited for which,
 * the verdict on each rank and link, and what repairs would gain.  The final answer is in culprit_table.h. */
#ifndef TLMPI_MODEL_BLAME_TABLES_H
#define TLMPI_MODEL_BLAME_TABLES_H

#include "tlmpi/model/coll_tables.h"
#include "tlmpi/model/activity.h"
#include "tlmpi/model/schema.h"
#include "tlmpi/model/table.h"

#define TL_VERDICT_VALUES(V)                                                                                           \
    V(TL_VERDICT_OK, "ok", "not late, or at little cost")                                                              \
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
    V(TL_AGAINST_PEERS, "peers", "ranks that do the same")                                                             \
    V(TL_AGAINST_STAGES, "stages", "other stages of a pipeline")                         \
    V(TL_AGAINST_OWN_STEPS, "own_steps", "its own other steps")
typedef enum tl_against { TL_AGAINST_VALUES(TL_VALUE_NAME) } tl_against;
TL_LABELS(against);

/* When a rank is late. */
#define TL_PATTERN_VALUES(V)                                                                                           \
    V(TL_PATTERN_NONE, "none", "no step is flagged")                                                                   \
    V(TL_PATTERN_PERSISTENT, "persistent", "80 % of the steps or more")                                                \
    V(TL_PATTERN_BOUNDED, "bounded", "one run of steps, and little outside of it")                                     \
    V(TL_PATTERN_SPORADIC, "sporadic", "some steps, not in a row")                                                     \
    V(TL_PATTERN_DRIFTING, "drifting", "it grows or shrinks from step to step")                                        \
    V(TL_PATTERN_ONE_OFF, "one_off", "a single step")
typedef enum tl_pattern { TL_PATTERN_VALUES(TL_VALUE_NAME) } tl_pattern;
TL_LABELS(pattern);

/* The source of a rank's steps in blame_step. */
#define TL_STEPS_FROM_VALUES(V)                                                                                        \
    V(TL_STEPS_MARKED, "marks", "its own marks, of the profiler or of a server")                                       \
    V(TL_STEPS_MET, "others", "the collectives that it shares with ranks that have marks")                             \
    V(TL_STEPS_RETURNED, "return", "no trace has marks: a step is after what collectives return")                      \
    V(TL_STEPS_NONE, "nothing", "nothing: its time is in no step")
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
    V(TL_EXCESS_WORK, "work", "of the device in a kernel or copy")                                                     \
    V(TL_EXCESS_HOST, "host", "of the host in a name, and in none inside of it")
typedef enum tl_excess_of { TL_EXCESS_VALUES(TL_VALUE_NAME) } tl_excess_of;
TL_LABELS(excess);

/* Waits in collectives, charged to the ranks that came late.  Times are GPU time, summed over all ranks that waited. */
#define TL_BLAME_FIELDS(F, T)                                                                                          \
    F(T, I32, to_rank, KEY, "", "rank that is charged")                                                                \
    F(T, I32, step, KEY, "",                                                                                           \
      "step in which to_rank had what made it late: that of the collective, or the one before it, of what it did "     \
      "there after the last collective; -1 for none")                                                                  \
    F(T, I32, from_rank, KEY, "",                                                                                      \
      "rank that waited, for direct_ns; of indirect_ns the one that others waited for, because it had waited for "     \
      "to_rank; -1: several, in a group of more than 32 ranks")                                                        \
    F(T, ENUM(activity), cause, KEY, "",                                                                               \
      "in what the charged rank had more time than its peers since its previous collective "                           \
      "with them: compute, copies (h2d: to the device), other_group: communication that no "                           \
      "matched collective explains, idle time of the device by what the host did; unknown")                            \
    F(T, I32, waiters, LABEL, "", "ranks that waited, at most")                                                        \
    F(T, I64, direct_ns, MEASURE, "ns", "waited for this rank itself")                                                 \
    F(T, I64, indirect_ns, MEASURE, "ns", "others waited for from_rank, which had in its turn waited for this one")
TL_TABLE(blame, TL_BLAME_FIELDS);

/* The cost of each rank to the others, step by step. */
#define TL_BLAME_STEP_FIELDS(F, T)                                                                                     \
    F(T, I32, rank, KEY, "", "traced rank")                                                                            \
    F(T, I32, step, KEY, "", "step, -1 where the traces have none")                                                    \
    F(T, I64, blame_ns, MEASURE, "ns",                                                                                 \
      "GPU time: what all others together waited for what it did in the step, or for ranks that had waited for it; "   \
      "also in the next step for what it did after the last collective; waits outside of steps are in blame alone")    \
    F(T, I64, excess_ns, MEASURE, "ns",                                                                                \
      "time of the rank itself: by how much its own work, of its device or its host, whichever is more, exceeds that " \
      "of its peers in the step, of no step more than it is long; below 0: it has less; 0 where nothing is compared")  \
    F(T, F64, z, MEASURE, "",                                                                                          \
      "by how many times the scale of noise of its role its own work exceeds that of its peers in the step: of its "   \
      "device or its host, whichever is later; none where nothing is compared")                                        \
    F(T, I32, flagged, MEASURE, "", "1: it is late in the step, and needed to explain what the job loses (straggler)") \
    F(T, I64, gain_ns, MEASURE, "ns",                                                                                  \
      "how much shorter the step would be without the excess of this rank in its flagged steps, simulated; 0: the "    \
      "rank is not named")                                                                                             \
    F(T, I64, step_ns, MEASURE, "ns",                                                                                  \
      "how long the step is for the job, the same for all ranks: from the last end of what was done in the one "       \
      "before, "                                                                                                       \
      "on any rank, to that of its own; where nothing tells that the median of its marks")
TL_TABLE(blame_step, TL_BLAME_STEP_FIELDS);

#define TL_SCENARIO_VALUES(V)                                                                                          \
    V(TL_SCENARIO_UNCHANGED, "unchanged", "the job as it was")                                                         \
    V(TL_SCENARIO_IDEAL, "ideal", "nobody slower than usual in any step")                                              \
    V(TL_SCENARIO_LINKS, "links", "all slow links repaired")                                                           \
    V(TL_SCENARIO_RANK, "rank", "one rank repaired")                                                                   \
    V(TL_SCENARIO_HOST, "host", "all ranks of a host repaired")                                                        \
    V(TL_SCENARIO_CAUSE, "cause", "one activity as usual on all ranks")                                                \
    V(TL_SCENARIO_SUSPECTS, "suspects", "all that are named repaired")                                                 \
    V(TL_SCENARIO_GROUPS, "groups", "transfers of one sort of group as usual")                                         \
    V(TL_SCENARIO_BALANCED, "balanced", "all roles compute alike")                                                     \
    V(TL_SCENARIO_HOST_FREE, "host_free", "hosts take no time")
typedef enum tl_scenario_kind { TL_SCENARIO_VALUES(TL_VALUE_NAME) } tl_scenario_kind;
/* "unchanged", "ideal", "links", "rank", "host", "cause", "suspects", "groups", "balanced", "host_free", NULL */
TL_LABELS(scenario);

/* The most kinds of groups, and the most hosts, that have rows in table whatif. */
enum { TL_SCENARIO_GROUPS_MOST = 8, TL_SCENARIO_HOSTS_MOST = 16 };

/* The time that the job would take in each scenario, simulated. */
#define TL_WHATIF_FIELDS(F, T)                                                                                         \
    F(T, ENUM(scenario), scenario, KEY, "",                                                                            \
      "unchanged: replayed as it was; rank, host: one straggler, or all of a host (of 16 at most), no slower than "    \
      "the median of its peers in the steps in which it is late; suspects: all stragglers and slow links together, "   \
      "where there are several; links: all links that are slow no slower than those like them, of which no rank has "  \
      "a row; ideal: no rank and no transfer slower than the median of its peers in any full step, by chance or not; " \
      "cause: of that one part of the time alone; groups: of that transfers alone, in groups of one kind, for the 8 "  \
      "kinds with most transfer; balanced: the ranks of all roles (stages of a pipeline) compute equally long; "       \
      "host_free: hosts take no time of their own, all wait for devices")                                              \
    F(T, I32, rank, KEY, "",                                                                                           \
      "rank that is repaired, of a host the lowest; of balanced the lowest of the role that computes longest; -1 for " \
      "all")                                                                                                           \
    F(T, ENUM(activity), cause, KEY, "",                                                                               \
      "part of the time that is repaired: compute, h2d, copy, host_late (all work of hosts) or sync_drain (waits for " \
      "devices that peers do not have); unknown: all of it")                                                           \
    F(T, I32, group, KEY, "",                                                                                          \
      "of groups the first in table group of that kind: they have one description and as many ranks, or, where they "  \
      "have none, as many ranks as far apart, and are within a host or not; else -1")                                  \
    F(T, I64, time_ns, MEASURE, "ns", "wall time of the traced window, simulated")                                     \
    F(T, I64, gain_ns, MEASURE, "ns",                                                                                  \
      "time_ns of unchanged less time_ns of this scenario; negative: the scenario takes longer, as balanced may")      \
    F(T, F64, share, MEASURE, "",                                                                                      \
      "gain_ns / time_ns of unchanged, less what not all ranks have recorded: "                                        \
      "what part of the job's time the repair saves; rows overlap, and do not sum up; "                                \
      "of balanced below 0 where it takes longer")                                                                     \
    F(T, F64, slowdown, MEASURE, "",                                                                                   \
      "of unchanged: unchanged / ideal; of balanced: how many times as long that role computes as the others in the "  \
      "mean; else none")                                                                                               \
    F(T, F64, model_error, MEASURE, "",                                                                                \
      "of unchanged: by how much the replay misses the measured time of any node, as a share of the job's; 0")         \
    F(T, I64, unexplained_ns, MEASURE, "ns",                                                                           \
      "of unchanged: of the critical path, what no work, transfer or known wait explains, and what precedes it in "    \
      "steps that are judged; a gain below it is uncertain; of balanced: by how much the gain may be larger, up to "   \
      "what the longest role computes beyond the mean, where waits of unknown reason may hide that; else 0")
TL_TABLE(whatif_row, TL_WHATIF_FIELDS);

/* Returns the first row of a scenario and rank in table whatif; rank -1: all ranks together.  NULL: no such row. */
tl_whatif_row *tl_whatif_row_of(const tl_table *whatif, tl_scenario_kind scenario, int32_t rank);

/* The activities on the critical path: those of tl_activity_kind, then what lies before. */
#define TL_PATH_VALUES(V)                                                                                              \
    V(TL_ACTIVITY_COMPUTE, "compute", "kernels that compute")                                                          \
    V(TL_ACTIVITY_H2D, "h2d", "copies from host to device")                                                            \
    V(TL_ACTIVITY_COPY, "copy", "other copies and memsets")                                                            \
    V(TL_ACTIVITY_COMM, "communication", "communication once the last rank that has a trace had come")                 \
    V(TL_ACTIVITY_HOST, "host", "work of hosts, in no call that another activity stands for")                          \
    V(TL_ACTIVITY_INPUT, "input", "hosts that waited for input")                                                       \
    V(TL_ACTIVITY_GC, "gc", "hosts that collected garbage")                                                            \
    V(TL_ACTIVITY_SYNC, "sync_drain", "hosts that waited for their device")                                            \
    V(TL_ACTIVITY_ALLOCATOR, "allocator", "hosts that allocated or freed device memory")                               \
    V(TL_ACTIVITY_DEVICE, "latency", "latency of launches, waits for events")                                          \
    V(TL_PATH_BEFORE, "before", "before the first event of the path's first rank")
TL_LABELS(path);
enum { TL_PATH_BEFORE = TL_NACTIVITIES }; /* time before a recording began, which explains nothing */

/* The chain of work, launches and transfers that determined the end of the job. */
#define TL_PATH_FIELDS(F, T)                                                                                           \
    F(T, I32, rank, KEY, "",                                                                                           \
      "rank, also one without a trace that another stands for in the replay; -1: all of the path")                     \
    F(T, ENUM(path), activity, KEY, "",                                                                                \
      "compute, h2d, copy: work of the device; communication: once the last rank that has a trace had come "           \
      "(transfer, and waiting for ranks that have none); host: the host on its way to the launch of what came next, "  \
      "and what it did then: input, gc, sync_drain, allocator; latency: from a launch, or the end of what was waited " \
      "for, to a start; before: the recording of the rank on which the path begins had not begun")                     \
    F(T, I64, path_ns, MEASURE, "ns",                                                                                  \
      "time on the path, which leaves what seems to run on where the next begins that waited for it; of rank -1 all "  \
      "together are time_ns of unchanged in whatif")                                                                   \
    F(T, I64, imbalance_ns, MEASURE, "ns",                                                                             \
      "of rank -1: by how much path_ns is more than what ranks have of it in the mean, on the path or not: what "      \
      "there "                                                                                                         \
      "is only because ranks differ; of work of devices, else 0")
TL_TABLE(path_row, TL_PATH_FIELDS);

/* Ranks between which data move slowly. */
#define TL_SLOW_LINK_FIELDS(F, T)                                                                                      \
    F(T, I32, link, KEY, "", "number")                                                                                 \
    F(T, I32, group, LABEL, "", "process group: its row in table group")                                               \
    F(T, TEXT64, ranks, LABEL, "", "ranks that take part in the slow collectives")                                     \
    F(T, I32, rank, LABEL, "", "of a link of two ranks the lower one; -1: more ranks take part")                       \
    F(T, I32, peer, LABEL, "", "the other one; -1: more ranks take part")                                              \
    F(T, ENUM(link_evidence), evidence, LABEL, "",                                                                     \
      "what tells how long a transfer should take: groups: other ranks that do the same; steps: the same ranks in "    \
      "other steps")                                                                                                   \
    F(T, ENUM(collective), kind, LABEL, "", "kind of collective with the largest surplus")                             \
    F(T, I64, bytes, LABEL, "byte", "size of its message")                                                             \
    F(T, I64, transfer_ns, MEASURE, "ns", "median transfer of that kind and size in the flagged steps")                \
    F(T, I64, elsewhere_ns, MEASURE, "ns", "what it should be")                                                        \
    F(T, F64, ratio, MEASURE, "", "transfer_ns / elsewhere_ns")                                                        \
    F(T, I64, excess_ns, MEASURE, "ns", "what its transfers took too long, summed over collectives")                   \
    F(T, F64, z, MEASURE, "", "its surplus over the steps in which it is slow, in scales of noise of links like it")   \
    F(T, ENUM(pattern), pattern, MEASURE, "", "as in table straggler")                                                 \
    F(T, I32, first_step, MEASURE, "", "first step of the pattern")                                                    \
    F(T, I32, last_step, MEASURE, "", "last step of the pattern")                                                      \
    F(T, F64, p_value, MEASURE, "", "as in table straggler")                                                           \
    F(T, I64, gain_ns, MEASURE, "ns", "wall time that the job would save without the surplus, simulated")
TL_TABLE(slow_link_row, TL_SLOW_LINK_FIELDS);

/* The verdict on each rank. */
#define TL_STRAGGLER_FIELDS(F, T)                                                                                      \
    F(T, I32, rank, KEY, "", "traced rank")                                                                            \
    F(T, ENUM(verdict), verdict, MEASURE, "",                                                                          \
      "straggler; ok; inconclusive: clocks, damage or too little data forbid one")                                     \
    F(T, I64, blame_ns, MEASURE, "ns",                                                                                 \
      "GPU time: what all others together waited for it, or for ranks that had waited for it, in all steps and "       \
      "outside of them, but for steps that not all ranks have whole (table health): the sum of its rows in blame")     \
    F(T, I64, late_count, MEASURE, "",                                                                                 \
      "collectives in which it came last, without sends and receives, suspect ones, those whose arrivals clocks "      \
      "hide, and those of which a rank is not there")                                                                  \
    F(T, F64, z, MEASURE, "",                                                                                          \
      "its lateness over the steps in which it is late, in scales of noise of its role; none where it is not named")   \
    F(T, F64, share_steps, MEASURE, "", "flagged steps / all full steps (table blame_step)")                           \
    F(T, ENUM(pattern), pattern, MEASURE, "",                                                                          \
      "persistent: in 80 % of the steps or more; bounded: from first_step to "                                         \
      "last_step; sporadic; drifting; one_off: a single step; none")                                                   \
    F(T, I32, first_step, MEASURE, "", "first step of the pattern; -1 without one")                                    \
    F(T, I32, last_step, MEASURE, "", "last step of the pattern; -1 without one")                                      \
    F(T, F64, p_value, MEASURE, "",                                                                                    \
      "chance of a z as large in any rank, link and set of steps of a job where nobody is late, by Student's t; none " \
      "where it is not named")                                                                                         \
    F(T, ENUM(cause), cause, MEASURE, "",                                                                              \
      "what it is late for: of its work, its host or its waits, what alone gains 80 % of what its repair gains; "      \
      "mixed: nothing does")                                                                                           \
    F(T, ENUM(cause), largest_cause, MEASURE, "",                                                                      \
      "what gains most of all that it is late for: `cause`, but where that is mixed")                                  \
    F(T, F64, cause_share, MEASURE, "", "what largest_cause gains, as a part of what its repair gains")                \
    F(T, TEXT128, place, MEASURE, "",                                                                                  \
      "kernel, or innermost annotation, operator or frame, whose excess over its "                                     \
      "peers it is; empty where none stands out")                                                                      \
    F(T, I64, gain_ns, MEASURE, "ns",                                                                                  \
      "wall time that the job would save were the rank's work like that of its peers in the steps in which it is "     \
      "late, simulated; -1: it is not named.  Of the two ends of a slow_link: that of the link, once")                 \
    F(T, F64, slowdown, MEASURE, "",                                                                                   \
      "wall time / (wall time - gain_ns), wall time being time_ns of unchanged in whatif, less what not all ranks "    \
      "have recorded: how much slower the job is than with this rank repaired and all others as they were; none "      \
      "where it is not named")                                                                                         \
    F(T, ENUM(steps_from), steps_from, LABEL, "",                                                                      \
      "what tells its steps: marks: its own ProfilerStep#; others: it has none, or other numbers than the rest, and "  \
      "they are those of the collectives in which it meets the other ranks; return: no trace has any, and a step is "  \
      "after what collectives return; nothing: its time is in no step")                                                \
    F(T, ENUM(against), against, LABEL, "",                                                                            \
      "what it is compared with: peers: ranks that do the same; where these are all late, or there are none, stages: " \
      "other stages that have as many kernels of the same names, or own_steps: its own other steps")                   \
    F(T, TEXT128, reason, MEASURE, "", "what the verdict rests on")
TL_TABLE(straggler, TL_STRAGGLER_FIELDS);

/* The work in which a straggler spends more time than its peers. */
#define TL_EXCESS_FIELDS(F, T)                                                                                         \
    F(T, I32, rank, KEY, "", "rank that is named")                                                                     \
    F(T, I32, order, KEY, "", "0, 1, 2: the largest excess first")                                                     \
    F(T, ENUM(excess), of, LABEL, "",                                                                                  \
      "work: time that a kernel or copy takes on the device; host: time of a thread that launches in an operator, "    \
      "annotation or frame and in none inside of it")                                                                  \
    F(T, TEXT128, place, LABEL, "", "that kernel, copy, operator, annotation or frame")                                \
    F(T, I64, own_ns, MEASURE, "ns",                                                                                   \
      "of a flagged step of the rank in the mean; of the whole trace where no steps are marked")                       \
    F(T, I64, peers_ns, MEASURE, "ns", "likewise of what it is compared with: their median")                           \
    F(T, ENUM(against), against, LABEL, "",                                                                            \
      "peers: with them in the same steps; stages: with ranks of other stages, likewise; own_steps: with its own "     \
      "other steps")
TL_TABLE(excess_row, TL_EXCESS_FIELDS);

#endif
