/* seal.h - the first 512 bytes of a result file: how long it is, and what all the others sum to.
 *
 *     tlmpi result, 1234567 bytes, checksum 0123456789abcdef       and zeros
 *
 * HDF5 leaves this place (its user block) to the application.  The library may hang or crash on a damaged file, and
 * hand out wrong numbers: so the file is sealed once the library has closed it, and checked with plain reads before the
 * library opens it.  If one byte is not as it was written, wherever, all of the file is refused, be the cause a disk or
 * a program that edited it.  The seal is no guard against malice: anyone can compute the checksum.
 */
#ifndef TLMPI_STORE_SEAL_H
#define TLMPI_STORE_SEAL_H

#include "tlmpi/base/status.h"

enum { TL_SEAL_BYTES = 512 };

/* Seals a file that leaves room for it.  TL_EOUTPUT. */
tl_status tl_seal_write(const char *path, tl_error *err);

/* TL_EINPUT: not sealed, cut, changed, or cannot be read. */
tl_status tl_seal_check(const char *path, tl_error *err);

#endif
