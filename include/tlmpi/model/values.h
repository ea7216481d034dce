/* values.h - what the words of enumerations mean: `tlmpi describe` explains them. */
#ifndef TLMPI_MODEL_VALUES_H
#define TLMPI_MODEL_VALUES_H

#include <stddef.h>

/* The meaning of each of the labels, in their order, to a NULL; NULL: its table explains them itself. */
const char *const *tl_values_of(const char *const *labels);

#endif
