/* parameters.h - the numbers that decide: each with its unit, what kind of number it is, and why it is that.
 *
 * Every number that decides anything in clock, match, wait, graph, missing, baseline, replay, verdict, cause, culprit
 * and behave stands here (tests/numbers.sh checks it).  Three kinds of numbers may decide:
 *
 *     physical      what clocks, calls and time stamps are measured to do
 *     statistical   what a test needs to keep its rate of error
 *     user          what a user may choose: an option
 *
 * `tlmpi describe parameters` prints all parameters; table `parameter` of a result holds the values that the result was
 * made with.
 */
#ifndef TLMPI_MODEL_PARAMETERS_H
#define TLMPI_MODEL_PARAMETERS_H

#include "tlmpi/model/table.h"
#include <stdint.h>

/* P(C type, name, value, unit, kind, reason) of each. */
#define TL_PARAMETERS(P)                                                                                               \
    P(int64_t, CLOCK_ERROR_NS, 20000, "ns", PHYSICAL,                                                                  \
      "two times may disagree so far though nothing is wrong, of host and device or two devices of a host; measured: " \
      "a rank leaves an all-to-all 6 us before its last member seems to begin, kernels begin 13 us before their "      \
      "launch")                                                                                                        \
    P(int64_t, CLOCK_MOST_LAG_NS, 200000, "ns", PHYSICAL,                                                              \
      "a device's clock lags its host's by no more; measured: up to 81 us. Kernels that begin longer before "          \
      "their launch are an error of the trace")                                                                        \
    P(int64_t, CLOCK_MOST_DRIFT_PPB, 1000000, "ppb", PHYSICAL,                                                         \
      "clocks run right to a thousandth: oscillators are 100 ppm apart at most, NTP slews by 500")                     \
    P(double, CLOCK_ENDS_PART, 20, "1 in", PHYSICAL,                                                                   \
      "members leave a collective apart for good by so much of its transfer; measured: 1 % in rings of 8, 4 % of 4 "   \
      "ranks, 6 % of the stages of a pipeline")                                                                        \
    P(double, CLOCK_SURE, 3, "sigma", STATISTICAL, "a clock is off, drifts or steps if it does by so much more than ends scatter") \
    P(size_t, CLOCK_LINE_LEAST, 6, "", STATISTICAL, "a drift is told by the medians of a third of the ends each, two or more") \
    P(size_t, CLOCK_STEP_LEAST, 3, "", STATISTICAL,                                                                    \
      "a step is told by so many ends before and after it: the median of three is none that one collective alone "     \
      "is wrong in")                                                                                                   \
    P(size_t, CLOCK_SLOPE_PART, 8, "1 in", STATISTICAL,                                                                \
      "ends that lie so much of all apart tell how fast a clock runs beside a step: one step shows in a seventh of "   \
      "them, and the median is none of these")                                                                         \
    P(uint32_t, CLOCK_COLLECTIVES_READ, 256, "", STATISTICAL,                                                          \
      "ends of about so many collectives of a group are read: the median of 256 is sure to a tenth of what one is")    \
    P(int, CLOCK_ROUNDS, 12, "", STATISTICAL,                                                                          \
      "ends that contradict the others are weighed anew so many times: weights then change by less than a ns shows")   \
    P(int64_t, CLOCK_WRONG_MATCHES, 100, "1 in", STATISTICAL,                                                          \
      "of so many collectives one may be matched wrongly, and say of clocks what is not so")                           \
    P(int64_t, ROUNDING_NS, 1000, "ns", PHYSICAL, "times are written in microseconds, some rounded to whole ones")     \
    P(int64_t, WAKE_NS, 500000, "ns", PHYSICAL,                                                                        \
      "a host goes on so soon after what released it: the longest wake-up of a recorded wait; a pause that is no "     \
      "longer need not be a wait")                                                                                     \
    P(int64_t, WAKE_SPREAD_NS, 50000, "ns", PHYSICAL,                                                                  \
      "hosts see the end of device work so unequally late; measured: 16 to 90 us between ranks, 10 us within one")     \
    P(int64_t, OVERRUN_NS, 100000, "ns", PHYSICAL,                                                                     \
      "work that runs on for longer when the next of its stream has ended has no end that can be: what is launched to " \
      "begin early still waits for what is before it, and times of one device agree to far less; measured: of 75,000 "  \
      "pieces of work in 120 public traces none runs on when the next of another launch begins")                       \
    P(int64_t, LAST_WORK_MOST_NS, 600000000000, "ns", PHYSICAL,                                                        \
      "the last work of a stream that outlasts the recording by more has no end that can be: profilers wait for the "  \
      "device when they stop, and a collective that hangs is given up after ten minutes")                              \
    P(int64_t, WAIT_OWN_NS, 10000, "ns", PHYSICAL, "what a synchronising call takes that need not wait")               \
    P(int64_t, UNTOLD_LAG_NS, 150000, "ns", PHYSICAL,                                                                  \
      "a host that waited goes on so soon: three times what hosts differ by; work that ended earlier released nobody") \
    P(double, UNTOLD_SHARE, 2.0 / 3, "", STATISTICAL, "untold waits hold most of the time of pauses of their kind")    \
    P(double, UNTOLD_CHANCE, 0.001, "", STATISTICAL, "chance makes so many pauses end alike less often than that")     \
    P(double, LATENCY_SHARE, 0.02, "", STATISTICAL,                                                                    \
      "the latency of a launch is what so few launches of the rank keep below: those into an empty queue")             \
    P(int64_t, QUEUE_PART, 10, "1 in", PHYSICAL,                                                                       \
      "a queue is full to this part of the most that ever was pending, for what of it counts differs: 73 to 76 where " \
      "the work of one of two streams does. Who is slow while so much is pending holds nobody up")                     \
    P(size_t, WAYS_MOST, 4, "", PHYSICAL,                                                                              \
      "a rank comes to a meeting over so many ways from former ones at most, those that decide; measured: with 6 "     \
      "and 8 as many gains are right, of 140 jobs of which ranks were taken away")                                     \
    P(int64_t, TRANSFER_VARIES, 4, "times", PHYSICAL,                                                                  \
      "so many times as long as is usual for its size class an exchange may take while nobody is late, where fewer than " \
      "three were seen with all ranks: sizes of one class differ by 2, and ranks may send twice as much as others")     \
    P(double, UNTRACED_LEAST_COST, 0.03, "", STATISTICAL,                                                              \
      "a rank without a trace that costs less of the job is not accused: when it came is estimated; measured: in "      \
      "recordings of real jobs of which a healthy rank is taken away it seems to cost up to 0.024")                   \
    P(double, LATENESS_LEAST_SCALE, 0.001, "step", PHYSICAL,                                                           \
      "lateness is told apart by no less of the median step: times are of 1 us, and nobody can act on less")           \
    P(int64_t, SPREAD_LEAST, 3, "", STATISTICAL, "three steps, waits or transfers are the least to speak of a spread")          \
    P(double, APART_CHANCE, 0.01, "", STATISTICAL,                                                                     \
      "ranks lie apart from the others in a kernel by chance less often than that; measured on made numbers of 4 to "  \
      "256 ranks: in 0.0 to 0.7 % where they are normal, in 0.2 to 1.8 % with the tails of 6 degrees")                 \
    P(int64_t, PATTERN_LEAST_STEPS, 5, "", STATISTICAL,                                                                \
      "of fewer steps a ramp is not told from a level, and no pattern is sure")                                        \
    P(int64_t, SHAPE_STARTS, 16, "", STATISTICAL,                                                                      \
      "from so many of a unit's values its late steps are looked for, evenly chosen, where it has more steps than the "\
      "square of that: from all of 10,000 it would take hours; of fewer steps every value is a start")                 \
    P(double, PERSISTENT_SHARE, 0.8, "", USER, "as specified: who is late in this share of all steps is so persistently")\
    P(double, CAUSE_SHARE, 0.8, "", USER,                                                                              \
      "as specified: what explains so much of a delay is its cause; two delays are alike if one is so much of the "    \
      "other")                                                                                                         \
    P(double, TAIL_DEGREES, 6, "", STATISTICAL,                                                                        \
      "durations have heavy tails: one is judged as Student's t of 6 degrees (the least with a finite kurtosis is 5), "\
      "a sum of n as one of 4 + 2 n, which has the same excess kurtosis")                                              \
    P(double, AMOUNT_POWER_MOST, 2, "", PHYSICAL,                                                                      \
      "time goes with the blocks of a grid no faster than as their square: attention over a sequence; what seems to go " \
      "faster is noise")                                                                                               \
    P(double, TRANSFER_TAIL_DEGREES, 3, "", STATISTICAL,                                                               \
      "data now and then take far longer than usual: a transfer or a copy is judged as t of 3, the lightest tail whose " \
      "excess is unbounded; measured: 4 of 48 all-reduces of a real job at 80 times the median")                       \
    P(int64_t, CHOICE_MANY, 64, "", STATISTICAL,                                                                       \
      "of more late units than this the half that is needed least is dropped at once, where it costs too little")      \
    P(int64_t, LITTLE_PART, 10, "1 in", USER, "a tenth is little: of waiting, of collectives that are not matched, or in no step")\
    P(double, BEHAVES_SHARE, 0.001, "", STATISTICAL,                                                                   \
      "a kernel without a known name is looked at where it takes so much of the rank's kernel time: what takes less "  \
      "is no wait worth a word")                                                                                       \
    P(int64_t, BEHAVES_LEAST, 6, "", STATISTICAL,                                                                      \
      "so many beginnings of two ranks lie apart, at least, before ends that do not follow them make a kernel "        \
      "communication: of durations that know nothing of each other one in ten evens a beginning out")                  \
    P(int64_t, BEHAVES_PART, 4, "1 in", STATISTICAL,                                                                   \
      "beginnings of a kernel that communicates lie apart by so many times what its ends do, each and in the middle")                                        \
    P(double, BEHAVES_TOGETHER, 0.67, "", STATISTICAL,                                                                 \
      "of a kernel's beginnings that lie apart on two ranks this share ends together, at least, where it communicates; " \
      "measured: all-to-alls 0.81 and more, of 796 kernels that compute on any two ranks none")                        \
    P(double, BEHAVES_MOST, 0.9, "", STATISTICAL,                                                                      \
      "of the ranks that show whether a kernel communicates as much agrees: the rest may be cut by an edge of the "    \
      "recording")                   \
    P(int64_t, MATCH_CLOSE_NS, 500000, "ns", PHYSICAL,                                                                 \
      "ends of one collective lie so far apart, besides the clocks' distance; measured: all-reduces 0.4 ms")           \
    P(int64_t, MATCH_LOOSELY_NS, 5000000, "ns", PHYSICAL,                                                              \
      "... of one whose ranks leave when they like; measured: all-to-alls 4.3 ms")                                     \
    P(int64_t, MATCH_APART_PART, 5, "1 in", PHYSICAL, "by so much of that two distances of clocks differ")             \
    P(size_t, MATCH_ENOUGH, 3, "", STATISTICAL, "so many pairs of ends tell a distance: of two the median is either")  \
    P(int64_t, MATCH_DRIFT_PART, 8, "1 in", STATISTICAL,                                                               \
      "so much of what an end is off moves the distance of two clocks: a drift is followed, one end's own scatter hardly")\
    P(int64_t, GROUP_TOGETHER_NS, 200000, "ns", PHYSICAL,                                                              \
      "ends of a group scatter by less around its ranks' own offsets, those of two groups side by side by more")       \
    P(int64_t, GROUP_LOOSELY_NS, 1000000, "ns", PHYSICAL,                                                              \
      "... where ranks leave when they like; measured: all-to-alls 0.1 ms mostly, a few 4 ms")                         \
    P(int64_t, GROUP_STEADY_NS, 3000, "ns", PHYSICAL, "ends that scatter by less are equally steady")                  \
    P(int64_t, GROUP_STEADIER, 4, "times", STATISTICAL, "ranks of a group scatter so many times less than others")     \
    P(size_t, GROUP_MISTAKES, 20, "1 in", STATISTICAL,                                                                 \
      "of so many collectives a rank seems to leave one before another has come; more often they are of two groups")   \
    P(int64_t, RING_SPARED_PART, 8, "1 in", PHYSICAL, "of a ring's time members beyond a slow link still take so much") \
    P(double, WAIT_MOST_SHARE, 0.5, "", USER, "a collective is a matter of arrival where more of its kernels is waiting") \
    P(double, WAIT_LITTLE_SHARE, 0.2, "", USER, "... of transfer where less is, and waits do not matter")              \
    P(int64_t, WAIT_EXPLAINED_PART, 4, "1 in", STATISTICAL,                                                            \
      "the time since the last collective explains a lateness but for so much of it; else it was late before")         \
    P(int64_t, BEHAVES_NAMES, 32, "", STATISTICAL,                                                                     \
      "a rank gives sightings of this many unknown names, those that take most of its time: a job has a dozen kernels " \
      "that communicate")                                                                                              \
    P(int64_t, BEHAVES_ITEMS, 64, "", STATISTICAL,                                                                     \
      "a rank gives this many sightings of a name and stream in the mean, the same kernels on all ranks: a tenth of "  \
      "them is what a comparison needs at least")                                                                      \
    P(int64_t, BEHAVES_RANKS, 16, "", STATISTICAL,                                                                     \
      "this many ranks whose kernels take least time are compared with all others, and as many of any: who comes last " \
      "shows best what the others wait for")                                                                           \
    P(int64_t, SENDS_APART_NS, 5000000, "ns", PHYSICAL,                                                                \
      "clocks of hosts that are kept in step by NTP are no farther apart: the two ends of a message, whose traces do "  \
      "not say between whom it goes, are looked for within that")                                                      \
    P(double, UNTIMED_SHARE, 0.001, "", STATISTICAL,                                                                   \
      "a step has hundreds of events of a rank: where so many have no duration, most steps have one")                  \
    P(int64_t, DOUBTS_MANY, 3, "", USER, "so many doubts of an answer leave it low confidence, as one grave one does") \
    P(double, PHASE_MAKES_UP, 0.7, "", STATISTICAL,                                                                    \
      "phases of a rank that together are shorter than on others by so much of what one is longer make up for it, and " \
      "none is shorter by more than what is longer over so much: levelled, they make up for all; stages of a pipeline, " \
      "which wait in sends and receives, differ by anything (of 14 healthy pipelines 9 were misread with 0.5 alone)")   \
    P(double, VERDICT_ALPHA, 0.01, "", USER, "--alpha: chance of one wrong name in a job, all tests together")         \
    P(double, VERDICT_LEAST_COST, 0.01, "step", USER,                                                                  \
      "--least-cost: of the steps in which a rank is late, what is worth acting upon")                                 \
    P(double, VERDICT_SURE_CHANCE, 0.00001, "", STATISTICAL,                                                           \
      "who is named with a greater chance may be named by chance after all, and is not with trust high: noise has "    \
      "other tails than a test takes it to have; measured on 690 made jobs: of 45 names with more 8 are wrong, of 260 " \
      "with less 4")                                                                                                   \
    P(double, VERDICT_LARGE_COST, 0.05, "step", USER,                                                                  \
      "what a denial with trust high rules out: that a rank costs so much of a step") \
    P(double, DIFF_ALPHA, 0.01, "", STATISTICAL, "two runs: steps, or times of a kernel, lie as far apart by chance less often") \
    P(double, DIFF_LEAST, 0.01, "step", USER, "two runs: a smaller change of a part of the step is not named")         \
    P(double, DIFF_PART_LEAST, 0.001, "step", USER, "two runs: a kernel that changes a step by less is not named")     \
    P(double, DIFF_EACH_LEAST, 0.03, "", PHYSICAL,                                                                     \
      "two runs: times of one kernel differ by less between devices, hosts and days")                                  \
    P(double, DIFF_COUNT_LEAST, 0.05, "", STATISTICAL,                                                                 \
      "two runs: counts of a step differ by less where recordings begin and end within one")                           \
    P(double, DIFF_MOST_SHARE, 0.5, "", USER, "two runs: what has half of a change is named for it")                   \
    P(double, DIFF_HELD_SHARE, 0.5, "", STATISTICAL,                                                                   \
      "two runs: where steps hold less of the device's work, it runs behind the marks of the host")                    \
    P(size_t, DIFF_STEPS_LEAST, 5, "", STATISTICAL,                                                                    \
      "two runs: with this many steps a rank test can be sure at 1 in 100; the first and last are left out if as many remain") \
    P(size_t, DIFF_PAIRS_LEAST, 8, "", STATISTICAL, "two runs: with this many pairs of steps signed ranks can be sure at 1 in 100") \
    P(double, DIFF_ALIKE, 0.5, "", STATISTICAL,                                                                        \
      "two runs: steps of one number vary alike with this correlation: then a pair differs less than steps do")        \
    P(size_t, DIFF_EXACT_PAIRS, 2500, "", STATISTICAL,                                                                 \
      "two runs: of more pairs of steps the normal approximation of the rank test is exact to a thousandth")

#define TL_PARAMETER_CONSTANT(type, name, value, unit, kind, reason) static const type TL_##name = value;
TL_PARAMETERS(TL_PARAMETER_CONSTANT)
#undef TL_PARAMETER_CONSTANT

#define TL_PARAMETER_VALUES(V)                                                                                         \
    V(TL_PARAMETER_PHYSICAL, "physical", "what clocks, calls and time stamps are measured to do")                      \
    V(TL_PARAMETER_STATISTICAL, "statistical", "what a test needs to keep its rate of error")                          \
    V(TL_PARAMETER_USER, "user", "what somebody may choose")
typedef enum tl_parameter_kind { TL_PARAMETER_VALUES(TL_VALUE_NAME) } tl_parameter_kind;
extern const char *const tl_parameter_labels[];

/* The numbers that a result was made with. */
#define TL_PARAMETER_FIELDS(F, T)                                                                                      \
    F(T, TEXT64, name, KEY, "", "parameter")                                                                           \
    F(T, F64, value, MEASURE, "", "its value")                                                                         \
    F(T, TEXT64, unit, LABEL, "", "of the value; step: a share of a step")                                             \
    F(T, ENUM(parameter), kind, LABEL, "",                                                                             \
      "physical: what clocks, calls and time stamps are measured to do; statistical: what a test needs to keep its "   \
      "rate of error; user: what somebody may choose")                                                                 \
    F(T, TEXT256, reason, LABEL, "", "why it is that, and how it was measured")
TL_TABLE(parameter, TL_PARAMETER_FIELDS);

/* Appends one row per parameter, with the user's alpha and least_cost. */
void tl_parameters_list(tl_table *table, double alpha, double least_cost);

/* Returns the value of the parameter `name` from table `parameter` of a result; `otherwise` where the table lacks
 * the parameter. */
double tl_parameter_value(const tl_table *table, const char *name, double otherwise);

#endif
