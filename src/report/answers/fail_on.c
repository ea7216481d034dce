#include "tlmpi/report/answers/fail_on.h"
#include "tlmpi/report/answers/answers.h"
#include "tlmpi/report/answers/tell.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const tl_gate_names tl_answer_gates = { { "straggler", "link", "idle", "comm" }, ">", 100 };

bool tl_gates_read(const tl_gate_names *of, const char *text, tl_gates *gates)
{
    tl_gates read = { .set = { false } };

    for (bool more = text[strspn(text, " ")] != '\0'; more;) {
        char name[12], digits[40], *rest;
        int n = 0, kind = 0;
        if (sscanf(text, strcmp(of->sign, ">") == 0 ? " %11[a-z] > %39[0-9.] %% %n" : " %11[a-z] > + %39[0-9.] %% %n",
                   name, digits, &n) != 2 ||
            n == 0)
            return false;
        while (of->names[kind] != NULL && strcmp(name, of->names[kind]) != 0)
            kind++;
        double percent = strtod(digits, &rest);
        if (of->names[kind] == NULL || read.set[kind] || digits[0] == '.' || *rest != '\0' || !(percent <= of->percent))
            return false;
        read.set[kind] = true;
        read.most[kind] = percent / 100;
        more = text[n] == ',';
        if (!more && text[n] != '\0')
            return false;
        text += n + 1;
    }
    *gates = read;
    return true;
}

/* --------------------------------------------------------------------------------------------------------- judging */

/* Returns the largest loss to one culprit of a kind, or to all such ranks together; *worst: the first such culprit.
 * NaN: the traces do not tell. */
static double loss_in_traces(const tl_answers *a, bool ranks, const tl_culprit **worst)
{
    const bool unseen = a->finding == TL_FOUND_NONE && (a->waiting.doubts & 1u << TL_DOUBT_UNMARKED) != 0;
    double largest = 0;
    size_t n = 0;

    if (unseen || a->finding < TL_FOUND_NONE)
        return NAN;
    for (size_t i = 0; i < a->nculprits; i++) {
        const tl_culprit *c = &a->culprits[i];
        if (tl_is_link(c) == ranks)
            continue;
        *worst = n++ == 0 ? c : *worst;
        largest = fmax(largest, c->cost_share);
    }
    return ranks && n > 1 ? fmax(largest, tl_answers_share(a, a->together_gain_ns)) : largest;
}

bool tl_gates_judge(const tl_gates *gates, const tl_answers *a, FILE *err)
{
    bool met = false;

    for (int kind = 0; kind < TL_NGATES; kind++) {
        const tl_culprit *worst = NULL;
        if (!gates->set[kind])
            continue;
        const int64_t ns = kind == TL_GATE_IDLE ? a->all.idle_ns : a->all.comm_exposed_ns;
        double share = a->all.wall_ns > 0 ? (double)ns / (double)a->all.wall_ns : NAN; /* NaN: the traces do not tell */
        if (a->phases_alone)
            share = NAN;
        else if (kind == TL_GATE_STRAGGLER || kind == TL_GATE_LINK)
            share = loss_in_traces(a, kind == TL_GATE_STRAGGLER, &worst);
        const double timed = kind == TL_GATE_STRAGGLER && tl_has_phases(a) ? tl_phase_loss(a) : NAN;
        const bool by_phases = timed > share || isnan(share);
        share = by_phases ? timed : share;
        if (isnan(share))
            fprintf(err, "tlmpi: --fail-on %s: not judged: %s\n", tl_answer_gates.names[kind],
                    a->phases_alone               ? "durations of phases do not tell"
                    : a->finding == TL_FOUND_NONE ? tl_doubt_labels[TL_DOUBT_UNMARKED]
                                                  : tl_finding_labels[a->finding]);
        if (!(share > gates->most[kind]))
            continue;
        met = true;
        fprintf(err, "tlmpi: --fail-on %s>%g%%: %.1f %%", tl_answer_gates.names[kind], 100 * gates->most[kind],
                100 * share);
        if (by_phases)
            fprintf(err, " (rank %" PRId32 ")", a->phases->rank);
        else if (worst != NULL && worst->nranks > 0)
            fprintf(err, " (rank%s %.*s)", tl_plural(worst->nranks), (int)sizeof worst->ranks, worst->ranks);
        fputc('\n', err);
    }
    return met;
}
