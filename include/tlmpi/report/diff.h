/* diff.h - two runs compared, in words: the verdict, and the facts that make times hardly comparable.
 *
 * From the tables of the comparison (model/diff_tables.h).  May use format, and the thresholds of answers.
 */
#ifndef TLMPI_REPORT_DIFF_H
#define TLMPI_REPORT_DIFF_H

#include "tlmpi/model/diff_tables.h"
#include "tlmpi/model/table.h"
#include "tlmpi/report/answers/fail_on.h"
#include <stdio.h>

/* Everything is borrowed. */
typedef struct tl_diff_words {
    const tl_table *found, *run, *step, *kernel, *operator, * call_path;
    tl_text (*name)(void *arg, uint32_t id); /* text of a NAME cell */
    void *name_arg;
    tl_diff_basis basis;
    size_t columns; /* of a line; 0: as many as the terminal has; TL_ONE_LINE: one line per sentence and finding */
} tl_diff_words;

/* Prints the differing facts, then "B is 8.2 % slower per step ...: +6.1 % in all_reduce of ranks 0-7 ...". */
void tl_print_diff(FILE *out, const tl_diff_words *words);

/* Thresholds of `--fail-on 'step>+5%,kernel>+20%,idle>+3%'`: how much more B may take than A.
 *
 *     step       of the median step, or of the mean one where more steps of B are far above the median than by chance
 *     kernel     of the time of any kernel, copy or memset that takes a hundredth of the step (parameter least_cost),
 *                and grew by more than devices differ by (parameter diff_least) and by chance; not of communication,
 *                whose time contains waiting
 *     compute, waiting, transfer, comm, copy, idle     of the step of A; comm: waiting, transfer, and unknown of both
 */
typedef enum tl_diff_gate {
    TL_DIFF_GATE_STEP,
    TL_DIFF_GATE_KERNEL,
    TL_DIFF_GATE_COMPUTE,
    TL_DIFF_GATE_WAITING,
    TL_DIFF_GATE_TRANSFER,
    TL_DIFF_GATE_COMM,
    TL_DIFF_GATE_COPY,
    TL_DIFF_GATE_IDLE,
    TL_NDIFF_GATES
} tl_diff_gate;

extern const tl_gate_names tl_diff_gates;

#define TL_DIFF_GATES_SYNTAX                                                                                           \
    "NAME>+PERCENT%,... with step, kernel, compute, waiting, transfer, comm, copy or idle for NAME, as "               \
    "'step>+5%,kernel>+20%,idle>+3%'"

typedef enum tl_gates_judged {
    TL_GATES_HELD,
    TL_GATES_UNKNOWN, /* none passed, but waiting or transfer may have, depending on the unknown part */
    TL_GATES_PASSED   /* passed by a change that is significant, or that no test can judge */
} tl_gates_judged;

/* Judges the thresholds.  Prints on `err`, a line each, the passed thresholds, changes that may be chance, and
 * thresholds that lie between bounds. */
tl_gates_judged tl_diff_gates_judge(const tl_gates *gates, const tl_diff_words *words, FILE *err);

#endif
