/* gates.c - thresholds on how much longer B may take than A. */
#include "tlmpi/base/stats.h"
#include "tlmpi/model/kind.h"
#include "tlmpi/model/parameters.h"
#include "tlmpi/report/diff.h"
#include "tlmpi/report/format/words.h"
#include <math.h>
#include <string.h>

const tl_gate_names tl_diff_gates = { { "step", "kernel", "compute", "waiting", "transfer", "comm", "copy", "idle" },
                                      ">+",
                                      INFINITY };

/* Returns whether the threshold applies to the part of the step. */
static bool is_part_of(tl_diff_gate gate, uint8_t part)
{
    static const uint8_t parts[TL_NDIFF_GATES] = {
        [TL_DIFF_GATE_STEP] = TL_DIFF_STEP,       [TL_DIFF_GATE_COMPUTE] = TL_DIFF_COMPUTE,
        [TL_DIFF_GATE_WAITING] = TL_DIFF_WAITING, [TL_DIFF_GATE_TRANSFER] = TL_DIFF_TRANSFER,
        [TL_DIFF_GATE_COPY] = TL_DIFF_COPY,       [TL_DIFF_GATE_IDLE] = TL_DIFF_IDLE,
    };
    return gate == TL_DIFF_GATE_COMM ? part == TL_DIFF_WAITING || part == TL_DIFF_TRANSFER || part == TL_DIFF_UNKNOWN
                                     : part == parts[gate];
}

static bool is_chance(const tl_diff_kernel *row)
{
    return row->change == TL_DIFF_SAME && row->p_value >= TL_VERDICT_ALPHA;
}

/* Returns the kernel that grows by most, significant growth first, among those that grow by more than most_growth and
 * take a significant part of the step; not communication, whose time may be waiting.  NULL: none. */
static const tl_diff_kernel *worst_kernel(const tl_diff_words *d, double most_growth, double *growth)
{
    const tl_diff_kernel *worst = NULL;
    int64_t step_ns = ((const tl_diff_step *)tl_table_row(d->step, 0))->a_ns;
    *growth = 0;
    TL_ROWS (const tl_diff_kernel, row, d->kernel) {
        double most = (double)tl_ns_max(row->a_ns, row->b_ns);
        double times = row->ranks[0] != '\0' ? row->ranks_times - 1
                       : row->a_ns > 0       ? (double)row->change_ns / (double)row->a_ns
                                             : INFINITY;
        bool comm = tl_text_is(d->name(d->name_arg, row->kind), tl_kind_labels[TL_COMM]);
        if (comm || most < TL_VERDICT_LEAST_COST * (double)step_ns || !(times > most_growth))
            continue;
        if (worst == NULL || (is_chance(row) == is_chance(worst) ? times > *growth : is_chance(worst))) {
            *growth = times;
            worst = row;
        }
    }
    return worst;
}

/* The change of a part of the step, as a share of the step of A. */
typedef struct growth {
    double share, p;    /* p: of the row that grew most */
    double least, most; /* bounds for waiting and transfer, if the unknown part in A or in B belongs to this part */
} growth;

static growth growth_of(const tl_diff_words *d, tl_diff_gate gate)
{
    const bool may_be = gate == TL_DIFF_GATE_WAITING || gate == TL_DIFF_GATE_TRANSFER;
    const double step_ns = (double)((const tl_diff_step *)tl_table_row(d->step, 0))->a_ns;
    growth g = { .p = NAN };
    double largest = 0;
    TL_ROWS (const tl_diff_step, row, d->step) {
        if (may_be && row->part == TL_DIFF_UNKNOWN) {
            g.least -= (double)row->a_ns / step_ns;
            g.most += (double)row->b_ns / step_ns;
        }
        if (is_part_of(gate, row->part)) {
            g.share += row->share;
            g.p = row->share > largest ? row->p_value : g.p;
            largest = fmax(largest, row->share);
        }
    }
    g.least += g.share;
    g.most += g.share;
    return g;
}

/* Returns the growth of the mean step, which includes long steps; p: of the number of long steps. */
static growth mean_growth(const tl_diff_words *d)
{
    const tl_diff_step *last = tl_table_row(d->step, d->step->n - 1);
    if (last->part != TL_DIFF_LONG)
        return (growth){ .p = NAN };
    double share = (double)d->basis.mean_ns[1] / (double)d->basis.mean_ns[0] - 1;
    return (growth){ .share = share, .p = last->p_value, .least = share, .most = share };
}

static bool is_passed(const growth *g, double most)
{
    return g->most > most && !(g->p >= TL_VERDICT_ALPHA);
}

tl_gates_judged tl_diff_gates_judge(const tl_gates *gates, const tl_diff_words *d, FILE *err)
{
    tl_gates_judged judged = TL_GATES_HELD;
    for (int gate = 0; gate < TL_NDIFF_GATES; gate++) {
        const tl_diff_kernel *kernel = NULL;
        growth g = { .p = NAN };
        if (!gates->set[gate])
            continue;
        if (gate == TL_DIFF_GATE_KERNEL) {
            kernel = worst_kernel(d, gates->most[gate], &g.share);
            bool timed = kernel != NULL && (kernel->change == TL_DIFF_SAME || kernel->change == TL_DIFF_TIME);
            g.p = timed ? kernel->p_value : 0;
            g.least = g.most = g.share;
        } else {
            g = growth_of(d, (tl_diff_gate)gate);
        }
        const growth mean = mean_growth(d);
        bool of_mean = gate == TL_DIFF_GATE_STEP && !is_passed(&g, gates->most[gate]) &&
                       (is_passed(&mean, gates->most[gate]) || !(g.most > gates->most[gate]));
        g = of_mean ? mean : g;
        if (!(g.most > gates->most[gate]))
            continue;
        bool unknown = !(g.least > gates->most[gate]), chance = g.p >= TL_VERDICT_ALPHA;
        judged = unknown ? (tl_gates_judged)tl_ns_max(judged, TL_GATES_UNKNOWN) : chance ? judged : TL_GATES_PASSED;
        fprintf(err, "tlmpi: --fail-on %s>+%g%%: ", tl_diff_gates.names[gate], 100 * gates->most[gate]);
        if (unknown) {
            fprintf(
                err,
                "not judged: between %+.1f %% and %+.1f %%, as it is not known how much of communication is waiting "
                "(table exposed tells why); comm is known\n",
                100 * g.least, 100 * g.most);
            continue;
        }
        fprintf(err, "%s%+.1f %%", g.least < g.share ? "at least " : "", 100 * g.least);
        if (of_mean)
            fprintf(err, " in the mean: %zu of %zu steps of A and %zu of %zu of B are far above the median",
                    d->basis.nlong[0], d->basis.steps[0], d->basis.nlong[1], d->basis.steps[1]);
        if (kernel != NULL) {
            tl_text name = d->name(d->name_arg, kernel->name);
            tl_wrap safe = { .out = err, .columns = SIZE_MAX, .begun = true };
            tl_wrap_printf(&safe, kernel->ranks[0] != '\0' ? "(%.*s on rank%s %.64s)" : "(%.*s)", (int)name.n, name.p,
                           strpbrk(kernel->ranks, ",-") != NULL ? "s" : "", kernel->ranks);
        }
        if (chance)
            fprintf(err, ", which may be chance (p = %.2g): not failed\n", g.p);
        else
            fputs(isnan(g.p) ? "; too few steps to tell it from chance\n" : "\n", err);
    }
    return judged;
}
