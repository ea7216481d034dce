/* suggest.h - the word that was meant. */
#ifndef TLMPI_APP_SUGGEST_H
#define TLMPI_APP_SUGGEST_H

#include "tlmpi/base/status.h"
#include <stddef.h>

/* Returns the candidate nearest to the word, of equals the first, if it is near enough to be meant; else NULL.  NULL
 * candidates are passed over. */
const char *tl_suggest(const char *word, const char *const *candidates, size_t n);

/* TL_EUSAGE: "there is no WHAT 'word' in PLACE; did you mean ...? It has: ...". */
tl_status tl_fail_unknown(tl_error *err, const char *what, const char *word, const char *place,
                          const char *const *candidates, size_t n);

#endif
