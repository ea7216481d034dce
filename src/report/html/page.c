/* page.c - the page: its head, its parts in a list, its foot. */
#include "page.h"

#include "tlmpi/base/mem.h"
#include "tlmpi/report/format/markup.h"
#include "tlmpi/report/format/words.h"
#include <stdint.h>
#include <stdlib.h>

static const struct {
    const char *id, *title;
    void (*write)(tl_page *page);
} parts[] = {
    { "verdict", "Who holds the job up?", tl_part_verdict },
    { "blame", "Who works longer than its peers, and when?", tl_part_blame },
    { "phases", "Who takes longer in a phase, and when?", tl_part_phases },
};

/* ------------------------------------------------------------------------------------------------- what parts share */

tl_wrap *tl_sentence_begin(tl_sentence *s)
{
    *s = (tl_sentence){ .wrap.columns = SIZE_MAX };
    s->wrap.out = open_memstream(&s->text, &s->n);
    if (s->wrap.out == NULL)
        s->wrap.out = fopen("/dev/null", "w");
    return &s->wrap;
}

void tl_sentence_end(tl_sentence *s, tl_page *page)
{
    bool ok = s->wrap.out != NULL && fclose(s->wrap.out) == 0 && s->text != NULL;
    if (ok)
        tl_put_markup(page->out, (tl_text){ s->text, s->n });
    page->failed = page->failed || !ok;
    free(s->text);
}

const tl_table *tl_page_hosts(const tl_page *page)
{
    const tl_table *ranks = tl_tables_get(page->html->in.tables, &tl_rank_schema);
    for (size_t i = 0; i < ranks->n; i++) {
        const tl_rank *row = tl_table_row(ranks, i);
        if (row->host[0] != '\0' && !tl_is_host_of_pids(row->host, sizeof row->host))
            return ranks;
    }
    return NULL;
}

void tl_put_command(tl_page *page, const char *table)
{
    fputs("<code>tlmpi show ", page->out);
    tl_put_markup_word(page->out, page->file);
    fprintf(page->out, " %s</code>", table);
}

void tl_put_source(tl_page *page, const char *table, const char *another)
{
    fprintf(page->out, "Table%s: ", another != NULL ? "s" : "");
    tl_put_command(page, table);
    if (another != NULL)
        fprintf(page->out, " and <code>%s</code>", another);
    fputs(".", page->out);
}

/* ------------------------------------------------------------------------------------------------------------- page */

static void put_head(tl_page *page)
{
    const char *slash = strrchr(page->html->in.file, '/'), *name = slash != NULL ? slash + 1 : page->html->in.file;
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
          "<meta name=\"color-scheme\" content=\"light dark\"/>\n"
          "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\"/>\n"
          "<title>",
          page->out);
    tl_put_markup_word(page->out, name);
    fprintf(page->out, " - tlmpi</title>\n<style>\n%s</style>\n</head>\n<body>\n", tl_html_style);
    /* What marks a cell without a record, for all pictures. */
    fputs("<svg class=\"shared\" aria-hidden=\"true\" width=\"0\" height=\"0\"><defs>"
          "<pattern id=\"hatch\" width=\"5\" height=\"5\" patternUnits=\"userSpaceOnUse\">"
          "<rect class=\"bare\" width=\"5\" height=\"5\"/><path class=\"hatch\" d=\"M-1 1l2 -2M0 5l5 -5M4 6l2 "
          "-2\"/></pattern></defs></svg>\n<h1>",
          page->out);
    tl_put_markup_word(page->out, name);
    fputs("</h1>\n", page->out);
}

static void put_foot(tl_page *page)
{
    fputs("<footer>Made by tlmpi " TLMPI_VERSION " from <code>", page->out);
    tl_put_markup_word(page->out, page->html->in.file);
    fputs("</code>. <code>tlmpi describe TABLE</code> explains the columns of a table.</footer>\n</body>\n</html>\n",
          page->out);
}

tl_status tl_html_write(tl_html *html, FILE *out, tl_error *err)
{
    char file[1000];
    tl_shell_word(file, sizeof file, html->in.file);
    tl_page page = { .out = out, .html = html, .file = file };

    put_head(&page);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        fprintf(out, "<section id=\"%s\">\n<h2>%s</h2>\n", parts[i].id, parts[i].title);
        parts[i].write(&page);
        fputs("</section>\n", out);
    }
    put_foot(&page);
    return page.failed ? tl_fail_memory(err, "the page") : TL_OK;
}

/* ------------------------------------------------------------------------------------------------------- its rows */

tl_html *tl_html_new(const tl_html_input *input)
{
    tl_html *html = tl_calloc(1, sizeof *html);
    html->in = *input;
    html->timed = (tl_timed){ .verdicts = input->answers->phases,
                              .nverdicts = input->answers->nphases,
                              .name = input->name,
                              .name_arg = input->name_arg };
    return html;
}

void tl_html_free(tl_html *html)
{
    if (html != NULL)
        tl_timed_free(&html->timed);
    free(html);
}

tl_status tl_html_next(tl_html *html, const tl_schema **table)
{
    tl_timed_next(&html->timed, table);
    return TL_OK;
}

void tl_html_take(void *html, const void *row, tl_error *err)
{
    (void)err;
    tl_html *to = html;
    tl_timed_take(&to->timed, row);
}
