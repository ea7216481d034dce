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
      "greatest disagreement of two correct time stamps, of host and device or of two devices of a host. Measured: "   \
      "ranks leave an all-to-all 6 us before its last member begins; kernels begin 13 us before their launches")       \
    P(int64_t, CLOCK_MOST_LAG_NS, 200000, "ns", PHYSICAL,                                                              \
      "greatest time by which a kernel may seem to begin before its launch; measured: up to 81 us. A larger one is "   \
      "an error of the trace")                                                                                         \
    P(int64_t, CLOCK_MOST_DRIFT_PPB, 1000000, "ppb", PHYSICAL,                                                         \
      "greatest drift between two clocks: oscillators differ by 100 ppm at most, and NTP changes a rate by up to "     \
      "500 ppm")                                                                                                       \
    P(double, CLOCK_ENDS_PART, 20, "1 in", PHYSICAL,                                                                   \
      "share of a collective's transfer by which members may leave it apart every time; measured: 1 % in rings of "    \
      "8, 4 % in groups of 4, 6 % between pipeline stages")                                                            \
    P(size_t, CLOCK_SLOPE_PART, 8, "1 in", STATISTICAL,                                                                \
      "pairs of ends this share of all ends apart give the drift where a clock also steps: a single step is in one "   \
      "of seven pairs, so the median has none")                                                                        \
    P(uint32_t, CLOCK_COLLECTIVES_READ, 256, "", STATISTICAL,                                                          \
      "collectives of a group whose ends are read: the median of 256 has a tenth of the scatter of one")               \
    P(int, CLOCK_ROUNDS, 12, "", STATISTICAL,                                                                          \
      "rounds in which ends that contradict the others get less weight: after 12 the offsets change by less than 1 "   \
      "ns")                                                                                                            \
    P(int64_t, ROUNDING_NS, 1000, "ns", PHYSICAL,                                                                      \
      "resolution of time stamps: microseconds, in some traces rounded to whole ones")                                 \
    P(int64_t, WAKE_NS, 500000, "ns", PHYSICAL,                                                                        \
      "longest time from the end of device work until the host that waited for it goes on, in recorded waits; an "     \
      "unrecorded pause up to this long need not be a wait")                                                           \
    P(int64_t, WAKE_SPREAD_NS, 50000, "ns", PHYSICAL,                                                                  \
      "difference between hosts in that time; measured: 16 to 90 us between ranks, 10 us within a rank")               \
    P(int64_t, OVERRUN_NS, 100000, "ns", PHYSICAL,                                                                     \
      "longest overlap of work with later work of the same stream; beyond it the end of the work is an error. "        \
      "Measured: none of 75,000 pieces of work in 120 public traces overlaps with work of another launch")             \
    P(int64_t, LAST_WORK_MOST_NS, 600000000000, "ns", PHYSICAL,                                                        \
      "longest time by which the last work of a stream may outlast the recording: profilers wait for the device "      \
      "before they stop, and a hanging collective is given up after ten minutes")                                      \
    P(int64_t, WAIT_OWN_NS, 10000, "ns", PHYSICAL,                                                                     \
      "time that a synchronising call takes though its device has nothing left to do")                                 \
    P(double, UNTOLD_SHARE, 2.0 / 3, "", STATISTICAL,                                                                  \
      "share of the pauses of one kind that must end with device work before the kind is taken for waits")             \
    P(double, UNTOLD_CHANCE, 0.001, "", STATISTICAL,                                                                   \
      "greatest chance that the pauses of a kind end with device work as often as they do though none is a wait")      \
    P(double, LATENCY_SHARE, 0.02, "", STATISTICAL,                                                                    \
      "quantile of the times from launch to start that is taken as the latency of a launch: the fastest launches "     \
      "meet an empty queue")                                                                                           \
    P(size_t, WAYS_MOST, 4, "", PHYSICAL,                                                                              \
      "dependencies of a collective on earlier ones that are kept for a rank, the latest first. Measured on 140 "      \
      "jobs from which ranks were taken away: 6 and 8 give as many right gains")                                       \
    P(int64_t, TRANSFER_VARIES, 4, "times", PHYSICAL,                                                                  \
      "longest exchange in units of the usual one of its size class, where fewer than three were seen with all "       \
      "ranks: sizes of a class differ by a factor of 2, and ranks may send twice as much as others")                   \
    P(double, UNTRACED_LEAST_COST, 0.03, "", STATISTICAL,                                                              \
      "least cost, of the job, for which a rank without a trace is accused: its arrivals are estimates. Measured: "    \
      "healthy ranks that were taken away seem to cost up to 0.024")                                                   \
    P(double, AMOUNT_POWER_MOST, 2, "", PHYSICAL,                                                                      \
      "greatest power of its grid size by which the time of a kernel grows: 2, as attention over a sequence; a "       \
      "greater one is noise")                                                                                          \
    P(double, TAIL_DEGREES, 6, "", STATISTICAL,                                                                        \
      "fewest degrees of freedom of Student's t for one duration: tails are heavy, and 5 is the least with a finite "  \
      "kurtosis; more where the job shows lighter tails. A sum of n durations has 2 n - 2 more, for the same excess "  \
      "kurtosis of each")                                                                                              \
    P(double, TAIL_SURE, 1.645, "sigma", STATISTICAL,                                                                  \
      "standard errors, sqrt(24 / n), by which the excess kurtosis of n durations is taken above the measured one: "   \
      "the upper bound of 95 % confidence")                                                                            \
    P(double, TRANSFER_TAIL_DEGREES, 3, "", STATISTICAL,                                                               \
      "degrees of freedom of Student's t for a transfer or copy: the lightest tail with an unbounded excess. "         \
      "Measured: 4 of 48 all-reduces of a real job take 80 times the median")                                          \
    P(size_t, MEDIAN_LEAST, 3, "", STATISTICAL,                                                                        \
      "fewest values that have a median which one wrong value does not move, and a spread; twice as many have one "    \
      "in either half")                                                                                                \
    P(int64_t, PATTERN_LEAST_STEPS, 5, "", STATISTICAL,                                                                \
      "fewest steps that have a pattern: with fewer a ramp is not told from a level")                                  \
    P(double, SURE_SIGMAS, 3, "sigma", STATISTICAL,                                                                    \
      "what is found counts from this many times its scatter on: an offset, drift or step of a clock; a lag behind "   \
      "the device that differs between hosts; two runs: a step above the median")                                      \
    P(int64_t, SHAPE_STARTS, 16, "", STATISTICAL,                                                                      \
      "levels from which the search for late steps starts, evenly chosen, where there are more steps than the "        \
      "square of this number; with fewer steps each value is a start")                                                 \
    P(int64_t, CHOICE_MANY, 64, "", STATISTICAL,                                                                       \
      "number of late candidates above which the half that is needed least is dropped at once, where that costs "      \
      "too little")                                                                                                    \
    P(double, MOST_SHARE, 0.8, "", USER,                                                                               \
      "share that is nearly the whole, and the rest of it little: of all steps, to be late persistently; of a "        \
      "delay, for its cause; of another delay, to be like it; of a collective, which is transfer up to a rest of "     \
      "waiting. From the specification")                                                                               \
    P(int64_t, LITTLE_PART, 10, "1 in", USER,                                                                          \
      "share up to which something is not worth a word, or may be otherwise: waiting, lost or unmatched events, "      \
      "pairs of ranks that disagree, counts of a queue toward its limit (73 to 76 are counted in a full one)")         \
    P(double, NOTHING_SHARE, 0.001, "", PHYSICAL,                                                                      \
      "share of a whole that is as good as nothing: lateness or a change of a step, which time stamps of 1 us "        \
      "hardly resolve; events without a duration; the time of a kernel among all")                                     \
    P(int64_t, BEHAVES_LEAST, 6, "", STATISTICAL,                                                                      \
      "fewest launches that begin apart on two ranks before their ends decide: durations that are independent even "   \
      "out the beginnings in one of ten launches")                                                                     \
    P(int64_t, BEHAVES_PART, 4, "1 in", STATISTICAL,                                                                   \
      "ends of a communicating kernel scatter by at most this share of what its beginnings scatter by")                \
    P(double, BEHAVES_TOGETHER, 0.67, "", STATISTICAL,                                                                 \
      "share of the launches that begin apart and must end together in a kernel that communicates. Measured: "         \
      "all-to-alls 0.81 and more; of 796 compute kernels none on any two ranks")                                       \
    P(int64_t, MATCH_CLOSE_NS, 500000, "ns", PHYSICAL,                                                                 \
      "greatest difference of the ends of one collective once clocks are aligned; measured: 0.4 ms in all-reduces")    \
    P(int64_t, MATCH_LOOSELY_NS, 5000000, "ns", PHYSICAL,                                                              \
      "the same for kinds that ranks may leave early, and for messages before clocks are aligned; measured: 4.3 ms "   \
      "in all-to-alls")                                                                                                \
    P(int64_t, MATCH_APART_PART, 5, "1 in", PHYSICAL,                                                                  \
      "share of the greatest difference of ends from which two offsets between clocks count as different")             \
    P(int64_t, MATCH_DRIFT_PART, 8, "1 in", STATISTICAL,                                                               \
      "share of the error of an end by which the running offset of two clocks is moved: it follows a drift, and "      \
      "hardly the scatter of one end")                                                                                 \
    P(int64_t, GROUP_TOGETHER_NS, 200000, "ns", PHYSICAL,                                                              \
      "greatest scatter of the ends of one group around the offsets of its ranks; ends of two groups side by side "    \
      "scatter by more")                                                                                               \
    P(int64_t, GROUP_LOOSELY_NS, 1000000, "ns", PHYSICAL,                                                              \
      "the same for kinds that ranks may leave early; measured: mostly 0.1 ms in all-to-alls, in a few 4 ms")          \
    P(int64_t, GROUP_STEADY_NS, 3000, "ns", PHYSICAL, "scatter of ends below which two groups are equally steady")     \
    P(int64_t, GROUP_STEADIER, 4, "times", STATISTICAL,                                                                \
      "least ratio between the scatter of other ranks and that of a group's own")                                      \
    P(size_t, GROUP_MISTAKES, 20, "1 in", STATISTICAL,                                                                 \
      "share of the collectives of a group that a rank may seem to leave before another has come; with more the "      \
      "ranks are of two groups")                                                                                       \
    P(int64_t, RING_SPARED_PART, 8, "1 in", PHYSICAL,                                                                  \
      "share of the time of a ring that members behind a slow link still take")                                        \
    P(int64_t, WAIT_EXPLAINED_PART, 4, "1 in", STATISTICAL,                                                            \
      "share of a rank's lateness that work since its last collective may leave unexplained; with more the rank "      \
      "was late before")                                                                                               \
    P(int64_t, BEHAVES_NAMES, 32, "", STATISTICAL,                                                                     \
      "kernels of unknown names that a rank reports, the longest ones first: a job has a dozen kernels that "          \
      "communicate")                                                                                                   \
    P(int64_t, BEHAVES_ITEMS, 64, "", STATISTICAL,                                                                     \
      "launches of such a kernel that a rank reports on average, the same ones on all ranks: a comparison needs a "    \
      "tenth of them")                                                                                                 \
    P(int64_t, BEHAVES_RANKS, 16, "", STATISTICAL,                                                                     \
      "ranks that are compared with all others, those whose kernels take least time, and as many others: the last "    \
      "to come shows best what the others wait for")                                                                   \
    P(int64_t, DOUBTS_MANY, 3, "", USER, "doubts that make the trust in an answer low; one grave doubt does, too")     \
    P(double, PHASE_MAKES_UP, 0.7, "", STATISTICAL,                                                                    \
      "share of a rank's excess in one phase that its shorter phases must make up for, to be taken for the other "     \
      "side of one wait, as in pipeline stages that wait in sends and receives")                                       \
    P(double, VERDICT_ALPHA, 0.01, "", USER,                                                                           \
      "--alpha: greatest chance that a job gets one wrong name, over all tests together; and that two runs are "       \
      "said to differ, or collectives to be matched, wrongly")                                                         \
    P(double, VERDICT_LEAST_COST, 0.01, "step", USER,                                                                  \
      "--least-cost: least cost, of the steps in which a rank is late, for which the rank is named; least change "     \
      "of a part of the step between two runs that is told")                                                           \
    P(double, VERDICT_SURE_CHANCE, 0.00001, "", STATISTICAL,                                                           \
      "greatest chance (p) of a name with trust high: the tails of real noise differ from those of the test. "         \
      "Measured on 690 made jobs: of 45 names with a greater p 8 are wrong, of 260 others 4")                          \
    P(double, VERDICT_LARGE_COST, 0.05, "step", USER,                                                                  \
      "cost of a step that the traces must rule out before \"no rank\" is said with trust high")                       \
    P(double, DIFF_EACH_LEAST, 0.03, "", PHYSICAL,                                                                     \
      "two runs: least change of the time of one launch that counts: devices, hosts and days differ by less")          \
    P(double, DIFF_COUNT_LEAST, 0.05, "", STATISTICAL,                                                                 \
      "two runs: least change of a count per step that counts: a recording that begins within a step changes "         \
      "counts by less")

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
