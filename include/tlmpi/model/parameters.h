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
      "how many are looked at, drawn evenly, where all would take long: collectives of a group for clocks, "           \
      "launches, names and ranks for kernels of unknown names, levels of lateness; late candidates from which half "   \
      "are dropped at once")                                                                                           \
    P(int64_t, ROUNDING_NS, 1000, "ns", PHYSICAL,                                                                      \
      "resolution of time stamps: microseconds, in some traces rounded to whole ones")                                 \
    P(int64_t, WAKE_NS, 500000, "ns", PHYSICAL,                                                                        \
      "longest time from the end of device work until the host that waited for it goes on, in recorded waits; an "     \
      "unrecorded pause up to this long need not be a wait")                                                           \
    P(int64_t, WAKE_SPREAD_NS, 50000, "ns", PHYSICAL,                                                                  \
      "difference between hosts in that time, which itself is at most three times as long after a wait that no "       \
      "call tells of, and twice until the next launch; measured: 16 to 90 us between ranks, 10 us within a rank")      \
    P(int64_t, TRACE_ERROR_NS, 100000, "ns", PHYSICAL,                                                                 \
      "contradiction of time stamps from which the trace is wrong: work that outlasts later work of its stream "       \
      "(measured: none of 75,000 pieces in 120 public traces), a kernel that begins before its launch (measured: "     \
      "up to 81 us)")                                                                                                  \
    P(int64_t, LAST_WORK_MOST_NS, 600000000000, "ns", PHYSICAL,                                                        \
      "longest time by which the last work of a stream may outlast the recording: profilers wait for the device "      \
      "before they stop, and a hanging collective is given up after ten minutes")                                      \
    P(size_t, WAYS_MOST, 4, "", PHYSICAL,                                                                              \
      "dependencies of a collective on earlier ones that are kept for a rank, the latest first. Measured on 140 "      \
      "jobs from which ranks were taken away: 6 and 8 give as many right gains")                                       \
    P(double, TAIL_DEGREES, 6, "", STATISTICAL,                                                                        \
      "fewest degrees of freedom of Student's t for a duration; 5 is the least with a finite kurtosis; more where "    \
      "the job shows lighter tails; 2 n - 2 more for n. For a transfer or copy half: 4 of 48 all-reduces of a real "   \
      "job take 80 times the median")                                                                                  \
    P(double, TAIL_SURE, 1.645, "sigma", STATISTICAL,                                                                  \
      "standard errors, sqrt(24 / n), by which the excess kurtosis of n durations is taken above the measured one: "   \
      "the upper bound of 95 % confidence")                                                                            \
    P(size_t, MEDIAN_LEAST, 3, "", STATISTICAL,                                                                        \
      "fewest values that have a median which one wrong value does not move, and a spread; twice as many have one "    \
      "in either half")                                                                                                \
    P(size_t, PATTERN_LEAST, 5, "", STATISTICAL,                                                                       \
      "fewest values that have a pattern: with fewer steps a ramp is not told from a level; with fewer launches "      \
      "that begin apart and end together, which independent ones do in one of ten, a kernel is not taken for "         \
      "communication")                                                                                                 \
    P(double, SURE_SIGMAS, 3, "sigma", STATISTICAL,                                                                    \
      "what is found counts from this many times its scatter on: an offset, drift or step of a clock; a lag behind "   \
      "the device that differs between hosts; two runs: a step above the median")                                      \
    P(double, MOST_SHARE, 0.8, "", USER,                                                                               \
      "share that is nearly the whole, and the rest little: of all steps, to be late persistently; of a delay, for "   \
      "its cause; of a collective, to be transfer (all from the specification); of launches that begin apart, to "     \
      "end together (measured: 0.81)")                                                                                 \
    P(int64_t, LITTLE_PART, 10, "1 in", USER,                                                                          \
      "share up to which something is not worth a word, or may be otherwise: waiting, events that are lost or "        \
      "contradict others, clocks that differ, ranks that disagree, counts of a queue toward its limit (73 to 76 "      \
      "are counted in a full one)")                                                                                    \
    P(double, NOTHING_SHARE, 0.001, "", PHYSICAL,                                                                      \
      "share of a whole that is as good as nothing: lateness or a change of a step, which time stamps of 1 us "        \
      "hardly resolve; events without a duration; the time of a kernel among all")                                     \
    P(int64_t, BEHAVES_PART, 4, "1 in", STATISTICAL,                                                                   \
      "ends of a communicating kernel scatter by at most this share of what its beginnings scatter by")                \
    P(int64_t, ENDS_NS, 500000, "ns", PHYSICAL,                                                                        \
      "greatest difference of the ends of one collective once clocks are aligned, and of its scatter around them; "    \
      "measured: 0.4 ms in all-reduces")                                                                               \
    P(int64_t, LOOSE_ENDS_NS, 5000000, "ns", PHYSICAL,                                                                 \
      "the same for kinds that ranks may leave early, and for messages before clocks are aligned; measured: 4.3 ms "   \
      "in all-to-alls")                                                                                                \
    P(int64_t, DOUBTS_MANY, 3, "", USER, "doubts that make the trust in an answer low; one grave doubt does, too")     \
    P(double, VERDICT_ALPHA, 0.01, "", USER,                                                                           \
      "--alpha: greatest chance that a job gets one wrong name, over all tests together; and that pauses are taken "   \
      "for waits, two runs said to differ, or collectives matched, wrongly")                                           \
    P(double, VERDICT_LEAST_COST, 0.01, "step", USER,                                                                  \
      "--least-cost: least cost, of the steps in which a rank is late, for which the rank is named; least change "     \
      "of a part of the step between two runs that is told")                                                           \
    P(double, VERDICT_SURE_CHANCE, 0.00001, "", STATISTICAL,                                                           \
      "greatest chance (p) of a name with trust high: the tails of real noise differ from those of the test. "         \
      "Measured on 690 made jobs: of 45 names with a greater p 8 are wrong, of 260 others 4")                          \
    P(double, VERDICT_LARGE_COST, 0.05, "step", USER,                                                                  \
      "cost of a step that the traces must rule out before \"no rank\" is said with trust high")                       \
    P(double, DIFF_LEAST, 0.03, "", PHYSICAL,                                                                          \
      "two runs: least change of the time of one launch, and of a count per step, that counts: devices, hosts and "    \
      "days differ by less")

#define TL_PARAMETER_CONSTANT(type, name, value, unit, kind, reason) static const type TL_##name = value;
TL_PARAMETERS(TL_PARAMETER_CONSTANT)
#undef TL_PARAMETER_CONSTANT

#define TL_PARAMETER_VALUES(V)                                                                                         \
    V(TL_PARAMETER_PHYSICAL, "physical", "what clocks, calls and time stamps are measured to do")                      \
    V(TL_PARAMETER_STATISTICAL, "statistical", "what a test needs to keep its rate of error")                          \
    V(TL_PARAMETER_USER, "user", "what somebody may choose")
typedef enum tl_parameter_kind { TL_PARAMETER_VALUES(TL_VALUE_NAME) } tl_parameter_kind;
TL_LABELS(parameter);

/* The values of the parameters that a result was made with. */
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

/* Returns the value of the parameter `name` in table `parameter` of a result; `otherwise` if the table lacks it. */
double tl_parameter_value(const tl_table *table, const char *name, double otherwise);

#endif
