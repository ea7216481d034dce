/* fail_on.h - thresholds under which a job is good enough: `--fail-on 'straggler>5%,idle>20%'`.
 *
 *     straggler   the loss to ranks that hold the job up, as a share of wall time: the largest gain of one, or of all
 *                 that stand out together; without a simulation, or if it gains nothing, how long others
 *                 waited in the steps concerned
 *     link        the same of slow links
 *     idle        devices without work, of the time of all ranks
 *     comm        exposed communication, of the time of all ranks
 *
 * Without a verdict (one rank, nothing matched, inconclusive, or no culprit while ranks have no steps ...), straggler
 * and link are not judged: such a threshold is not met, and the judgement says so.
 */
#ifndef TLMPI_REPORT_ANSWERS_FAIL_ON_H
#define TLMPI_REPORT_ANSWERS_FAIL_ON_H

#include <stdbool.h>
#include <stdio.h>

struct tl_answers; /* answers.h */

typedef enum tl_gate_kind { TL_GATE_STRAGGLER, TL_GATE_LINK, TL_GATE_IDLE, TL_GATE_COMM, TL_NGATES } tl_gate_kind;

/* Most names that a threshold may have. */
enum { TL_GATES_MOST = 8 };
typedef struct tl_gate_names {
    const char *names[TL_GATES_MOST + 1]; /* NULL-terminated */
    const char *sign;                     /* between name and percentage: ">" or ">+" */
    double percent;                       /* largest percentage allowed */
} tl_gate_names;
extern const tl_gate_names tl_answer_gates;

/* At most one threshold per name: a share above `most` fails. */
typedef struct tl_gates {
    bool set[TL_GATES_MOST];
    double most[TL_GATES_MOST]; /* shares */
} tl_gates;

/* The syntax of thresholds with tl_answer_gates, for messages. */
#define TL_GATES_SYNTAX "NAME>PERCENT%,... with straggler, link, idle or comm for NAME, as 'straggler>5%,idle>20%'"

/* Reads "straggler>5%,idle>20%"; spaces are allowed around names and numbers.  Returns false, with *gates unchanged, if
 * the text is no list of thresholds or repeats a name.  An empty text sets no threshold. */
bool tl_gates_read(const tl_gate_names *of, const char *text, tl_gates *gates);

/* Returns whether any threshold is met.  Prints on `err`, a line each, which are met, and which were not judged. */
bool tl_gates_judge(const tl_gates *gates, const struct tl_answers *answers, FILE *err);

#endif
