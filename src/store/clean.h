/* clean.h - any bytes to text that a reader of the file may take for UTF-8. */
#ifndef TLMPI_STORE_CLEAN_H
#define TLMPI_STORE_CLEAN_H

#include "tlmpi/base/bytes.h"
#include <stdbool.h>
#include <stddef.h>

/* Appends the n bytes of text and a 0 to *out.  Each byte that is not part of valid UTF-8, and each 0, becomes U+FFFD,
 * the sign for what cannot be shown: strings of the file end at a 0, and h5py refuses a text that is not UTF-8. */
void tl_clean_append(tl_bytes *out, const char *text, size_t n);

#endif
