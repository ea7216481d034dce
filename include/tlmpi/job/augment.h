/* augment.h - copies of traces with tracks added that show what has been found in them.
 *
 * From the traces alone, one by one; each copy is the trace's own bytes with events woven in.  Uses read/, and of the
 * analyses those of idle time, queues and copies.
 */
#ifndef TLMPI_JOB_AUGMENT_H
#define TLMPI_JOB_AUGMENT_H

#include "tlmpi/job/call/options.h"

/* Collective: writes a copy of each trace with tracks added, into the folder options->output. */
int tl_augment(const tl_options *options);

#endif
