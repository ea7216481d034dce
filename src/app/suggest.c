/* suggest.c - finds the word that was probably meant. */
#include "cli.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { LONGEST = 40 };

static bool same_letter(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/* Returns the number of insertions, deletions, changes, and swaps of neighbours that make a into b, ignoring case; both
 * are shorter than LONGEST. */
static size_t edit_distance(const char *a, const char *b)
{
    size_t na = strlen(a), nb = strlen(b);
    size_t rows[3][LONGEST + 1] = { { 0 } }; /* row i modulo 3 is for the first i characters of a */

    for (size_t j = 0; j <= nb; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= na; i++) {
        size_t *row = rows[i % 3], *above = rows[(i - 1) % 3], *two_above = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= nb; j++) {
            const size_t added = (above[j] < row[j - 1] ? above[j] : row[j - 1]) + 1,
                         changed = above[j - 1] + (!same_letter(a[i - 1], b[j - 1]));
            row[j] = added < changed ? added : changed;
            if (i > 1 && j > 1 && same_letter(a[i - 1], b[j - 2]) && same_letter(a[i - 2], b[j - 1]) &&
                two_above[j - 2] + 1 < row[j])
                row[j] = two_above[j - 2] + 1;
        }
    }
    return rows[na % 3][nb];
}

const char *tl_suggest(const char *word, const char *const *candidates, size_t n)
{
    /* a third of the word may differ, at most two characters: "shw" is show, "traces" is nothing */
    size_t length = strlen(word), limit = length / 3 < 2 ? length / 3 : 2;
    const char *best = NULL;
    if (length >= LONGEST)
        return NULL;
    for (size_t i = 0; i < n; i++) {
        if (candidates[i] == NULL || strlen(candidates[i]) >= LONGEST)
            continue;
        size_t distance = edit_distance(word, candidates[i]);
        if (distance <= limit && (best == NULL || distance < edit_distance(word, best)))
            best = candidates[i];
    }
    return best;
}

tl_status tl_fail_unknown(tl_error *err, const char *what, const char *word, const char *place,
                          const char *const *candidates, size_t n)
{
    char list[700] = "", guess[LONGEST + 20] = ".";
    size_t used = 0;
    for (size_t i = 0; i < n && used < sizeof list; i++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i > 0 ? ", " : "", candidates[i]);
    const char *meant = tl_suggest(word, candidates, n);
    if (meant != NULL)
        snprintf(guess, sizeof guess, "; did you mean %s?", meant);
    return tl_fail(err, TL_EUSAGE, "there is no %s '%.60s' in %.120s%s It has: %s", what, word, place, guess,
                   n > 0 ? list : "none");
}
