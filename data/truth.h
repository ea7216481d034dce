/* truth.h - what is true of a simulated job, for those who judge what somebody has read out of its traces. */
#ifndef DATA_TRUTH_H
#define DATA_TRUTH_H

#include "cost.h"
#include "kineto.h"

struct truth {
    const struct sim *sim;
    const struct format *format;
    const struct course *with, *without;
    const bool *written;        /* by rank: has a trace */
};

/* Writes the file; its keys are explained in data/truth.md.  False: it could not be written, errno says why. */
bool truth_write(const char *path, const struct truth *truth);

#endif
