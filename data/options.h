/* options.h - the command line of make_trace. */
#ifndef DATA_OPTIONS_H
#define DATA_OPTIONS_H

#include "kineto.h"

struct options {
    const char *folder;
    struct job job;
    struct format format;
    int64_t mb;                         /* of text a rank; 0: as the layers have it */
    double python_share, op_share, gpu_share;
    int only;                           /* the one rank to write, -1: all */
    const char *missing;                /* "3,7" */
    bool no_truth;
    double fault_share, fault_cost;     /* sizes in parts of a step; below zero: not asked for */
};

/* 0: go on; 1: --help was asked for, and given; 2: nonsense, and it was said which. */
int options_read(struct options *options, int argc, char **argv);

#endif
