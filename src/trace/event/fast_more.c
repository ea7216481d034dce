/* fast_more.c - the fast reader once more, with the keys of tl_read_options.more. */
#define TL_READ_MORE 1
#define READ_FAST tl_event_read_fast_more
#include "fast.c" /* NOLINT(bugprone-suspicious-include) */
