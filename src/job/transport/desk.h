/* desk.h - what the post of proc 0 needs of its desk. */
#ifndef JOB_TRANSPORT_DESK_H
#define JOB_TRANSPORT_DESK_H

#include "tlmpi/job/transport/letters.h"
#include "tlmpi/job/transport/post.h"

/* Where letters to proc 0 itself go, the desk's own answers among them. */
void tl_desk_mail(tl_desk *desk, tl_mail *mail);

/* Takes one letter. */
void tl_desk_take(tl_desk *desk, int from, int tag, const void *bytes, size_t n);

/* Takes all letters that have come; whether there were any. */
bool tl_desk_serve(tl_desk *desk);

#endif
