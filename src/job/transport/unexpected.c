/* unexpected.c - messages that have come and have not yet been asked for.  Few messages wait at a time: a list that is
 * searched will do. */
#include "tlmpi/job/transport/messages.h"
#include <stdlib.h>

bool tl_unexpected_put(tl_unexpected *queue, int from, int tag, const void *bytes, size_t n)
{
    tl_received in = { .from = from, .tag = tag };

    if (!tl_vec_room(&queue->messages) || !tl_bytes_put(&in.message, bytes, n)) {
        free(in.message.v);
        return false;
    }
    queue->messages.v[queue->messages.n++] = in;
    return true;
}

bool tl_unexpected_take(tl_unexpected *queue, int from, int tag, tl_received *out)
{
    for (size_t i = 0; i < queue->messages.n; i++) {
        const tl_received *l = &queue->messages.v[i];
        if (l->tag != tag || (from >= 0 && l->from != from))
            continue;
        *out = *l;
        queue->messages.n--;
        memmove(&queue->messages.v[i], &queue->messages.v[i + 1], (queue->messages.n - i) * sizeof *queue->messages.v);
        return true;
    }
    return false;
}

void tl_unexpected_free(tl_unexpected *queue)
{
    for (size_t i = 0; i < queue->messages.n; i++)
        free(queue->messages.v[i].message.v);
    free(queue->messages.v);
    *queue = (tl_unexpected){ 0 };
}
