/* ask.h - the four questions and their answers, for people and for programs.
 *
 * From answers.  Nothing is decided here: what they are stands in table culprit.  May use answers and format.
 */
#ifndef TLMPI_REPORT_ASK_H
#define TLMPI_REPORT_ASK_H

#include "tlmpi/report/answers/answers.h"
#include <stdio.h>

/* A paragraph a question: the answer, its evidence with the table to look at, its confidence.  `file` is the path of the
 * result.  Lines have so many columns, with 0 as tl_line_columns says; with SIZE_MAX each answer, and each of what
 * belongs to it, is one line, which begins with two spaces. */
void tl_print_answers(FILE *out, const tl_answers *answers, const char *file, size_t columns);

/* One object.  Its keys (times are integers of ns, shares are 0 to 1, null is not known):
 *
 *     format         1; a change that breaks readers makes it 2
 *     file           path of the result
 *     selection      of which part of the traces it is; only where it is not of all of them
 *     selection_notes  which parts that were asked for nothing is of, and what is whole all the same; only where there
 *                    is such
 *     verdict        "straggler", "slow_link", "none", "inconclusive", "unmatched", "no_communication", "one_rank",
 *                    "no_device_work"
 *     which_rank, which_phase, others_waiting, persistent      an object each:
 *         answer         the rank (of several together the one that alone costs most; ranks in the evidence has all), the cause
 *                        (without a culprit the largest loss), true or false, the pattern; or null
 *         confidence     "high", "medium", "low"
 *         doubts         array of words: what the confidence was lowered for
 *         evidence       object of numbers, and a few texts
 *         tables         array: where the evidence stands
 *     evidence of
 *         which_rank     ranks, gain_ns, gain_share, together_gain_ns (of all that stand out, where several are named),
 *                        links_gain_ns (of all slow links together, where none of them alone gains nearly as much),
 *                        step_cost_ns of step_ns (of a rank), collectives_last (in which it, or one of them, came last)
 *                        of collectives_judged (in which anybody is known to have), z, p_value, path_share; where nobody
 *                        holds the job up: most_excess (the rank whose own work exceeds that of its peers most),
 *                        most_excess_ns (its own time), most_excess_share (of the wall time), p_value
 *         which_phase    of a rank: place, largest_cause, cause_share, cause_from (of what: as in table straggler),
 *                        excess (array: where `rank` spends more than its peers, of (work or host), place, own_ns and
 *                        peers_ns of a step: table excess), waited_ns
 *                        (GPU time that others waited for it, by `cause` of table blame); of a link: kind, bytes, transfer_ns, should_take_ns,
 *                        ratio; of nobody: loss_ns, loss_share
 *         others_waiting GPU time, that of all who waited summed: all_waiting_ns (for ranks that came late: the sum of table
 *                        blame), all_waiting_share (of the time of all ranks), exposed_ns (of it at most so much while nothing else
 *                        ran), passed_on_ns (of it for ranks that had waited themselves), waited_for (array: for whom itself
 *                        most, of ranks_waited_for: rank, ns, share of all waiting); of a
 *                        culprit blame_ns, indirect_ns (of it: waited
 *                        for ranks that waited for it), share_of_all_waiting, ranks_waiting, ranks (for it itself)
 *         persistent     steps, steps_flagged (of the pattern), steps_not_counted (flagged, too, but none of it: it costs less in
 *                        them, or recordings begin or end there), share_steps (of both, table straggler), p_value
 *     culprits       array, worst first; each with kind ("rank"; "ranks": several whose joint repair gains much more than that of
 *                    any alone; "untraced": a rank that has no trace, which costs at least what is said; "link"), ranks, rank (of several the one that alone costs most), peer (of a link), host, device,
 *                    cause, largest_cause, cause_share, place, pattern, first_step, last_step, steps_flagged, p_value, gain_ns,
 *                    gain_share, path_share, excess_ns (its own time in its steps), blame_ns (GPU time), ranks_waiting
 *     loss           the largest over all ranks: what, ns, share; exposed communication of all ranks: comm_waiting_ns,
 *                    comm_transfer_ns, comm_unknown_ns (waiting or transfer), comm_unknown_why (as in table exposed); and
 *                    of the rank that loses most: rank, rank_what, rank_ns, rank_share
 *     imbalance      what nobody is at fault for, 0 where less than --least-cost: rank, times (of the role that computes longest; -1), roles_gain_ns
 *                    (were roles alike), chance_gain_ns (were nobody slower than usual in any step), hosts_gain_ns (were hosts to take
 *                    no time)
 *     phases         only of a job of which there are durations of phases and no traces, whose other keys then are those up to
 *                    persistent, with evidence as in table phase_verdict: array of its rows: rank, phase, verdict, pattern,
 *                    excess_ns, cost_ns, p_value, reason
 *     critical_path  across ranks: ns, unexplained_ns (by no work, transfer or known wait), rank and activity with the largest part of it (rank_share, activity_share),
 *                    imbalance_share; empty where nothing could be replayed
 *     trust          what all rests on: ranks, ranks_missing, ranks_damaged, events_without_duration (or with one below 0: it
 *                    counts as 0), ranks_without_device_work, ranks_duplicate (more
 *                    traces of the same time), ranks_without_launches (device work alone), world_size and
 *                    world_size_least (as traces tell; -1: none does), ranks_unmarked (no steps, where others have),
 *                    ranks_with_steps_of_others (no marks, or other numbers: steps of the collectives in which they meet
 *                    the rest), steps, collectives, matched,
 *                    outside_steps (of these: in no step, though ranks mark steps), waiting_hidden_ns (of which clocks
 *                    cannot tell for whom it was), clocks, clock_uncertainty_ns,
 *                    clocks_shifted, clocks_compared, simulated, model_error, wall_ns
 *     health         array: what is wrong with the recording, the rows of table health: rank, defect, step, count, of, time_ns,
 *                    done
 */
void tl_print_answers_json(FILE *out, const tl_answers *answers, const char *file);

#endif
