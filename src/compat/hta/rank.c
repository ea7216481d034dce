/* rank.c - the rank that HTA gives a file: what stands after the first "rank": in its text.
 *
 * HTA reads lines and searches each for "rank":\s+(\d+).  The text alone counts: compact JSON, without white space
 * after the colon, has no rank, and the "rank" of something else that comes first is taken for it.
 */
#include "tlmpi/base/mem.h"
#include "tlmpi/base/text.h"
#include "tlmpi/compat/hta/hta.h"
#include "tlmpi/trace/text/source.h"
#include <stdlib.h>

#define BLOCK_BYTES ((size_t)256 << 10)

static const char key[] = "\"rank\":";
enum { KEY = sizeof key - 1, QUOTE_2 = 6 };

/* What has been seen of the pattern: `seen` characters of the key, then blanks, then digits. */
typedef struct search {
    size_t seen;
    bool blanks, digits;
    int64_t rank;
} search;

/* White space within a line. */
static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\v' || c == '\f';
}

/* Takes one character; true when the number is over. */
static bool take(search *s, char c)
{
    if (s->seen == KEY) {
        if (s->blanks && c >= '0' && c <= '9') {
            s->digits = true;
            s->rank = s->rank < INT64_MAX / 10 ? 10 * s->rank + (c - '0') : s->rank;
            return false;
        }
        if (s->digits)
            return true;
        if (is_blank(c)) {
            s->blanks = true;
            return false;
        }
        *s = (search){ 0 };
    }
    /* After a mismatch the second quote of the key may be the first of another one. */
    if (s->seen == QUOTE_2 && c == key[1])
        s->seen = 2;
    else if (c == key[s->seen])
        s->seen++;
    else
        s->seen = c == key[0];
    return false;
}

tl_status tl_hta_rank_of_file(const char *path, int64_t *rank, tl_error *err)
{
    search s = { 0 };
    tl_source *source;
    size_t n;
    bool found = false;
    tl_status st = tl_source_open(path, &source, err);

    if (st != TL_OK)
        return st;
    /* What is wrong with the bytes is told when the trace itself is read. */
    char *block = tl_malloc(BLOCK_BYTES);
    while (!found && tl_source_read(source, block, BLOCK_BYTES, &n, NULL) == TL_OK && n > 0)
        for (size_t i = 0; i < n && !found; i++)
            found = take(&s, block[i]);
    *rank = found || s.digits ? s.rank : 0;
    tl_source_close(source);
    free(block);
    return TL_OK;
}
