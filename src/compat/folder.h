/* folder.h - the folder that tables go to. */
#ifndef TLMPI_COMPAT_FOLDER_H
#define TLMPI_COMPAT_FOLDER_H

#include "tlmpi/base/status.h"

/* Makes the folder and what is missing above it.  TL_EOUTPUT. */
tl_status tl_folder_make(const char *dir, tl_error *err);

#endif
