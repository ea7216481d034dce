/* clean.c - any bytes to text that a reader of the file may take for UTF-8. */
#include "clean.h"
#include "tlmpi/base/text.h"
#include <stdint.h>
#include <string.h>

static void append(tl_bytes *out, const char *p, size_t n)
{
    tl_grow((void **)&out->v, &out->cap, out->n + n, 1);
    if (n > 0)
        memcpy(out->v + out->n, p, n);
    out->n += n;
}

/* Length of the longest prefix that may stay as it is. */
static size_t clean_prefix(tl_text t)
{
    size_t n = tl_text_utf8(t);
    const char *zero = n > 0 ? memchr(t.p, 0, n) : NULL;
    return zero != NULL ? (size_t)(zero - t.p) : n;
}

void tl_clean_append(tl_bytes *out, const char *text, size_t n)
{
    static const char unknown[] = "\xef\xbf\xbd";
    tl_text left = { text, n };

    for (;;) {
        size_t good = clean_prefix(left);
        append(out, left.p, good);
        if (good == left.n)
            break;
        append(out, unknown, sizeof unknown - 1);
        left.p += good + 1;
        left.n -= good + 1;
    }
    append(out, "", 1);
}
