/* family.c - how the trace of a rank would be called, as those of the others are:
 *
 *     rank-0.json.gz, rank-1.json.gz, rank-3.json.gz        2: rank-2.json.gz
 */
#include "tlmpi/report/answers/answers.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct file_name {
    char text[TL_FAMILY_BYTES];
} file_name;

/* Returns the file's name without its folder; empty where the cell is full, since the name may be cut. */
static file_name name_of(const tl_rank *row)
{
    file_name out = { "" };
    size_t n = strnlen(row->file, sizeof row->file), from = n;
    while (from > 0 && row->file[from - 1] != '/')
        from--;
    if (n < sizeof row->file && n - from < sizeof out.text)
        memcpy(out.text, row->file + from, n - from);
    return out;
}

/* The name with another number in place of the one at `at`, which is as wide if that begins with 0. */
static file_name with_number(const file_name *name, size_t at, int32_t number)
{
    file_name out;
    size_t n = strspn(name->text + at, "0123456789");
    int width = name->text[at] == '0' ? (int)n : 1;
    int used = snprintf(out.text, sizeof out.text, "%.*s%0*" PRId32 "%s", (int)at, name->text, width, number,
                        name->text + at + n);
    if (used < 0 || (size_t)used >= sizeof out.text)
        out.text[0] = '\0';
    return out;
}

/* Whether all others are called like the first, with their own numbers there. */
static bool fits(const tl_table *ranks, const file_name *first, size_t at)
{
    for (size_t i = 1; i < ranks->n; i++) {
        const tl_rank *row = tl_table_row(ranks, i);
        const file_name expected = with_number(first, at, row->rank), is = name_of(row);
        if (strcmp(expected.text, is.text) != 0)
            return false;
    }
    return true;
}

void tl_file_of_family(const tl_table *ranks, int32_t rank, char out[TL_FAMILY_BYTES])
{
    out[0] = '\0';
    if (ranks->n < 2)
        return;
    const tl_rank *row = tl_table_row(ranks, 0);
    const file_name first = name_of(row);
    for (size_t at = 0, n; out[0] == '\0' && first.text[at] != '\0'; at += n > 0 ? n : 1) {
        n = strspn(first.text + at, "0123456789");
        if (n == 0 || n > 9 || strtol(first.text + at, NULL, 10) != row->rank || !fits(ranks, &first, at))
            continue;
        const file_name found = with_number(&first, at, rank);
        memcpy(out, found.text, sizeof found.text);
    }
}
