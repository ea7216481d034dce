/* export.h - a slice of a job as one trace for a viewer. */
#ifndef TLMPI_APP_EXPORT_H
#define TLMPI_APP_EXPORT_H

#include "tlmpi/model/table.h"
#include "tlmpi/report/html/strip.h"
#include "tlmpi/store/result.h"
#include "tlmpi/trace_out/sink.h"

/* Writes what the strip shows, in Chrome's trace format, and ends the sink.  TL_EINPUT: it shows nothing. */
tl_status tl_export_perfetto(tl_result *result, const tl_table *ranks, const tl_strip *strip, tl_sink *sink,
                             tl_error *err);

#endif
