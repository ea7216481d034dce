/* mail.c - letters that have come and have not yet been asked for.  Few letters wait at a time: a list that is
 * searched will do. */
#include "tlmpi/job/transport/letters.h"
#include <stdlib.h>

bool tl_mail_put(tl_mail *mail, int from, int tag, const void *bytes, size_t n)
{
    tl_mail_letter in = { .from = from, .tag = tag };

    if (!tl_vec_room(&mail->letters) || !tl_letter_put(&in.letter, bytes, n)) {
        free(in.letter.v);
        return false;
    }
    mail->letters.v[mail->letters.n++] = in;
    return true;
}

bool tl_mail_take(tl_mail *mail, int from, int tag, tl_mail_letter *out)
{
    for (size_t i = 0; i < mail->letters.n; i++) {
        const tl_mail_letter *l = &mail->letters.v[i];
        if (l->tag != tag || (from >= 0 && l->from != from))
            continue;
        *out = *l;
        mail->letters.n--;
        memmove(&mail->letters.v[i], &mail->letters.v[i + 1], (mail->letters.n - i) * sizeof *mail->letters.v);
        return true;
    }
    return false;
}

void tl_mail_free(tl_mail *mail)
{
    for (size_t i = 0; i < mail->letters.n; i++)
        free(mail->letters.v[i].letter.v);
    free(mail->letters.v);
    *mail = (tl_mail){ 0 };
}
