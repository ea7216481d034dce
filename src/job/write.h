/* write.h - the result file, as proc 0 begins it before ranks are read and ends it after. */
#ifndef JOB_WRITE_H
#define JOB_WRITE_H

#include "tlmpi/job/call/options.h"
#include "tlmpi/model/table.h"
#include "tlmpi/store/store.h"

/* The path of the result file: PREFIX.h5.  Without -o PREFIX is the last part of the path given, less .json, .json.gz
 * and .pt.trace; "tlmpi" where there are several paths or the one has no name (".", "..", "/").  The caller frees. */
char *tl_output_path(const tl_options *options);

/* TL_EUSAGE: -o is given and names no file: it is "-", or ends in '/', ".", ".." or nothing. */
tl_status tl_output_check(const tl_options *options, tl_error *err);

/* Adds every table of the registry, empty, to a new store. */
tl_status tl_write_begin(tl_store *store, tl_error *err);

/* Writes the tables of ranks and of the job, their names, and the root attributes. */
tl_status tl_write_end(tl_store *store, const tl_options *options, const tl_tables *job, const char *selection,
                       const char *notes, int64_t epoch_ns, tl_error *err);

#endif
