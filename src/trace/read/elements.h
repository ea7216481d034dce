/* elements.h - the elements of one array in a file of JSON, one after the other, as far as the text is JSON.
 *
 *     { "schema": "1.0.1", "nodes": [ {...}, {...} ], ... }      key "nodes", elements open with '{'
 *
 * The file is read as a stream, packed or plain; one element is held at a time.  Reading ends at the first fault.
 */
#ifndef TLMPI_TRACE_READ_ELEMENTS_H
#define TLMPI_TRACE_READ_ELEMENTS_H

#include "tlmpi/base/bytes.h"
#include "tlmpi/base/status.h"
#include "tlmpi/base/text.h"

typedef struct tl_elements {
    const char *key; /* of the array, in the outermost object */
    char opening;    /* the bracket of an element; other elements are passed over */

    /* Takes an element as it is written.  TL_EINPUT: the element cannot be, *wrong says what was expected. */
    tl_status (*take)(void *arg, tl_text element, tl_error *wrong);
    void *arg;
} tl_elements;

/* What the reading of a file came to. */
typedef struct tl_elements_report {
    bool found;      /* the array has begun */
    bool cut;        /* the text ends before its value does */
    char fault[256]; /* the byte, what was expected there and found; empty where all of the text is well */
    tl_bytes around; /* owned: the text around the array, at most its first MiB */
} tl_elements_report;

/* Fills *report, whose `around` the caller frees.  TL_EINPUT: the file cannot be opened. */
tl_status tl_elements_read(const char *path, const tl_elements *how, tl_elements_report *report, tl_error *err);

#endif
