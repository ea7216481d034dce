/* verdict.c - the first part: the four questions and their answers, word for word as `tlmpi ask` says them. */
#include "page.h"

#include "tlmpi/report/ask.h"
#include "tlmpi/report/format/markup.h"
#include <stdint.h>
#include <stdlib.h>

/* "Evidence: it comes ..." with its first word as a label; one that has none is the answer itself. */
static void put_line(FILE *out, tl_text line)
{
    static const char *const labels[] = { "File:",        "Cost:",    "Also:",       "Together:",
                                          "Evidence:",    "Balance:", "Confidence:", "Collectives:",
                                          "Not matched:", "Clocks:",  "Waiting:",    "Simulation:" };
    const char *label = NULL;
    for (size_t i = 0; i < sizeof labels / sizeof labels[0] && label == NULL; i++)
        if (tl_text_starts(line, labels[i]))
            label = labels[i];
    if (label == NULL) {
        fputs("<p class=\"answer\">", out);
    } else {
        fprintf(out, "<p class=\"more\"><b>%s</b>", label);
        line = (tl_text){ line.p + strlen(label), line.n - strlen(label) };
    }
    tl_put_markup(out, line);
    fputs("</p>\n", out);
}

void tl_part_verdict(tl_page *page)
{
    char *text = NULL;
    size_t n = 0;
    FILE *memory = open_memstream(&text, &n);

    if (memory != NULL) {
        tl_print_answers(memory, page->html->in.answers, page->html->in.file, SIZE_MAX);
        page->failed = fclose(memory) != 0 || page->failed;
    }
    page->failed = page->failed || memory == NULL || text == NULL;
    for (const char *p = text, *end; p != NULL && *p != '\0'; p = end + (*end != '\0')) {
        end = p + strcspn(p, "\n");
        const tl_text line = { p, (size_t)(end - p) };
        if (line.n == 0)
            continue;
        if (tl_text_starts(line, "  ")) {
            put_line(page->out, (tl_text){ line.p + 2, line.n - 2 });
        } else {
            fputs("<h3>", page->out);
            tl_put_markup(page->out, line);
            fputs("</h3>\n", page->out);
        }
    }
    free(text);
}
