/* diff.h - two runs compared, in words: the verdict, and which facts make times hardly comparable.
 *
 * From the tables of the comparison (model/diff_tables.h); may use format, and the thresholds of answers.  Nothing is decided here.
 */
#ifndef TLMPI_REPORT_DIFF_H
#define TLMPI_REPORT_DIFF_H

#include "tlmpi/model/diff_tables.h"
#include "tlmpi/model/table.h"
#include "tlmpi/report/answers/fail_on.h"
#include <stdio.h>

/* Everything is borrowed. */
typedef struct tl_diff_words {
    const tl_table *found, *run, *step, *kernel, *operator, *call_path;
    tl_text (*name)(void *arg, uint32_t id); /* text of a NAME cell */
    void *name_arg;
    tl_diff_basis basis;
    size_t columns; /* of a line; 0: as tl_line_columns says; TL_ONE_LINE: each sentence and each finding is one line */
} tl_diff_words;

/* What differs first, then "B is 8.2 % slower per step ...: +6.1 % in all_reduce of ranks 0-7 ...". */
void tl_print_diff(FILE *out, const tl_diff_words *words);

/* Thresholds of `--fail-on 'step>+5%,kernel>+20%,idle>+3%'`: how much more B may take than A.
 *
 *     step       of the median step, or of the mean one where more steps of B are far above the median than by chance
 *     kernel     of any kernel, copy or memset that takes a hundredth of the step (parameter diff_least), of its own time;
 *                not of communication, whose time holds waiting
 *     compute, waiting, transfer, comm, copy, idle     of the step of A; comm is waiting, transfer and what may be either
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
    TL_GATES_UNKNOWN, /* none is passed, and waiting or transfer may have passed theirs, of what may be either */
    TL_GATES_PASSED   /* by a change that is no chance, or that no test could tell from chance */
} tl_gates_judged;

/* Judges the thresholds.  Says on `err`, a line each, which are passed, which changes may be chance, and which are between
 * bounds. */
tl_gates_judged tl_diff_gates_judge(const tl_gates *gates, const tl_diff_words *words, FILE *err);

#endif
