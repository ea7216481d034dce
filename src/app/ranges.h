/* ranges.h - sets of numbers and of times as a user writes them: "0-3,7", "-1,4-6"; "10-20,35ms-0.1s". */
#ifndef TLMPI_APP_RANGES_H
#define TLMPI_APP_RANGES_H

#include "tlmpi/base/ranges.h"

/* Replaces *ranges by the numbers that text names.  False: the text is no list of numbers and ranges, a range runs
 * backwards, or memory is out; *ranges is then empty. */
bool tl_ranges_parse(const char *text, tl_ranges *ranges);

/* Likewise of spans of time, in ms or with a unit; in ns, the end of a span does not belong to it.  Empty: none. */
bool tl_times_parse(const char *text, tl_ranges *times);

#endif
