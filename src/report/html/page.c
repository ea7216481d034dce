/* page.c - the page: its head, its sections, its foot; and what the sections share. */
#include "page.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/model/phase_tables.h"
#include "tlmpi/model/side_table.h"
#include "tlmpi/model/work_tables.h"
#include "tlmpi/report/format/words.h"
#include <stdlib.h>

extern const char *const tl_page_text[]; /* the lines of page.css; "#" ends them */

static const struct {
    const char *id, *title, *table, *others;
    void (*draw)(tl_page *page);
    bool folded;
} sections[] = {
#define SECTION(id, title, table, others, folded) { #id, title, table, others, tl_draw_##id, folded },
    TL_SECTIONS(SECTION)
};

/* ------------------------------------------------------------------------------------------------------------ words */

tl_wrap *tl_page_say(tl_page *page, const char *before)
{
    fputs(before, page->out);
    page->say = (tl_wrap){ .out = tl_memory_file(&page->said, &page->nsaid), .columns = TL_ONE_LINE };
    return &page->say;
}

void tl_page_said(tl_page *page, const char *after)
{
    (void)fclose(page->say.out);
    tl_put(page->out, "%s", page->said);
    free(page->said);
    fputs(after, page->out);
}

void tl_page_sentence(tl_page *page, const char *before, const char *after, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    tl_vsay(tl_page_say(page, before), format, args);
    tl_page_said(page, after);
    va_end(args);
}

void tl_put_lines(FILE *out, FILE *memory, char **text, const char *plain, const char *indented)
{
    (void)fclose(memory);
    for (const char *p = *text, *end; *p != '\0'; p = end + (*end != '\0')) {
        end = p + strcspn(p, "\n");
        size_t in = strspn(p, " ");
        const char *tag = in > 0 ? indented : plain;
        if (end == p)
            continue;
        fprintf(out, "<%s>", tag);
        tl_put(out, "%.*s</%.*s>\n", (int)(end - p) - (int)in, p + in, (int)strcspn(tag, " "), tag);
    }
    free(*text);
}

/* ----------------------------------------------------------------------------------------------------------- tables */

const tl_schema *const *tl_html_tables(void)
{
    static const tl_schema *const tables[] = { &tl_kernel_ranks_schema, &tl_operator_ranks_schema, &tl_phase_schema,
                                               &tl_side_file_schema, NULL };
    return tables;
}

const tl_table *tl_page_table(const tl_page *page, const tl_schema *schema)
{
    const tl_table *table = tl_tables_get(page->in->tables, schema);
    return table != NULL && table->n > 0 ? table : NULL;
}

void tl_page_each(tl_page *page, const tl_schema *schema, tl_html_take *take, void *arg)
{
    if (page->status == TL_OK)
        page->status = page->in->each(page->in->result, schema, take, arg, page->err);
}

bool tl_page_names(const tl_page *page, int32_t rank)
{
    return tl_index_of(page->strip.named, page->strip.nnamed, rank) < page->strip.nnamed;
}

static void take_idle(void *of, const void *row)
{
    tl_page *page = of;
    const tl_idle_summary *idle = row;
    if (idle->device == -1 && idle->step == -1 && idle->drain_type != TL_DRAIN_ALL &&
        (idle->place == 0 || idle->rank == -1))
        tl_vec_push(&page->idle, *idle);
}

/* ------------------------------------------------------------------------------------------------------------- page */

void tl_put_page_head(FILE *out, const char *name)
{
    tl_put(out,
           "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
           "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
           "<meta name=\"color-scheme\" content=\"light dark\"/>\n"
           "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\"/>\n"
           "<title>%s - tlmpi</title>\n<style>\n",
           name);
    for (const char *const *line = tl_page_text; strcmp(*line, "#") != 0; line++)
        fprintf(out, "%s\n", *line);
    /* The pattern of a cell without a record, for all pictures. */
    fputs("</style>\n</head>\n<body>\n"
          "<svg class=\"shared\" aria-hidden=\"true\" width=\"0\" height=\"0\"><defs>"
          "<pattern id=\"hatch\" width=\"5\" height=\"5\" patternUnits=\"userSpaceOnUse\">"
          "<rect class=\"bare\" width=\"5\" height=\"5\"/><path class=\"hatch\" d=\"M-1 1l2 -2M0 5l5 -5M4 6l2 "
          "-2\"/></pattern></defs></svg>\n",
          out);
    tl_put(out, "<h1>%s</h1>\n", name);
}

void tl_put_page_foot(FILE *out, const char *file)
{
    tl_put(out,
           "<footer>Made by tlmpi " TLMPI_VERSION
           " from <code>%s</code>. <code>tlmpi describe TABLE</code> explains the "
           "columns of a table.</footer>\n</body>\n</html>\n",
           file);
}

/* Draws each section in memory first, and leaves it out if it is empty. */
static void put_sections(tl_page *page, FILE *out)
{
    for (size_t i = 0; i < sizeof sections / sizeof sections[0]; i++) {
        const bool folded = sections[i].folded;
        char *text = NULL;
        size_t n = 0;
        page->out = tl_memory_file(&text, &n);
        sections[i].draw(page);
        if (ftell(page->out) > 0 && sections[i].table != NULL)
            tl_put(page->out, "<p class=\"source\"><code>tlmpi show %s %s</code><code>%s</code></p>\n", page->file,
                   sections[i].table, sections[i].others);
        (void)fclose(page->out);
        if (n > 0) {
            tl_put(out, "<section id=\"%s\"", sections[i].id);
            fputs(folded ? " class=\"folded\">\n<details><summary>" : ">\n", out);
            if (sections[i].title != NULL)
                tl_put(out, "<h2>%s</h2>", sections[i].title);
            fputs(folded ? "</summary>\n" : sections[i].title != NULL ? "\n" : "", out);
            (void)fwrite(text, 1, n, out);
            fputs(folded ? "</details>\n</section>\n" : "</section>\n", out);
        }
        free(text);
    }
}

/* Returns the folder of the first trace, or of the first file beside traces; else the result's name. */
static tl_phrase job_name(const tl_page *page)
{
    const tl_table *ranks = tl_page_table(page, &tl_rank_schema), *files = tl_page_table(page, &tl_side_file_schema);
    tl_phrase path = tl_phrase_of("%s", page->in->file);
    if (ranks != NULL)
        path = tl_cell_in_words(((const tl_rank *)tl_table_row(ranks, 0))->file, sizeof((tl_rank *)0)->file);
    else if (files != NULL)
        path = tl_cell_in_words(((const tl_side_file *)tl_table_row(files, 0))->path, sizeof((tl_side_file *)0)->path);
    char *slash = strrchr(path.text, '/');
    if ((ranks != NULL || files != NULL) && slash != NULL)
        *slash = '\0';
    slash = strrchr(path.text, '/');
    return slash != NULL ? tl_phrase_of("%s", slash + 1) : path;
}

tl_status tl_html_write(const tl_html_input *in, FILE *out, tl_error *err)
{
    tl_page page = { .out = out, .in = in, .answers = in->answers, .err = err };
    const tl_table *ranks = tl_page_table(&page, &tl_rank_schema);
    tl_shell_word(page.file, sizeof page.file, in->file);
    if (ranks != NULL) {
        tl_names hosts = tl_distinct_texts(ranks, "host");
        const tl_text host = tl_names_text(&hosts, 0);
        page.hosts = hosts.n > 1 && !tl_is_host_of_pids(host.p, host.n) ? ranks : NULL;
        tl_names_free(&hosts);
    }
    page.status = tl_strip_gather(&page.strip, in, NULL, NULL, err);
    tl_page_each(&page, &tl_idle_summary_schema, take_idle, &page);
    tl_put_page_head(out, job_name(&page).text);
    put_sections(&page, out);
    tl_put_page_foot(out, in->file);
    tl_strip_free(&page.strip);
    free(page.idle.v);
    return page.status;
}
