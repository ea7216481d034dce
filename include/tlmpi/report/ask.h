/* ask.h - the four questions and their answers, for people and for programs.
 *
 * The decisions stand in table culprit.  May use answers and format.
 */
#ifndef TLMPI_REPORT_ASK_H
#define TLMPI_REPORT_ASK_H

#include "tlmpi/report/answers/answers.h"
#include <stdio.h>

/* Prints a paragraph per question: the answer, its evidence with the table to look at, its confidence.  `file` is
 * the path of the result.  Lines are `columns` wide; 0: as many as the terminal has; TL_ONE_LINE: each answer, and each
 * item of its evidence, is one line, which begins with two spaces. */
void tl_print_answers(FILE *out, const tl_answers *answers, const char *file, size_t columns);

/* One object.  Its keys (times are integers of ns, shares are 0 to 1, null is not known):
 *
 *     format         1; a change that breaks readers makes it 2
 *     file           path of the result
 *     selection      the selected part of the traces; only where a part is selected
 *     selection_notes  selected parts without any event, and what stays whole in spite of the selection; only where
 *                    there are any
 *     verdict        "straggler", "slow_link", "none", "inconclusive", "unmatched", "no_communication", "one_rank",
 *                    "no_device_work"
 *     which_rank, which_phase, others_waiting, persistent      an object each:
 *         answer         the rank (of several together the one that alone costs most; `ranks` in the evidence lists
 *                        all), the cause (without a culprit the largest loss), true or false, the pattern; or null
 *         confidence     "high", "medium", "low"
 *         doubts         array of words: what the confidence was lowered for
 *         evidence       object of numbers, and a few texts
 *         tables         array of the evidence's tables: straggler, link, blame, breakdown, blame_step, phase_verdict,
 *                        phase or phase_step
 *     evidence of
 *         which_rank     ranks, gain_ns, gain_share, together_gain_ns (of all that stand out, where several are named),
 *                        links_gain_ns (of all slow links together, where none of them alone gains nearly as much),
 *                        step_cost_ns of step_ns (of a rank), collectives_last (in which it, or one of them, came last)
 *                        of collectives_judged (whose last rank is known), z, p_value, path_share; where no rank
 *                        holds the job up: most_excess (the rank whose own work exceeds that of its peers most),
 *                        most_excess_ns (its own time), most_excess_share (of the wall time), p_value
 *         which_phase    of a rank: place, largest_cause, cause_share (null: no cause is known), excess (array: where
 *                        `rank` spends more than its peers, of (work or host), place, own_ns and peers_ns as in table
 *                        excess), waited_ns (GPU time that others waited for the rank, by
 *                        `cause` of table blame); of a link: kind (or "unknown"), bytes, transfer_ns, should_take_ns,
 *                        ratio; without a culprit: loss_ns, loss_share
 *         others_waiting GPU time, summed over all ranks that waited: all_waiting_ns (for ranks that came late: the sum
 *                        of table blame), all_waiting_share (of the time of all ranks), exposed_ns (upper bound of the
 *                        part while nothing else ran), uncharged_ns (exposed waiting in sends and receives, which are
 *                        charged to no rank), passed_on_ns (the part for ranks that had waited themselves),
 *                        waited_for (array: the ranks waited for most, directly: rank, ns, share of all waiting),
 *                        ranks_waited_for (number of ranks waited for); of a culprit blame_ns, indirect_ns (the part
 *                        for ranks that waited for the culprit), share_of_all_waiting, ranks_waiting and ranks (that
 *                        waited for the culprit directly)
 *         persistent     steps, steps_flagged (of the pattern), steps_not_counted (flagged, but not of the pattern: the
 *                        culprit costs less in these steps, or recordings begin or end there), share_steps (of both,
 *                        table straggler), p_value
 *     culprits       array, worst first; each with kind ("rank"; "ranks": several ranks whose joint repair gains much
 *                    more than the repair of any one; "untraced": a rank without a trace, whose cost is a lower bound;
 *                    "link"), ranks, rank (of several the one that alone costs most), peer (of a link), host, device,
 *                    cause, largest_cause, cause_share, place, pattern, first_step, last_step, steps_flagged, p_value,
 *                    gain_ns, gain_share, path_share, excess_ns (its own time in its steps), blame_ns (GPU time),
 *                    ranks_waiting
 *     loss           the largest over all ranks: what, ns, share; exposed communication of all ranks: comm_waiting_ns,
 *                    comm_transfer_ns, comm_unknown_ns (waiting or transfer), comm_unknown_why (as in table exposed);
 *                    and of the rank with the largest loss: rank, rank_what, rank_ns, rank_share
 *     imbalance      lost time without a rank at fault, 0 where less than --least-cost: rank, times (of the role that
 *                    computes longest; -1), roles_gain_ns (if roles were alike), chance_gain_ns (if no rank were slower
 *                    than usual in any step), hosts_gain_ns (if hosts took no time)
 *     phases         only of a job with durations of phases: array of rows of table phase_verdict: rank, phase,
 *                    verdict, pattern, excess_ns, cost_ns, p_value, reason.  Without traces, a job has only this key,
 *                    phases_verdict, and the keys up to persistent, with evidence from table phase_verdict
 *                    (excess_share: column share; waits_in)
 *     phases_verdict  as verdict, by the durations of phases
 *     critical_path  across ranks: ns, unexplained_ns (by no work, transfer or known wait), rank and activity with the
 *                    largest part of the path (rank_share, activity_share), imbalance_share; empty where nothing could
 *                    be replayed
 *     bound          what bounds the time of the first culprit's rank, or (rank null) of all ranks together: the
 *                    parts of table path_sum, summed over the steps that table health leaves in: wall_ns, which is
 *                    cpu_ns + launch_ns + kernel_kernel_ns + compute_ns + comm_ns + copy_ns + input_ns + sync_ns +
 *                    peer_ns + unexplained_ns; empty where there are none
 *     trust          what the answers rest on: ranks, ranks_missing, ranks_damaged, events_without_duration (or with a
 *                    duration below 0, which counts as 0), ranks_without_device_work, ranks_duplicate (more traces of
 *                    the same time), ranks_without_launches (device work alone), world_size and world_size_least (as
 *                    traces tell; -1: none does), ranks_unmarked (no steps, where others have),
 *                    ranks_with_steps_of_others (no marks, or other numbers: their steps are those of the ranks that
 *                    they meet in collectives), steps, collectives, matched, outside_steps (matched, but in no step,
 *                    though ranks mark steps), waiting_hidden_ns (clocks cannot tell which rank was waited for),
 *                    clocks, clock_uncertainty_ns, clocks_shifted, clocks_compared, simulated, model_error, wall_ns
 *     health         array: what is wrong with the recording, the rows of table health: rank, defect, step, count, of,
 *                    time_ns, done
 */
void tl_print_answers_json(FILE *out, const tl_answers *answers, const char *file);

#endif
