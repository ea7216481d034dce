/* mail.h - letters that have come and have not yet been asked for. */
#ifndef TLMPI_JOB_TRANSPORT_MAIL_H
#define TLMPI_JOB_TRANSPORT_MAIL_H

#include "tlmpi/job/transport/letters.h"

typedef struct tl_mail_letter {
    int from, tag;
    tl_letter letter;
} tl_mail_letter;

/* In order of arrival.  Zero-initialise; tl_mail_free ends it. */
typedef struct tl_mail {
    TL_VEC(tl_mail_letter) letters;
} tl_mail;

/* Keeps a copy of the bytes.  False: memory is out. */
bool tl_mail_put(tl_mail *mail, int from, int tag, const void *bytes, size_t n);

/* Takes out the first letter with that tag, from that proc (-1: from any).  The caller frees out->letter.v. */
bool tl_mail_take(tl_mail *mail, int from, int tag, tl_mail_letter *out);

void tl_mail_free(tl_mail *mail);

#endif
