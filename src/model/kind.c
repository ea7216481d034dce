/* kind.c - words for what device work is. */
#include "tlmpi/model/kind.h"

#include <stddef.h>

const char *const tl_kind_labels[] = { TL_KIND_VALUES(TL_VALUE_LABEL) NULL };

const char *const tl_collective_labels[] = { TL_COLL_VALUES(TL_VALUE_LABEL) NULL };
