/* bytes.c - numbers and lists of them as bytes that travel, and back. */
#include "tlmpi/base/bytes.h"
#include "tlmpi/base/mem.h"
#include <stdlib.h>
#include <string.h>

bool tl_bytes_put(tl_bytes *b, const void *v, size_t n)
{
    if (!tl_grow((void **)&b->v, &b->cap, b->n + n, 1))
        return false;
    if (n > 0)
        memcpy(b->v + b->n, v, n);
    b->n += n;
    return true;
}

bool tl_bytes_get(tl_bytes *b, void *v, size_t n)
{
    if (n > b->n - b->at)
        return false;
    if (n > 0)
        memcpy(v, b->v + b->at, n);
    b->at += n;
    return true;
}

bool tl_bytes_put_list(tl_bytes *b, const void *v, size_t n, size_t size)
{
    return tl_bytes_put(b, &n, sizeof n) && tl_bytes_put(b, v, n * size);
}

bool tl_bytes_get_list(tl_bytes *b, void **v, size_t *n, size_t size)
{
    void *list = NULL;
    bool ok = tl_bytes_get(b, n, sizeof *n) && *n <= (b->n - b->at) / size;
    if (ok) {
        list = tl_malloc((*n + 1) * size);
        ok = list != NULL && tl_bytes_get(b, list, *n * size);
    }
    if (!ok)
        *n = 0;
    memcpy(v, &list, sizeof list);
    return ok;
}

void tl_bytes_free(tl_bytes *b)
{
    free(b->v);
    *b = (tl_bytes){ 0 };
}
