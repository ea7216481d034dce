/* parameters.h - the numbers that decide verdicts: each with its unit, its kind, and the reason for its value.
 *
 * Every number that decides anything in time, clock, match, wait, graph, untraced_ranks, baseline, replay, verdict,
 * cause, culprit, chance, phase, behave and diff stands here (tests/numbers.sh checks it), or is a threshold of --idle.
 * Three kinds of numbers may decide:
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
      "greatest disagreement of two correct time stamps, of host and device or of two devices of a host, and time "    \
      "of a call that waits for nothing. Measured: ranks leave an all-to-all 6 us before its last member begins; "     \
      "kernels begin 13 us before their launches")                                                                     \
    P(int64_t, CLOCK_MOST_DRIFT_PPB, 1000000, "ppb", PHYSICAL,                                                         \
      "greatest drift between two clocks: oscillators differ by 100 ppm at most, and NTP changes a rate by up to "     \
      "500 ppm")                                                                                                       \
    P(double, CLOCK_ENDS_PART, 20, "1 in", PHYSICAL,                                                                   \
      "share of a collective's transfer by which members may leave it apart every time; measured: 1 % in rings of "    \
      "8, 4 % in groups of 4, 6 % between pipeline stages")                                                            \
    P(uint32_t, SAMPLES, 64, "", STATISTICAL,                                                                          \
      "size of an even sample where a full search would take long: collectives of a group for clocks; launches, "      \
      "names and ranks for kernels of unknown names; levels of lateness; number of late candidates above which half "  \
      "are dropped in one round")                                                                                      \
    P(int64_t, ROUNDING_NS, 1000, "ns", PHYSICAL,                                                                      \
      "resolution of time stamps: microseconds, in some traces rounded to whole ones")                                 \
    P(int64_t, WAKE_NS, 500000, "ns", PHYSICAL,                                                                        \
      "longest time from the end of device work until the host that waited for it continues, in recorded waits; a "    \
      "shorter unrecorded pause need not be a wait")                                                                   \
    P(int64_t, WAKE_SPREAD_NS, 50000, "ns", PHYSICAL,                                                                  \
      "difference of that time between hosts; after an unrecorded wait the time is at most three times this long, "    \
      "until the next launch twice. Measured: 16 to 90 us between ranks, 10 us within a rank")                         \
    P(int64_t, TRACE_ERROR_NS, 100000, "ns", PHYSICAL,                                                                 \
      "contradiction of time stamps from which the trace is wrong: work that outlasts later work of its stream "       \
      "(measured: none of 75,000 pieces in 120 public traces), a kernel that begins before its launch (measured: "     \
      "up to 81 us)")                                                                                                  \
    P(int64_t, LAST_WORK_MOST_NS, 600000000000, "ns", PHYSICAL,                                                        \
      "longest time by which the last work of a stream may outlast the recording: profilers wait for the device "      \
      "before they stop, and a hanging collective is given up after ten minutes")                                      \
    P(size_t, WAYS_MOST, 4, "", PHYSICAL,                                                                              \
      "number of dependencies of a collective on earlier ones that are kept for a rank, the latest first. Measured "   \
      "on 140 jobs without some of their ranks: 6 and 8 give as many right gains")                                     \
    P(double, TAIL_DEGREES, 6, "", STATISTICAL,                                                                        \
      "fewest degrees of freedom of Student's t for a duration; 5 is the least with a finite kurtosis; more where "    \
      "the job shows lighter tails; 2 n - 2 more for n. For a transfer or copy half: 4 of 48 all-reduces of a real "   \
      "job take 80 times the median")                                                                                  \
    P(double, TAIL_SURE, 1.645, "sigma", STATISTICAL,                                                                  \
      "standard errors, sqrt(24 / n), by which the excess kurtosis of n durations is taken above the measured one: "   \
      "the upper bound of 95 % confidence")                                                                            \
    P(size_t, MEDIAN_LEAST, 3, "", STATISTICAL,                                                                        \
      "fewest values with a robust median (one wrong value does not move it) and a spread; twice as many for one in "  \
      "either half")                                                                                                   \
    P(size_t, PATTERN_LEAST, 5, "", STATISTICAL,                                                                       \
      "fewest values that show a pattern: with fewer steps a ramp and a level look alike; with fewer launches that "   \
      "begin apart and end together, which 1 of 10 independent ones do, a kernel is not taken for communication")      \
    P(double, SURE_SIGMAS, 3, "sigma", STATISTICAL,                                                                    \
      "least multiple of its scatter at which a finding counts: an offset, drift or jump of a clock; a lag behind "    \
      "the device that differs between hosts; in two runs, a step above the median")                                   \
    P(double, MOST_SHARE, 0.8, "", USER,                                                                               \
      "share from which something counts as the whole: late steps for a persistent delay; the part of a delay for "    \
      "its cause; the transfer in a collective (all from the specification); launches that begin apart and end "       \
      "together (measured: 0.81)")                                                                                     \
    P(int64_t, LITTLE_PART, 10, "1 in", USER,                                                                          \
      "share up to which something is ignored: waiting, events that are lost or contradict others, clocks that "       \
      "differ, ranks that disagree, a queue below its limit (73 to 76 are counted in a full one)")                     \
    P(double, NOTHING_SHARE, 0.001, "", PHYSICAL,                                                                      \
      "share of a whole that counts as nothing: lateness or a change of a step, which time stamps of 1 us hardly "     \
      "resolve; events without a duration; the time of one kernel")                                                    \
    P(int64_t, BEHAVES_PART, 4, "1 in", STATISTICAL,                                                                   \
      "greatest scatter of the ends of a communicating kernel, as a share of the scatter of its beginnings")           \
    P(int64_t, ENDS_NS, 500000, "ns", PHYSICAL,                                                                        \
      "greatest difference of the ends of one collective once clocks are aligned, and of its scatter around them; "    \
      "measured: 0.4 ms in all-reduces")                                                                               \
    P(int64_t, LOOSE_ENDS_NS, 5000000, "ns", PHYSICAL,                                                                 \
      "the same for kinds that ranks may leave early, and for messages before clocks are aligned; measured: 4.3 ms "   \
      "in all-to-alls")                                                                                                \
    P(int64_t, DOUBTS_MANY, 3, "", USER,                                                                               \
      "number of doubts that makes the trust in an answer low; one grave doubt does, too")                             \
    P(double, VERDICT_ALPHA, 0.01, "", USER,                                                                           \
      "--alpha: greatest probability of a wrong name in a job, over all tests together; also of a wrong wait from "    \
      "pauses, a wrong difference of two runs, or a wrong match of collectives")                                       \
    P(double, VERDICT_LEAST_COST, 0.01, "step", USER,                                                                  \
      "--least-cost: least cost for which a rank is named, as a share of the steps in which it is late; least "        \
      "reported change of a part of the step between two runs")                                                        \
    P(double, VERDICT_SURE_CHANCE, 0.00001, "", STATISTICAL,                                                           \
      "greatest p_value of a name with trust high: the tails of real noise differ from those of the test. Measured "   \
      "on 690 made jobs: of 45 names with a greater p 8 are wrong, of 260 others 4")                                   \
    P(double, VERDICT_LARGE_COST, 0.05, "step", USER,                                                                  \
      "cost of a step that the traces must rule out before \"no rank\" is said with trust high")                       \
    P(double, DIFF_LEAST, 0.03, "", PHYSICAL,                                                                          \
      "two runs: least relevant change of the time of one launch, and of a count per step: devices, hosts and days "   \
      "differ by less")

#define TL_PARAMETER_CONSTANT(type, name, value, unit, kind, reason) static const type TL_##name = value;
TL_PARAMETERS(TL_PARAMETER_CONSTANT)
#undef TL_PARAMETER_CONSTANT

#define TL_PARAMETER_VALUES(V)                                                                                         \
    V(TL_PARAMETER_PHYSICAL, "physical", "what clocks, calls and time stamps are measured to do")                      \
    V(TL_PARAMETER_STATISTICAL, "statistical", "what a test needs to keep its rate of error")                          \
    V(TL_PARAMETER_USER, "user", "what a user may choose")
typedef enum tl_parameter_kind { TL_PARAMETER_VALUES(TL_VALUE_NAME) } tl_parameter_kind;
TL_LABELS(parameter);

/* The values of the parameters that a result was made with. */
#define TL_PARAMETER_FIELDS(F, T)                                                                                      \
    F(T, TEXT64, name, KEY, "", "parameter")                                                                           \
    F(T, F64, value, MEASURE, "", "its value")                                                                         \
    F(T, TEXT64, unit, LABEL, "", "unit of the value; step: a share of a step")                                        \
    F(T, ENUM(parameter), kind, LABEL, "", "what kind of number it is")                                                \
    F(T, TEXT256, reason, LABEL, "", "the reason for the value, and how it was measured")
TL_TABLE(parameter, TL_PARAMETER_FIELDS);

/* Appends one row per parameter, with the user's alpha and least_cost. */
void tl_parameters_list(tl_table *table, double alpha, double least_cost);

/* Returns the value of the parameter `name` in table `parameter` of a result; `otherwise` if the table lacks it. */
double tl_parameter_value(const tl_table *table, const char *name, double otherwise);

#endif
