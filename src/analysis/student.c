/* student.c - the tail of Student's t with any number of degrees, by the incomplete beta function.
 *
 *     P(T > t) = I(x; d / 2, 1 / 2) / 2,  x = d / (d + t^2)
 *
 * I by its continued fraction, as Lentz evaluates it (Press et al., Numerical Recipes, 6.4).
 */
#include "tlmpi/analysis/chance.h"
#include <math.h>

/* Largest number of terms of the continued fraction; the loop ends when a term changes nothing. */
enum { TERMS_MAX = 300 };

static double nonzero_of(double x)
{
    const double tiny = 1e-300;
    return fabs(x) < tiny ? tiny : x;
}

/* Returns the continued fraction of I(x; a, b), for x < (a + 1) / (a + b + 2). */
static double continued_fraction(double x, double a, double b)
{
    double c = 1, d = 1 / nonzero_of(1 - (a + b) * x / (a + 1)), f = d;
    for (int m = 1; m <= TERMS_MAX; m++) {
        const double terms[2] = { m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
                                  -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)) };
        double before = f;
        for (int i = 0; i < 2; i++) {
            d = 1 / nonzero_of(1 + terms[i] * d);
            c = nonzero_of(1 + terms[i] / c);
            f *= c * d;
        }
        if (f == before)
            break;
    }
    return f;
}

static double incomplete_beta(double x, double a, double b)
{
    if (x <= 0 || x >= 1)
        return x <= 0 ? 0 : 1;
    double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
    return x < (a + 1) / (a + b + 2) ? front * continued_fraction(x, a, b) / a
                                     : 1 - front * continued_fraction(1 - x, b, a) / b;
}

double tl_student_tail_of(double t, double degrees)
{
    double half = incomplete_beta(degrees / (degrees + t * t), degrees / 2, 0.5) / 2;
    return t > 0 ? half : 1 - half;
}
