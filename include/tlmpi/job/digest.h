/* digest.h - the hashes by which two results are compared: equal for equal rows, on however many procs they were made.
 */
#ifndef TLMPI_JOB_DIGEST_H
#define TLMPI_JOB_DIGEST_H

#include "tlmpi/store/result.h"
#include <stdio.h>

/* A line "table hash" for each table and for the names.  TL_EINPUT: the file cannot be read. */
tl_status tl_print_digests(FILE *out, tl_result *result, tl_error *err);

#endif
