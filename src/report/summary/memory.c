/* memory.c - the largest peak of the memory timelines:
 *
 *     Memory of rank 3: at most 3.1 GB, of it activation 2.7 GB, parameter 0.1 GB (table memory_category)
 */
#include "memory.h"

#include "tlmpi/report/format/words.h"
#include "tlmpi/report/format/wrap.h"
#include <stdio.h>
#include <string.h>

enum { NAMED_CATEGORIES = 2 };

/* Returns the unnamed category with the most bytes at the file's peak; NULL without one. */
static const tl_memory_category *largest(const tl_memory_category *rows, size_t n, const bool *named)
{
    const tl_memory_category *most = NULL;
    for (size_t i = 0; i < n; i++)
        if (!named[i] && rows[i].at_peak_bytes > (most != NULL ? most->at_peak_bytes : 0))
            most = &rows[i];
    return most;
}

void tl_say_memory(FILE *out, const tl_summary *s)
{
    const tl_memory_category *total = NULL;
    bool named[16] = { false };
    size_t n = 0, kinds = 0;

    while (kinds < s->nmemory && s->memory[kinds].file == s->memory[0].file)
        kinds++;
    for (size_t i = kinds; kinds > 0 && i <= s->nmemory; i += kinds)
        if (total == NULL || s->memory[i - 1].peak_bytes > total->peak_bytes)
            total = &s->memory[i - 1];
    if (total == NULL || kinds > sizeof named / sizeof *named)
        return;
    const tl_memory_category *rows = total + 1 - kinds, *part;
    tl_wrap w = { .out = out, .indent = 2 };
    tl_wrap_words(&w, "Memory");
    if (total->rank >= 0)
        tl_wrap_printf(&w, "of rank %d:", (int)total->rank);
    tl_wrap_words(&w, "at most");
    tl_wrap_printf(&w, "%s", tl_bytes_in_words(total->peak_bytes).text);
    while (n < NAMED_CATEGORIES && (part = largest(rows, kinds - 1, named)) != NULL) {
        named[part - rows] = true;
        tl_wrap_words(&w, n == 0 ? "- of it" : "and");
        tl_wrap_printf(&w, "%s %s", tl_memory_category_labels[part->category],
                       tl_bytes_in_words(part->at_peak_bytes).text);
        n++;
    }
    tl_wrap_words(&w, "(table memory_category)");
    tl_wrap_end(&w);
}

const char *tl_memory_file_words(const tl_memory_file *file, char words[TL_MEMORY_FILE_WORDS])
{
    const char *label = tl_memory_file_labels[file->status];
    int n = (int)sizeof file->error;

    if (file->status == TL_MEMORY_FILE_EMPTY)
        snprintf(words, TL_MEMORY_FILE_WORDS, "%s: no entry", label);
    else if (file->entries == 0)
        snprintf(words, TL_MEMORY_FILE_WORDS, "%s: %.*s; no entry of it counts", label, n, file->error);
    else
        snprintf(words, TL_MEMORY_FILE_WORDS, "%s: %.*s; the %s entr%s before it count%s", label, n, file->error,
                 tl_grouped(file->entries).text, file->entries == 1 ? "y" : "ies", file->entries == 1 ? "s" : "");
    return words;
}
