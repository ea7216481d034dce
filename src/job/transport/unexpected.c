/* unexpected.c - messages that have come and have not yet been asked for.  Few messages wait at a time: a list that is
 * searched will do. */
#include "tlmpi/job/transport/messages.h"
#include <stdlib.h>

tl_received tl_received_of(const tl_envelope *envelope)
{
    tl_received in = { .from = envelope->from, .tag = envelope->tag };
    in.message = (tl_bytes){ .v = tl_malloc(envelope->n + 1), .n = envelope->n, .cap = envelope->n + 1 };
    tl_par_take(envelope, in.message.v);
    return in;
}

void tl_unexpected_put(tl_unexpected *queue, tl_received message)
{
    (void)tl_vec_room(&queue->messages);
    queue->messages.v[queue->messages.n++] = message;
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
