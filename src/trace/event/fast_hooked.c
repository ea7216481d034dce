/* fast_hooked.c - the fast reader once more, with the keys that a hook asks for. */
#define TL_READ_HOOKED 1
#include "fast.c" /* NOLINT(bugprone-suspicious-include) */
