/* options.h - what a run was asked to do, each option with its value.
 *
 * The room job/call has the options, and what a run answers its shell (exit.h).  The reader of the command line (app)
 * fills the options in.  May use the thresholds of analysis and report.
 */
#ifndef TLMPI_JOB_CALL_OPTIONS_H
#define TLMPI_JOB_CALL_OPTIONS_H

#include "tlmpi/analysis/config.h"
#include "tlmpi/base/ranges.h"
#include "tlmpi/report/answers/fail_on.h"
#include <regex.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct tl_options {
    const char *const *paths; /* folders and files, as given */
    size_t npaths;
    const char *events;       /* --events GLOB; NULL: files of phases that the paths hold */
    const char *output;       /* -o PREFIX; NULL: from the paths */
    bool force;               /* -f: overwrite */
    const char *rules;        /* --rules FILE; NULL: the built-in rules alone */
    regex_t *step_name;       /* --step-name: names of the ranges that are the steps; NULL: those that look like it */
    tl_ranges ranks;          /* --ranks: the ranks whose traces are read; empty: all */
    tl_ranges steps;          /* --steps: what the host began in these steps is analysed; empty: everything */
    tl_ranges times;          /* --time, in ns since the recording of the job began: what the host began then; empty:
                               * everything */
    int run;                  /* --run N: 1 = oldest; 0 = newest complete; -1 = list */
    int clock;                /* --clock: tl_clock_mode */
    tl_verdict_options judge; /* --alpha, --least-cost */
    bool json;                /* --json: the answers as JSON, in place of the summary */
    tl_gates fail_on;         /* --fail-on */
    bool digest;              /* --digest: a line a table, alone on stdout */
    bool reproducible;        /* --reproducible: no time, host or command line in the file */
    bool tracelens;           /* augment --tracelens */
    const char *result;       /* augment --result FILE.h5; NULL: none */
    bool yajl_only;           /* --parser yajl */
    int64_t max_memory;       /* --max-memory, in bytes for each proc; 0: by what its machine has */
    bool quiet;
    tl_config config;         /* --idle */
    const char *command_line; /* as typed, for the file's history */
    const char *settings;     /* every option with its value, "name=value" a line, for the file */
} tl_options;

#endif
