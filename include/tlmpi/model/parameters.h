/* parameters.h - the numbers that decide: each with its unit, what kind of number it is, and where it comes from. */
#ifndef TLMPI_MODEL_PARAMETERS_H
#define TLMPI_MODEL_PARAMETERS_H

#include <stdint.h>

/* Physical, ns: so far two times may disagree though nothing is wrong, those of host and device or of two devices of a
 * host.  Measured: kernels begin up to 13 us before their launch, a rank leaves an all-to-all 6 us before its last member
 * seems to begin. */
#define TL_CLOCK_ERROR_NS INT64_C(20000)

/* Physical, ppb: clocks run right to a thousandth; oscillators are 100 ppm apart at most, and NTP slews by 500. */
#define TL_CLOCK_MOST_DRIFT_PPB INT64_C(1000000)

/* Statistical: of so many collectives one may have been matched wrongly, and say of clocks what is not so. */
#define TL_CLOCK_WRONG_MATCHES 100

/* Physical, of the median step: lateness is told apart by no less.  Times are of 1 us, and nobody can act on less. */
#define TL_LATENESS_LEAST_SCALE 0.001

/* Statistical: of fewer steps nobody can say in which a rank is late: three are the least to speak of a spread. */
#define TL_LATENESS_LEAST_STEPS 3

/* As specified, of all steps: who is late in this share of them is late persistently. */
#define TL_PERSISTENT_SHARE 0.8

#endif
