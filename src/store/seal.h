/* seal.h - the first 512 bytes of a result file: how long it is, and what all the others sum to.
 *
 *     tlmpi result, 1234567 bytes, checksum 0123456789abcdef       and zeros
 *
 * HDF5 leaves this place (its user block) to whoever asks for it.  The library may hang or crash on a file that is
 * damaged, and hand out wrong numbers: so the file is sealed once the library has closed it, and looked at with plain
 * reads before the library opens it.  If one byte is not as it was written, wherever, all of the file is refused, be it
 * a disk that did it or a program that meant well.  No guard against malice: whoever knows how can seal it again.
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
