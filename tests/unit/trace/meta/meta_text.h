/* meta_text.h - a document, read. */
#ifndef TLMPI_TESTS_META_TEXT_H
#define TLMPI_TESTS_META_TEXT_H

#include "tlmpi/base/mem.h"
#include "tlmpi/trace/meta.h"
#include "unit.h"
#include <stdlib.h>
#include <string.h>

static tl_error err;

static inline tl_status parse(const char *text, tl_meta *meta)
{
    *meta = (tl_meta)TL_META_INIT;
    err = (tl_error){ 0 };
    return tl_meta_parse(text, strlen(text), meta, &err);
}

#endif
