/* augment.h - copies of traces with added tracks that show the findings.
 *
 * Traces are processed one by one; a copy is the trace's own bytes with events inserted.  Uses read/, and of the
 * analyses those of idle time, queues and copies.
 */
#ifndef TLMPI_JOB_AUGMENT_H
#define TLMPI_JOB_AUGMENT_H

#include "tlmpi/job/call/options.h"

/* Collective: writes a copy of each trace with tracks added, into the folder options->output. */
int tl_augment(const tl_options *options);

#endif
