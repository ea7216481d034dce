/* packing.h - by a file's first bytes, the packing that tlmpi cannot read. */
#ifndef TLMPI_TRACE_TEXT_PACKING_H
#define TLMPI_TRACE_TEXT_PACKING_H

#include <stdbool.h>
#include <stddef.h>

/* Returns "an xz file" or the like, with what to do about it; NULL: no known packing.  `first` has n bytes from the
 * beginning of the file, or of the text inside gzip; 512 and more show a tar archive, too. */
const char *tl_packing_of(const void *first, size_t n);

#endif
