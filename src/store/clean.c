/* clean.c - any bytes to text that a reader of the file may take for UTF-8. */
#include "clean.h"
#include "tlmpi/base/text.h"
#include <stdint.h>
#include <string.h>

static bool append(tl_bytes *out, const char *p, size_t n)
{
    if (n > SIZE_MAX - out->n || !tl_grow((void **)&out->v, &out->cap, out->n + n, 1))
        return false;
    if (n > 0)
        memcpy(out->v + out->n, p, n);
    out->n += n;
    return true;
}

/* Length of the longest prefix that may stay as it is. */
static size_t clean_prefix(tl_text t)
{
    size_t n = tl_text_utf8(t);
    const char *zero = n > 0 ? memchr(t.p, 0, n) : NULL;
    return zero != NULL ? (size_t)(zero - t.p) : n;
}

bool tl_clean_append(tl_bytes *out, const char *text, size_t n)
{
    static const char unknown[] = "\xef\xbf\xbd";
    size_t before = out->n;
    tl_text left = { text, n };

    for (;;) {
        size_t good = clean_prefix(left);
        if (!append(out, left.p, good))
            goto fail;
        if (good == left.n)
            break;
        if (!append(out, unknown, sizeof unknown - 1))
            goto fail;
        left.p += good + 1;
        left.n -= good + 1;
    }
    if (append(out, "", 1))
        return true;

fail:
    out->n = before;
    return false;
}
