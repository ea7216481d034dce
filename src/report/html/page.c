/* page.c - the page: its head, its sections, its foot; the section with the answers, and what the others share. */
#include "page.h"

#include "tlmpi/base/group.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/model/work_tables.h"
#include "tlmpi/report/format/markup.h"
#include <ctype.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdlib.h>

/* A section of the page; the last has no id. */
typedef struct tl_section {
    const char *id, *title; /* title NULL: without a heading */
    const char *table;      /* names of the tables that have its numbers, parted by a space; NULL: none */
    void (*draw)(tl_page *page);
    bool folded; /* below its title, and not on paper */
} tl_section;

/* A table whose rows go by before the page is written; the last has none. */
typedef struct tl_feed {
    const tl_schema *table;
    bool (*begin)(tl_html *html); /* what was fed before is all there; false: the rows are not wanted; NULL: they are */
    void (*take)(tl_html *html, const void *row);
} tl_feed;

/* In the order of the page. */
static const tl_section sections[] = {
    { "verdict", NULL, NULL, tl_draw_verdict, false },
    { "strip", "The worst step", "interval arrival collective gap", tl_draw_strip, false },
    { "time", "Where the time goes", "breakdown idle_summary", tl_draw_time, false },
    { "matrix", "Who waits for whom", "blame", tl_draw_matrix, false },
    { "excess", "Who works longer than its peers, and when", "blame_step culprit", tl_draw_excess, false },
    { "steps", "Step by step", "blame_step", tl_draw_steps, false },
    { "gains", "What the job would gain", "whatif culprit", tl_draw_gains, false },
    { "phases", "Who takes longer in a phase, and when", "phase_step phase_verdict phase", tl_draw_phases, false },
    { "waits", "Who is waited for, and when", "blame_step blame", tl_draw_waits, true },
    { "arrivals", "Who comes late to collectives", "arrival", tl_draw_arrivals, true },
    { "path", "What the critical path is made of", "critical_path path_sum", tl_draw_path, true },
    { "kernels", "Device work that takes most time", "kernel_ranks", tl_draw_kernels, true },
    { "operators", "Operators that launch most of it", "operator_ranks", tl_draw_operators, true },
    { "idle", "Why devices are idle", "idle_summary", tl_draw_idle, true },
    { "recording", "The recording", "rank health", tl_draw_recording, true },
    { "clocks", "The clocks", "clock", tl_draw_clocks, true },
    { "matching", "How collectives were matched", "quality", tl_draw_matching, true },
    { "parameters", "Numbers that were changed", "parameter", tl_draw_parameters, true },
    { "glossary", "Words of this page", NULL, tl_draw_glossary, true },
    { "made", "How this was made", NULL, tl_draw_made, true },
    { NULL, NULL, NULL, NULL, false },
};

static const tl_feed feeds[] = {
    { &tl_idle_summary_schema, NULL, tl_idle_take },
    { &tl_phase_schema, NULL, tl_timed_take_phase },
    { &tl_phase_step_schema, tl_timed_begin_cells, tl_timed_take_cell },
    { &tl_collective_row_schema, tl_strip_begin_collectives, tl_strip_take_collective },
    { &tl_rank_path_row_schema, tl_strip_begin_path, tl_strip_take_path },
    { &tl_arrival_schema, tl_strip_begin_arrivals, tl_strip_take_arrival },
    { &tl_interval_schema, tl_strip_begin_intervals, tl_strip_take_interval },
    { &tl_gap_schema, tl_strip_begin_gaps, tl_strip_take_gap },
    { &tl_path_sum_schema, NULL, tl_path_take },
    { NULL, NULL, NULL },
};

/* ------------------------------------------------------------------------------------------------------------ words */

FILE *tl_page_memory(char **text, size_t *n)
{
    FILE *memory = open_memstream(text, n);
    if (memory == NULL)
        tl_mem_out(BUFSIZ);
    return memory;
}

tl_wrap *tl_page_say(tl_page *page, const char *before)
{
    fputs(before, page->out);
    page->say = (tl_wrap){ .out = tl_page_memory(&page->said, &page->nsaid), .columns = SIZE_MAX };
    return &page->say;
}

/* Whether a unit begins there: "%", "ms", "GB", "s". */
static bool is_unit(const char *at)
{
    size_t n = strcspn(at, " ,;:.)(");
    return at[0] == '%' || (n == 1 && at[0] == 's') || (n == 2 && strchr("munkMG", at[0]) != NULL && strchr("sB", at[1]) != NULL);
}

/* A number stays in one line with its unit. */
void tl_page_said(tl_page *page, const char *after)
{
    (void)fclose(page->say.out);
    for (char *from = page->said, *at = from; from != NULL && *from != '\0'; from = at) {
        while (*at != '\0' && !(*at == ' ' && at > page->said && isdigit((unsigned char)at[-1]) && is_unit(at + 1)))
            at++;
        tl_put_markup(page->out, (tl_text){ from, (size_t)(at - from) });
        fputs(*at != '\0' ? "\xC2\xA0" : "", page->out);
        at += *at != '\0';
    }
    free(page->said);
    fputs(after, page->out);
}

bool tl_html_names(const tl_html *html, int32_t rank)
{
    return tl_index_of(html->named, html->nnamed, rank) < html->nnamed;
}

void tl_put_lines(FILE *out, const char *text, const char *plain, const char *indented)
{
    for (const char *p = text, *end; *p != '\0'; p = end + (*end != '\0')) {
        end = p + strcspn(p, "\n");
        size_t in = strspn(p, " ");
        if (end == p)
            continue;
        const char *tag = in > 0 ? indented : plain;
        fprintf(out, "<%s>", tag);
        tl_put_markup(out, (tl_text){ p + in, (size_t)(end - p) - in });
        fprintf(out, "</%.*s>\n", (int)strcspn(tag, " "), tag);
    }
}

/* --------------------------------------------------------------------------------------------------------- figures */

void tl_put_command(tl_page *page, const char *table)
{
    fputs("<code>tlmpi show ", page->out);
    tl_put_markup_word(page->out, page->file);
    fprintf(page->out, " %s</code>", table);
}

size_t tl_count_texts(const tl_table *ranks, size_t offset, size_t size, const char **first)
{
    size_t n = 0;
    for (size_t i = 0; i < ranks->n; i++) {
        const char *cell = (const char *)tl_table_row(ranks, i) + offset;
        bool seen = cell[0] == '\0';
        for (size_t k = i; k-- > 0 && !seen;) /* of the same host mostly the one before */
            seen = strncmp((const char *)tl_table_row(ranks, k) + offset, cell, size) == 0;
        if (!seen && n++ == 0)
            *first = cell;
    }
    return n;
}

tl_text tl_host_shown(const tl_table *hosts, int32_t rank)
{
    const tl_rank *row = hosts != NULL ? tl_row_of_rank(hosts, rank) : NULL;
    if (row == NULL)
        return TL_TEXT("");
    size_t n = tl_host_length(row->host, sizeof row->host);
    return (tl_text){ row->host, n < TL_HOST_SHOWN ? n : tl_text_utf8((tl_text){ row->host, TL_HOST_SHOWN }) };
}

static int by_worst(const void *context, uint32_t a, uint32_t b)
{
    const tl_heat_rank *of = context;
    if (of[a].keep != of[b].keep)
        return of[a].keep ? -1 : 1;
    return TL_COMPARE(of[b].total.part_ns, of[a].total.part_ns);
}

static void put_rank(tl_page *page, const tl_figure *f, size_t rank)
{
    const tl_heat *h = f->picture.heat;
    const tl_heat_sum *sum = &h->of[rank].total;
    bool both = f->picture.shades.both;
    FILE *out = page->out;

    fprintf(out, "<tr><th scope=\"row\" class=\"words\">%" PRId32 "</th>", h->ranks[rank]);
    if (f->picture.hosts != NULL) {
        fputs("<td class=\"words extra\">", out);
        tl_put_markup(out, tl_host_shown(f->picture.hosts, h->ranks[rank]));
        fputs("</td>", out);
    }
    fprintf(out, "<td>%s</td><td class=\"extra\">%s</td>", tl_show_time(sum->part_ns / sum->n).text,
            tl_show_time(sum->whole_ns / sum->n).text);
    fprintf(out, "<td>%s</td><td class=\"extra\">%s in %s</td><td class=\"words\">", tl_heat_share_of(h, rank, both).text,
            tl_show_share(h->of[rank].most, both).text, tl_steps_of_column(h->steps, h->of[rank].most_at).text);
    f->note(page, f->arg, h->ranks[rank]);
    fputs("</td></tr>\n", out);
}

static void put_worst(tl_page *page, const tl_figure *f)
{
    const tl_heat *h = f->picture.heat;
    uint32_t *index = tl_calloc(h->nranks + 1, sizeof *index);
    size_t n = 0, kept = 0;

    for (size_t i = 0; i < h->nranks; i++) {
        if (h->of[i].total.n == 0)
            continue;
        index[n++] = (uint32_t)i;
        kept += h->of[i].keep;
    }
    tl_sort_index(index, n, by_worst, h->of);
    kept = kept < TL_HEAT_WORST ? kept : TL_HEAT_WORST;
    fprintf(page->out,
            "<div class=\"wide\"><table><caption>%s, in the mean of a step</caption>\n"
            "<tr><th class=\"words\">rank</th>%s<th>%s</th><th class=\"extra\">%s</th><th>share</th><th class=\"extra\">"
            "most</th><th class=\"words\">%s</th></tr>\n",
            f->head, f->picture.hosts != NULL ? "<th class=\"words extra\">host</th>" : "", f->part, f->whole, f->note_head);
    for (size_t i = 0; i < n && i < kept + TL_WORST_ROWS; i++)
        if (i < kept || h->of[index[i]].total.part_ns > 0)
            put_rank(page, f, index[i]);
    fputs("</table></div>\n", page->out);
    free(index);
}

void tl_begin_figure(tl_page *page, tl_figure *f)
{
    enum { NARROW = 480 };
    f->picture.hosts = page->hosts;
    int wide = tl_heat_width(&f->picture);
    if (wide <= NARROW)
        fprintf(page->out, "<figure class=\"pair\" style=\"grid-template-columns:%dpx minmax(0,1fr)\">\n<figcaption>", wide);
    else
        fputs("<figure>\n<figcaption>", page->out);
}

void tl_end_figure(tl_page *page, tl_figure *f)
{
    size_t run = f->picture.heat->steps->run;
    f->picture.named = f->marked;
    f->picture.outlines = f->outlines.v;
    f->picture.noutlines = f->outlines.n;
    fputs("</figcaption>\n", page->out);
    tl_draw_heat(page->out, &f->picture);
    fprintf(page->out, "<p class=\"explains\">%s ", f->explanation);
    if (run > 1)
        fprintf(page->out, "A column is %zu steps: %s", run, f->column);
    fputs("</p>\n", page->out);
    put_worst(page, f);
    fputs("</figure>\n", page->out);
    free(f->marked);
    free(f->outlines.v);
}

/* ------------------------------------------------------------------------------------------------------------- page */

void tl_put_page_head(FILE *out, const char *name, const char *more_style)
{
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
          "<meta name=\"color-scheme\" content=\"light dark\"/>\n"
          "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\"/>\n"
          "<title>",
          out);
    tl_put_markup_word(out, name);
    fputs(" - tlmpi</title>\n<style>\n", out);
    for (size_t i = 0; tl_style[i] != NULL; i++)
        fputs(tl_style[i], out);
    fprintf(out, "%s</style>\n</head>\n<body>\n", more_style);
    /* What marks a cell without a record, for all pictures. */
    fputs("<svg class=\"shared\" aria-hidden=\"true\" width=\"0\" height=\"0\"><defs>"
          "<pattern id=\"hatch\" width=\"5\" height=\"5\" patternUnits=\"userSpaceOnUse\">"
          "<rect class=\"bare\" width=\"5\" height=\"5\"/><path class=\"hatch\" d=\"M-1 1l2 -2M0 5l5 -5M4 6l2 "
          "-2\"/></pattern></defs></svg>\n<h1>",
          out);
    tl_put_markup_word(out, name);
    fputs("</h1>\n", out);
}

void tl_put_page_foot(FILE *out, const char *file)
{
    fputs("<footer>Made by tlmpi " TLMPI_VERSION " from <code>", out);
    tl_put_markup_word(out, file);
    fputs("</code>. <code>tlmpi describe TABLE</code> explains the columns of a table.</footer>\n</body>\n</html>\n", out);
}

/* ----------------------------------------------------------------------------------------------------------- tables */

const tl_schema *const *tl_html_tables(void)
{
    static const tl_schema *const tables[] = { &tl_kernel_ranks_schema, &tl_operator_ranks_schema,
                                               &tl_phase_file_schema, &tl_group_row_schema, NULL };
    return tables;
}

const tl_table *tl_page_table(const tl_page *page, const tl_schema *schema)
{
    const tl_table *table = tl_tables_get(page->html->in.tables, schema);
    return table != NULL && table->n > 0 ? table : NULL;
}

/* The ranks that culprits name, alone or with others; a link names none. */
static void find_named(tl_html *html)
{
    const tl_answers *a = html->in.answers;
    for (size_t k = 0; k < a->nculprits; k++) {
        const tl_culprit *c = &a->culprits[k];
        html->named = tl_realloc(html->named, (html->nnamed + TL_RANKS_LISTED) * sizeof *html->named);
        if (!tl_is_link(c))
            html->nnamed += tl_ranks_listed(c->ranks, sizeof c->ranks, html->named + html->nnamed);
    }
    html->nnamed = tl_int_unique(html->named, html->nnamed);
}

tl_html *tl_html_new(const tl_html_input *input)
{
    tl_html *html = tl_calloc(1, sizeof *html);
    html->in = *input;
    find_named(html);
    return html;
}

static int by_place(const void *a, const void *b)
{
    return TL_COMPARE(((const tl_idle_summary *)a)->place, ((const tl_idle_summary *)b)->place);
}

const tl_schema *tl_html_next(tl_html *html)
{
    for (const tl_feed *feed; (feed = &feeds[html->feed])->table != NULL;) {
        html->feed++;
        if (feed->begin == NULL || feed->begin(html))
            return feed->table;
    }
    tl_timed_end(&html->timed);
    tl_vec_sort(&html->idle.classes, by_place);
    return NULL;
}

void tl_html_take(void *html, const void *row, tl_error *err)
{
    (void)err;
    feeds[((tl_html *)html)->feed - 1].take(html, row);
}

void tl_html_free(tl_html *html)
{
    if (html == NULL)
        return;
    tl_timed_free(&html->timed);
    free(html->idle.causes.v);
    free(html->idle.classes.v);
    tl_strip_free(&html->strip);
    free(html->arrivals.of);
    free(html->arrivals.now.v);
    free(html->path_sums.v);
    free(html->named);
    free(html);
}

/* ----------------------------------------------------------------------------------------------------------- writing */

/* "Table: tlmpi show FILE whatif and culprit". */
static void put_source(tl_page *page, const char *tables)
{
    size_t first = strcspn(tables, " ");
    fputs("<p class=\"source\">", page->out);
    tl_put_command(page, tl_phrase_of("%.*s", (int)first, tables).text);
    for (const char *next = tables + first; *next != '\0'; next += first) {
        next++;
        first = strcspn(next, " ");
        fprintf(page->out, ", <code>%.*s</code>", (int)first, next);
    }
    fputs("</p>\n", page->out);
}

/* A section is drawn in memory: one that draws nothing is not there. */
static void put_section(tl_page *page, const tl_section *section)
{
    FILE *out = page->out;
    char *text = NULL;
    size_t n = 0;

    page->out = tl_page_memory(&text, &n);
    section->draw(page);
    (void)fclose(page->out);
    page->out = out;
    if (n > 0) {
        fprintf(out, section->folded ? "<section id=\"%s\" class=\"folded\">\n<details><summary>" : "<section id=\"%s\">\n",
                section->id);
        if (section->title != NULL)
            fprintf(out, "<h2>%s</h2>%s\n", section->title, section->folded ? "</summary>" : "");
        (void)fwrite(text, 1, n, out);
        if (section->table != NULL)
            put_source(page, section->table);
        fputs(section->folded ? "</details>\n</section>\n" : "</section>\n", out);
    }
    free(text);
}

void tl_html_write(tl_html *html, FILE *out)
{
    char file[1000];
    tl_shell_word(file, sizeof file, html->in.file);
    tl_page page = { .out = out, .html = html, .file = file };
    const tl_table *ranks = tl_page_table(&page, &tl_rank_schema);
    const char *host = "";
    if (ranks != NULL && tl_count_texts(ranks, offsetof(tl_rank, host), sizeof((tl_rank *)0)->host, &host) > 1 &&
        !tl_is_host_of_pids(host, sizeof((tl_rank *)0)->host))
        page.hosts = ranks;
    tl_put_page_head(out, tl_job_name(&page).text, "");
    for (const tl_section *section = sections; section->id != NULL; section++)
        put_section(&page, section);
    tl_put_page_foot(out, html->in.file);
}
