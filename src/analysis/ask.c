/* ask.c - questions to all ranks, and their answers. */
#include "tlmpi/analysis/ask.h"
#include "tlmpi/base/mem.h"
#include <stdlib.h>

void tl_asked_new(size_t n, tl_asked *out)
{
    *out = (tl_asked){ n, tl_calloc(n + 1, sizeof *out->in), tl_calloc(n + 1, sizeof *out->out) };
}

void tl_asked_free(tl_asked *a)
{
    for (size_t r = 0; r < a->n; r++) {
        if (a->in != NULL)
            tl_bytes_free(&a->in[r]);
        if (a->out != NULL)
            tl_bytes_free(&a->out[r]);
    }
    free(a->in);
    free(a->out);
    *a = (tl_asked){ 0 };
}

void tl_ask_ranks(const tl_asker *asker, tl_question question, tl_asked *a)
{
    asker->ask(asker->of, asker->ranks, question, a);
}
