/* spare.h - refuses outputs that would replace an input file, with or without -f, and by any path that leads to the
 * input. */
#ifndef TLMPI_BASE_SPARE_H
#define TLMPI_BASE_SPARE_H

#include "tlmpi/base/status.h"
#include <stdbool.h>
#include <stdint.h>

/* Whether a file written as `path` (first as PATH.part) would take the place of this inode (0: none) of the device. */
bool tl_spare_is(const char *path, uint64_t device, uint64_t inode);

/* TL_EUSAGE where a file written as `path` would take the place of the file `input`. */
tl_status tl_spare_input(const char *path, const char *input, tl_error *err);

#endif
