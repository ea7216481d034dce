/* holds.c - whether a phase holds collectives, by its name.
 *
 * A name is cut into words: all_reduce, AllReduce, NCCLAllReduce and "all-reduce" are _all_reduce_; allreduce_grads is
 * _allreduce_grads_.  So "comm" matches data_comm, but not recommender.
 */
#include "tlmpi/analysis/verdict/phase.h"
#include <ctype.h>
#include <regex.h>

/* The first matching rule decides.  A pattern without a final "_" also matches the beginning of a longer word. */
static const struct {
    const char *words;
    tl_phase_holds holds;
} rules[] = {
    { "_metrics?_", TL_HOLDS_UNKNOWN }, /* recorded within a training step, or after it */
    { "_(all_?(reduce|gather|to_?all)|all2_?all|reduce_?scatter|broadcast|nccl|rccl|communicat|exchange|synchroni)",
      TL_HOLDS_ONLY },
    { "_(bcast|barrier|(grad|param)_?sync|grad_?reduce|collectives?|comms?|send|recv|send_?recv|p2_?p|sync)_",
      TL_HOLDS_ONLY },
    { "_(train|fsdp|backward|optim|(parallel|ddp|bwd|steps?)_)", TL_HOLDS_SOME },
    { "_(host_?to_?device|h2_?d|data|inputs?|loader|loading)_", TL_HOLDS_NONE },
    { "_(data_?set|data_?load|prefetch|tokeniz|preproc)", TL_HOLDS_NONE },
};

/* Returns whether a word begins at name[i], within letters and digits: fooBar, foo2Bar, FOOBar. */
static bool is_border(tl_text name, size_t i)
{
    bool small_next = i + 1 < name.n && islower((unsigned char)name.p[i + 1]);
    return isupper((unsigned char)name.p[i]) && (!isupper((unsigned char)name.p[i - 1]) || small_next);
}

tl_phase_holds tl_phase_holds_of(tl_text name)
{
    enum { MOST = 256 }; /* bytes of a name that are read */
    char words[2 * MOST + 2] = "_";
    size_t n = 1;
    for (size_t i = 0; i < name.n && i < MOST - 1; i++) {
        const bool in_word = isalnum((unsigned char)name.p[i]);
        if (words[n - 1] != '_' && (!in_word || is_border(name, i)))
            words[n++] = '_';
        if (in_word)
            words[n++] = (char)tolower((unsigned char)name.p[i]);
    }
    if (words[n - 1] != '_')
        words[n] = '_';
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        regex_t pattern;
        (void)regcomp(&pattern, rules[i].words, REG_EXTENDED | REG_NOSUB);
        const bool matches = regexec(&pattern, words, 0, NULL, 0) == 0;
        regfree(&pattern);
        if (matches)
            return rules[i].holds;
    }
    return TL_HOLDS_UNKNOWN;
}
