/* holds.c - what the name of a phase says of collectives in it.
 *
 * A name is cut into words: all_reduce, AllReduce, NCCLAllReduce and "all-reduce" have all and reduce; allreduce_grads
 * has allreduce.  So "comm" is a word of data_comm, and none of recommender.
 */
#include "tlmpi/analysis/phase.h"
#include <ctype.h>

/* The first that stands in the name decides.  ' ': another word, or the same goes on; '*': the word may go on. */
static const struct {
    const char *words;
    tl_phase_holds holds;
} rules[] = {
    { "metric", TL_HOLDS_UNKNOWN }, /* of a training step, and after it */
    { "metrics", TL_HOLDS_UNKNOWN },

    { "all reduce*", TL_HOLDS_ONLY },
    { "all gather*", TL_HOLDS_ONLY },
    { "all to all*", TL_HOLDS_ONLY },
    { "all2 all*", TL_HOLDS_ONLY },
    { "reduce scatter*", TL_HOLDS_ONLY },
    { "broadcast*", TL_HOLDS_ONLY },
    { "bcast", TL_HOLDS_ONLY },
    { "grad sync", TL_HOLDS_ONLY },
    { "grad reduce", TL_HOLDS_ONLY },
    { "param sync", TL_HOLDS_ONLY },
    { "barrier", TL_HOLDS_ONLY },
    { "nccl*", TL_HOLDS_ONLY },
    { "rccl*", TL_HOLDS_ONLY },
    { "collective", TL_HOLDS_ONLY },
    { "collectives", TL_HOLDS_ONLY },
    { "comm", TL_HOLDS_ONLY },
    { "comms", TL_HOLDS_ONLY },
    { "communicat*", TL_HOLDS_ONLY },
    { "exchange*", TL_HOLDS_ONLY },
    { "send recv", TL_HOLDS_ONLY },
    { "send", TL_HOLDS_ONLY },
    { "recv", TL_HOLDS_ONLY },
    { "p2 p", TL_HOLDS_ONLY },
    { "sync", TL_HOLDS_ONLY },
    { "synchroni*", TL_HOLDS_ONLY },

    { "train*", TL_HOLDS_SOME },
    { "parallel", TL_HOLDS_SOME },
    { "ddp", TL_HOLDS_SOME },
    { "fsdp*", TL_HOLDS_SOME },
    { "backward*", TL_HOLDS_SOME },
    { "bwd", TL_HOLDS_SOME },
    { "optim*", TL_HOLDS_SOME },
    { "step", TL_HOLDS_SOME },
    { "steps", TL_HOLDS_SOME },

    { "host to device", TL_HOLDS_NONE },
    { "h2 d", TL_HOLDS_NONE },
    { "data", TL_HOLDS_NONE },
    { "data set*", TL_HOLDS_NONE },
    { "data load*", TL_HOLDS_NONE },
    { "input", TL_HOLDS_NONE },
    { "inputs", TL_HOLDS_NONE },
    { "loader", TL_HOLDS_NONE },
    { "loading", TL_HOLDS_NONE },
    { "prefetch*", TL_HOLDS_NONE },
    { "tokeniz*", TL_HOLDS_NONE },
    { "preproc*", TL_HOLDS_NONE },
};

/* The words of a name, one behind the other, in small letters. */
typedef struct words {
    char text[256];
    bool begins[256 + 1]; /* a word, or the end */
    size_t n;
} words;

/* Between text[i - 1] and text[i], which are both of a word: fooBar, foo2Bar, FOOBar. */
static bool is_border(tl_text name, size_t i)
{
    unsigned char before = (unsigned char)name.p[i - 1], here = (unsigned char)name.p[i];
    bool small_next = i + 1 < name.n && islower((unsigned char)name.p[i + 1]);
    return isupper(here) && (!isupper(before) || small_next);
}

static void cut(tl_text name, words *out)
{
    *out = (words){ .n = 0 };
    for (size_t i = 0; i < name.n && out->n < sizeof out->text; i++) {
        if (!isalnum((unsigned char)name.p[i])) {
            out->begins[out->n] = true;
            continue;
        }
        if (i > 0 && isalnum((unsigned char)name.p[i - 1]) && is_border(name, i))
            out->begins[out->n] = true;
        out->text[out->n++] = (char)tolower((unsigned char)name.p[i]);
    }
    out->begins[0] = out->begins[out->n] = true;
}

/* Whether the rule's words stand in the name from text[at] on, where a word begins. */
static bool stands_at(const words *name, size_t at, const char *rule)
{
    bool may_begin = true;
    for (; *rule != 0 && *rule != '*'; rule++) {
        if (*rule == ' ') {
            may_begin = true;
            continue;
        }
        if (at == name->n || name->text[at] != *rule || (name->begins[at] && !may_begin))
            return false;
        may_begin = false;
        at++;
    }
    return *rule == '*' || name->begins[at];
}

tl_phase_holds tl_phase_holds_of(tl_text name)
{
    words w;
    cut(name, &w);
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++)
        for (size_t at = 0; at < w.n; at++)
            if (w.begins[at] && stands_at(&w, at, rules[i].words))
                return rules[i].holds;
    return TL_HOLDS_UNKNOWN;
}
