/* amount.c - the amount of work of each piece, from the grid of its kernel.
 *
 *     lengths of sequences     1024    2048    1024          vary at random, by rank and step
 *     blocks                     32      64      32          amount of work as a function of the grid ...
 *     time                     1.0 ms  4.0 ms  1.1 ms        ... as a power of it: here the square
 *
 * The power is a least-squares fit, in logarithms, of a rank's time to its blocks from step to step, over all ranks of
 * the role; if blocks are unknown, of time to the number of pieces.  The power is 0 if the number of pieces varies
 * while the time does not, and 1 if the fit has no data: twice the amount takes twice the time.
 */
#include "internal.h"
#include <math.h>

static bool is_evidence(const tl_baseline *b, const tl_work_class *class, size_t first, size_t k)
{
    size_t cell = first + k;
    return class->amount[cell] > 0 && class->ns[cell] > 0 && !b->cut[class->steps.v[k]];
}

/* Adds one member's sums for the fit: products of the deviations of sizes and times from their means, in logarithms.
 * Sizes are relative to the first: equal sizes then have the logarithm 0 exactly, without rounding errors. */
static void add_member(const tl_baseline *b, const tl_work_class *class, size_t member, double *uu, double *uy)
{
    const size_t n = class->steps.n, first = member * n;
    double u = 0, y = 0, cells = 0, unit = 0;
    for (size_t k = 0; k < n; k++)
        if (is_evidence(b, class, first, k)) {
            unit = cells > 0 ? unit : (double)class->amount[first + k];
            u += log((double)class->amount[first + k] / unit);
            y += log((double)class->ns[first + k]);
            cells++;
        }
    for (size_t k = 0; cells > 0 && k < n; k++)
        if (is_evidence(b, class, first, k)) {
            double du = log((double)class->amount[first + k] / unit) - u / cells;
            *uu += du * du;
            *uy += du * (log((double)class->ns[first + k]) - y / cells);
        }
}

/* Returns the fitted power, rounded to a hundredth. */
static double power_of(const tl_baseline *b, const tl_work_class *class)
{
    const size_t n = class->steps.n, members = b->roles[class->role].n;
    double uu = 0, uy = 0;
    bool differs = false;
    for (size_t i = 0; !differs && i < members * n; i++)
        differs = class->amount[i] != class->amount[i % n];
    for (size_t i = 0; differs && i < members; i++)
        add_member(b, class, i, &uu, &uy);
    return uu > 0 ? round(100 * fmin(fmax(0, uy / uu), 2)) / 100 : 1;
}

void tl_class_amounts(const tl_baseline *b, tl_work_class *class)
{
    const size_t cells = b->roles[class->role].n * class->steps.n;
    bool known = class->key != TL_EXCHANGED; /* different kernels cut the same work into different blocks */
    if (class->amount == NULL)
        return;
    for (size_t i = 0; i < cells; i++)
        known = known && (class->pieces[i] == 0 || class->amount[i] > 0);
    for (size_t i = 0; i < cells && !known; i++)
        class->amount[i] = class->pieces[i];
    const double power = class->family == TL_FAMILY_DEVICE ? power_of(b, class) : 1;
    double ns = 0, amount = 0;
    if (!(power < 1) && !(power > 1))
        return;
    for (size_t i = 0; i < cells; i++) {
        ns += (double)class->ns[i];
        amount += class->amount[i] > 0 ? pow((double)class->amount[i], power) : 0;
    }
    for (size_t i = 0; i < cells; i++)
        if (class->amount[i] > 0)
            class->amount[i] = 1 + llround(pow((double)class->amount[i], power) * ns / amount);
}
