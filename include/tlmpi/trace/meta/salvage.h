/* salvage.h - what a document that is no JSON says nevertheless. */
#ifndef TLMPI_TRACE_META_SALVAGE_H
#define TLMPI_TRACE_META_SALVAGE_H

#include "tlmpi/trace/meta/meta.h"
#include "tlmpi/trace/text/split.h"

/* Reads the text around the array into *meta: as it is, or, where the splitter has found a fault in it, what can be made of it.
 * TL_EINPUT: it is none though the splitter took it for one, or too long; what was read before stays.  TL_ENOMEM. */
tl_status tl_document_read(const tl_split *split, tl_meta *meta, tl_error *err);

#endif
