/* shorten.h - a kernel's name as HTA shortens it. */
#ifndef COMPAT_HTA_KERNELS_SHORTEN_H
#define COMPAT_HTA_KERNELS_SHORTEN_H

#include "tlmpi/base/bytes.h"
#include "tlmpi/base/text.h"

/* Without parameters and the type that comes before: "void f<int>(int)" is "f".  *out is made anew, here and below. */
void tl_hta_short_name(tl_bytes *out, tl_text name);

/* What a plot writes at a row: up to 44 characters. */
void tl_hta_timeline_name(tl_bytes *out, tl_text name);

#endif
