/* lateness_test.c - in which steps is a member late, and could the lateness be chance?
 *
 * The scale of noise, sigma, is pooled over all members and steps.  Weight t of a step: 0 if the member is not late, 1
 * if the member is late, 1, 2, 3, ... along a ramp:
 *
 *     z = sum t x / (sigma sqrt(sum t^2)),  n = (sum t)^2 / sum t^2,  p = tries P(T > z)
 */
#include "internal.h"
#include <math.h>

static double weight(const tl_shape *shape, const bool *up, size_t step)
{
    if (!up[step])
        return 0;
    return shape->pattern == TL_PATTERN_DRIFTING ? (double)(step - shape->first + 1) : 1;
}

tl_late_sums tl_late_shape(const tl_lateness_test *test, size_t member, tl_shape *shape)
{
    const double *x = test->x + member * test->nsteps;
    tl_late_sums sums = { 0 };
    size_t n = 0;
    for (size_t s = 0; s < test->nsteps; s++)
        if (!test->excluded[s])
            test->rest[n++] = x[s];
    *shape = (tl_shape){ 0 };
    if (n > 0)
        tl_shape_of(test->rest, n, test->sigma, shape, test->rest_up);
    bool any = false;
    for (size_t s = 0, at = 0; s < test->nsteps; s++) {
        test->up[s] = !test->excluded[s] && test->rest_up[at++];
        if (!test->up[s])
            continue;
        shape->first = any ? shape->first : s;
        shape->last = s;
        any = true;
    }
    for (size_t s = 0; s < test->nsteps; s++) {
        double t = weight(shape, test->up, s);
        sums.tx += test->up[s] ? t * x[s] : 0;
        sums.t1 += t;
        sums.t2 += t * t;
        sums.late += test->up[s] ? x[s] : 0;
    }
    return sums;
}

double tl_late_chance(const tl_lateness_test *test, size_t member, const tl_shape *shape, const tl_late_sums *sums,
                      double n, double *z)
{
    *z = sums->tx / (test->sigma * sqrt(sums->t2));
    double p = tl_chance_of(&test->chance, *z, n);
    if (p >= test->alpha)
        return p;
    size_t nothers = 0;
    for (size_t i = 0; i < test->chance.members; i++)
        if (i != member)
            test->worst[nothers++] =
                tl_worst_of(test->x + i * test->nsteps, test->nsteps, test->up, shape->nup, test->column);
    return fmax(p, tl_chance_to_stand_out(&test->chance, test->worst, nothers, shape->nup, sums->late));
}
