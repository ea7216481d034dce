/* desk.h - what the post of proc 0 needs of its desk. */
#ifndef TLMPI_JOB_DESK_H
#define TLMPI_JOB_DESK_H

#include "letters.h"
#include "post.h"

/* Takes one letter; a reply to proc 0 itself lies in tl_desk_own until the next. */
void tl_desk_take(tl_desk *desk, int from, int tag, const void *bytes, size_t n);
tl_letter *tl_desk_own(tl_desk *desk);

/* Takes all letters that have come. */
void tl_desk_serve(tl_desk *desk);

#endif
