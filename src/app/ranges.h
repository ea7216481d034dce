/* ranges.h - sets of numbers and of times as a user writes them: "0-3,7", "-1,4-6"; "10-20,35ms-0.1s". */
#ifndef TLMPI_APP_RANGES_H
#define TLMPI_APP_RANGES_H

#include "tlmpi/base/ranges.h"
#include "tlmpi/base/status.h"

typedef enum tl_list_kind { TL_LIST_NUMBERS, TL_LIST_NUMBERS_FROM_0, TL_LIST_TIMES } tl_list_kind;

/* Replaces *ranges by the numbers that text names, sorted; of times, which are in ms or have a unit, in ns, and without
 * the end of each span.  False: the text is no such list, a range is empty or runs backwards; *ranges is then empty. */
bool tl_ranges_parse(const char *text, tl_list_kind kind, tl_ranges *ranges);

/* Says what is wrong with a text that is none. */
tl_status tl_ranges_complain(const char *option, const char *text, tl_list_kind kind, tl_error *err);

#endif
