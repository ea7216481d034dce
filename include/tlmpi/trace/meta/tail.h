/* tail.h - what stands behind the events of a trace, without reading them. */
#ifndef TLMPI_TRACE_META_TAIL_H
#define TLMPI_TRACE_META_TAIL_H

#include "tlmpi/base/text.h"
#include "tlmpi/trace/meta/meta.h"
#include "tlmpi/trace/text/source.h"

/* Adds to *meta what the last MiB of the text says of rank and base time.  A plain file is read at its end; a compressed one is
 * inflated to it from where the source stands, `behind` being the text that it has given last.  Where there is nothing, or memory
 * is out, *meta stays as it is. */
void tl_tail_read(const char *path, tl_source *source, tl_text behind, tl_meta *meta);

#endif
