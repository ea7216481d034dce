/* seal.h - the first 512 bytes of a result file: its length, and a checksum of all other bytes.
 *
 *     tlmpi result, 1234567 bytes, checksum 0123456789abcdef       followed by zeros
 *
 * HDF5 leaves this part (its user block) to the application.  The library may hang or crash on a damaged file, and
 * return wrong numbers: so the file is sealed after the library has closed it, and checked with plain reads before the
 * library opens it.  If any byte has changed, the whole file is rejected, whether a disk or a program changed it.  The
 * seal is no protection against malice: anyone can compute the checksum.
 */
#ifndef TLMPI_STORE_SEAL_H
#define TLMPI_STORE_SEAL_H

#include "tlmpi/base/status.h"

enum { TL_SEAL_BYTES = 512 };

/* Seals a file that has reserved the bytes.  TL_EOUTPUT. */
tl_status tl_seal_write(const char *path, tl_error *err);

/* TL_EINPUT: the file is not sealed, truncated, changed, or cannot be read. */
tl_status tl_seal_check(const char *path, tl_error *err);

#endif
