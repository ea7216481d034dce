/* fail_on.h - thresholds under which a job is good enough: `--fail-on 'straggler>5%,idle>20%'`.
 *
 *     straggler   what the job loses to ranks that hold it up, as a share of its wall time: the largest gain of one, or of all
 *                 that stand out together; where nothing could be simulated, or the simulation gains nothing, what others
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
#include <stddef.h>
#include <stdio.h>

struct tl_answers; /* answers.h */

typedef enum tl_gate_kind { TL_GATE_STRAGGLER, TL_GATE_LINK, TL_GATE_IDLE, TL_GATE_COMM, TL_NGATES } tl_gate_kind;

/* What a threshold may be of. */
enum { TL_GATES_MOST = 8 };
typedef struct tl_gate_names {
    const char *names[TL_GATES_MOST + 1]; /* NULL-terminated */
    const char *sign;                     /* between name and percents, as they are written: ">" or ">+" */
    double percent;                       /* the most that may be asked for */
} tl_gate_names;
extern const tl_gate_names tl_answer_gates;

/* At most one threshold per name: a share above `most` fails. */
typedef struct tl_gates {
    bool set[TL_GATES_MOST];
    double most[TL_GATES_MOST]; /* shares */
} tl_gates;

/* What tl_gates_read takes of tl_answer_gates, for messages. */
#define TL_GATES_SYNTAX "NAME>PERCENT%,... with straggler, link, idle or comm for NAME, as 'straggler>5%,idle>20%'"

/* Reads "straggler>5%,idle>20%"; spaces are allowed around names and numbers.  False where the text is no list of
 * thresholds, or names one twice; *gates is then as it was.  An empty text sets no threshold. */
bool tl_gates_read(const tl_gate_names *of, const char *text, tl_gates *gates);

/* Whether any threshold is met.  Says which on `err`, and which were not judged, a line each. */
bool tl_gates_judge(const tl_gates *gates, const struct tl_answers *answers, FILE *err);

#endif
