/* packing.h - what a file is packed in that is not read, by its first bytes. */
#ifndef TLMPI_TRACE_TEXT_PACKING_H
#define TLMPI_TRACE_TEXT_PACKING_H

#include <stdbool.h>
#include <stddef.h>

/* "an xz file", and what to do about it, or the like; NULL: none that is known.  n bytes from the beginning of the file, or of what gzip has in
 * it; of 512 and more a tar archive is known, too. */
const char *tl_packing_of(const void *first, size_t n);

#endif
