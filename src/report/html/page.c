/* page.c - the page: its head, its sections, its foot; the section with the answers, and what the others share. */
#include "page.h"

#include "tlmpi/base/mem.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/report/ask.h"
#include "tlmpi/report/format/markup.h"
#include <inttypes.h>
#include <stdint.h>
#include <stdlib.h>

/* --------------------------------------------------------------------------------------------------------- verdict */

FILE *tl_page_memory(char **text, size_t *n)
{
    FILE *memory = open_memstream(text, n);
    if (memory == NULL)
        tl_mem_out(BUFSIZ);
    return memory;
}

/* The first section: the four questions and their answers, word for word as `tlmpi ask` says them. */

/* "Evidence: it comes ..." with its first word as a label; one that has none is the answer itself. */
static void put_line(FILE *out, tl_text line)
{
    static const char *const labels[] = { "File:",        "Cost:",    "Also:",       "Together:",
                                          "Evidence:",    "Bound:",   "Balance:",    "Confidence:", "Collectives:",
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

void tl_draw_verdict(tl_page *page)
{
    char *text = NULL;
    size_t n = 0;
    FILE *memory = tl_page_memory(&text, &n);

    tl_print_answers(memory, page->html->in.answers, page->html->in.file, SIZE_MAX);
    (void)fclose(memory);
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

/* --------------------------------------------------------------------------------------------------------- figures */

void tl_put_command(tl_page *page, const char *table)
{
    fputs("<code>tlmpi show ", page->out);
    tl_put_markup_word(page->out, page->file);
    fprintf(page->out, " %s</code>", table);
}

/* Table rank, where a trace names any host; else NULL. */
static const tl_table *hosts_of(const tl_page *page)
{
    const tl_table *ranks = tl_tables_get(page->html->in.tables, &tl_rank_schema);
    for (size_t i = 0; i < ranks->n; i++) {
        const tl_rank *row = tl_table_row(ranks, i);
        if (row->host[0] != '\0' && !tl_is_host_of_pids(row->host, sizeof row->host))
            return ranks;
    }
    return NULL;
}

static int by_worst(const void *context, uint32_t a, uint32_t b)
{
    const tl_figure *f = context;
    if (f->keep[a] != f->keep[b])
        return f->keep[a] ? -1 : 1;
    return TL_COMPARE(f->picture.heat->total[b].part_ns, f->picture.heat->total[a].part_ns);
}

static void put_rank(tl_page *page, const tl_figure *f, size_t rank)
{
    const tl_heat *h = f->picture.heat;
    const tl_heat_sum *sum = &h->total[rank];
    const tl_rank *row = f->picture.hosts != NULL ? tl_row_of_rank(f->picture.hosts, h->ranks[rank]) : NULL;
    bool both = f->picture.shades.both;
    FILE *out = page->out;

    fprintf(out, "<tr><th scope=\"row\">%" PRId32 "</th>", h->ranks[rank]);
    if (f->picture.hosts != NULL) {
        fputs("<td>", out);
        if (row != NULL)
            tl_put_markup_cell(out, row->host, tl_host_length(row->host, sizeof row->host));
        fputs("</td>", out);
    }
    fprintf(out, "<td>%s</td><td>%s</td>", tl_show_time(sum->part_ns / sum->n).text,
            tl_show_time(sum->whole_ns / sum->n).text);
    fprintf(out, "<td>%s</td><td>%s in %s</td><td class=\"words\">", tl_heat_share_of(h, rank, both).text,
            tl_show_share(h->most[rank], both).text, tl_steps_of_column(h->steps, h->most_at[rank]).text);
    f->note(page, f->arg, h->ranks[rank]);
    fputs("</td></tr>\n", out);
}

static void put_worst(tl_page *page, const tl_figure *f)
{
    const tl_heat *h = f->picture.heat;
    uint32_t *index = tl_calloc(h->nranks + 1, sizeof *index);
    size_t n = 0, kept = 0;

    for (size_t i = 0; i < h->nranks; i++) {
        if (h->total[i].n == 0)
            continue;
        index[n++] = (uint32_t)i;
        kept += f->keep[i];
    }
    tl_sort_index(index, n, by_worst, f);
    kept = kept < TL_HEAT_WORST ? kept : TL_HEAT_WORST;
    fprintf(page->out,
            "<div class=\"wide\"><table><caption>The worst ranks, in the mean of a step</caption>\n"
            "<tr><th>rank</th>%s<th>%s</th><th>%s</th><th>share</th><th>most</th><th class=\"words\">%s</th></tr>\n",
            f->picture.hosts != NULL ? "<th>host</th>" : "", f->part, f->whole, f->note_head);
    for (size_t i = 0; i < n && i < kept + TL_WORST_ROWS; i++)
        if (i < kept || h->total[index[i]].part_ns > 0)
            put_rank(page, f, index[i]);
    fputs("</table></div>\n", page->out);
    free(index);
}

void tl_put_figure(tl_page *page, tl_figure *f)
{
    size_t run = f->picture.heat->steps->run;
    f->picture.hosts = hosts_of(page);
    tl_draw_heat(page->out, &f->picture);
    fprintf(page->out, "<p class=\"source\">%s ", f->explanation);
    if (run > 1)
        fprintf(page->out, "A column is %zu steps: %s ", run, f->column);
    fprintf(page->out, "Table%s: ", f->another != NULL ? "s" : "");
    tl_put_command(page, f->table);
    if (f->another != NULL)
        fprintf(page->out, " and <code>%s</code>", f->another);
    fputs(".</p>\n", page->out);
    put_worst(page, f);
}

/* ------------------------------------------------------------------------------------------------------------- page */

/* The style sheet: light and dark, wide and narrow, on paper.
 *
 * Shades go from the ground to blue and to orange, which all eyes tell apart; the further, the more they differ from the
 * ground in lightness, too.  On paper all is as in the light.
 */
static const char style[] =
    ":root { color-scheme: light dark; --page: #ffffff; --ink: #1b1f24; --quiet: #59636e; --line: #d5d9de;\n"
    "  --n: #eef0f2; --m: #8b949e;\n"
    "  --a1: #fde2c4; --a2: #fcc385; --a3: #f59b45; --a4: #dd6b10; --a5: #ad4604; --a6: #742c02;\n"
    "  --b1: #d3e5f5; --b2: #a6cceb; --b3: #6eacd9; --b4: #3a87c2; --b5: #195f9a; --b6: #0a3b6b;\n"
    "  --compute: #3b6ea5; --hidden: #8ecae6; --transfer: #2a9d6f; --waiting: #dd6b10; --unknown: #d9b310; --copy: #94447f;\n"
    "  --idle1: #6b7580; --idle2: #98a1ab; --idle3: #bcc3ca; --idle4: #dde1e5; }\n"
    "@media screen and (prefers-color-scheme: dark) { :root { --page: #14171b; --ink: #e3e7eb; --quiet: #9aa4af;\n"
    "  --line: #3a4149; --n: #252a30; --m: #6b7580;\n"
    "  --a1: #4d3317; --a2: #79491a; --a3: #ab6519; --a4: #dd8526; --a5: #f8b162; --a6: #ffe0b3;\n"
    "  --b1: #1d3a55; --b2: #215580; --b3: #2b74ac; --b4: #4796cf; --b5: #84bdea; --b6: #c9e5fa;\n"
    "  --compute: #4f86c0; --hidden: #8ecae6; --transfer: #36b383; --waiting: #f08a35; --unknown: #e0c03c; --copy: #bb6aa5;\n"
    "  --idle1: #98a1ab; --idle2: #727c87; --idle3: #525b65; --idle4: #373e46; } }\n"
    "html { background: var(--page); color: var(--ink); }\n"
    "body { max-width: 58rem; margin: 0 auto; padding: 1rem; font: 1rem/1.5 system-ui, sans-serif; }\n"
    "h1 { font-size: 1.5rem; margin: .5rem 0; overflow-wrap: anywhere; }\n"
    "h2 { font-size: 1.25rem; margin: 2.5rem 0 .5rem; border-bottom: 1px solid var(--line); }\n"
    "h3 { font-size: 1rem; margin: 1.25rem 0 .25rem; overflow-wrap: anywhere; }\n"
    "p { margin: .25rem 0; overflow-wrap: anywhere; }\n"
    ".answer { font-weight: 600; }\n"
    ".more, .source, footer { color: var(--quiet); font-size: .875rem; }\n"
    "footer { margin-top: 3rem; border-top: 1px solid var(--line); padding-top: .5rem; }\n"
    "code { font-size: .8125rem; overflow-wrap: anywhere; }\n"
    "figure { margin: 0 0 2rem; }\n"
    ".wide { overflow-x: auto; margin: .5rem 0; }\n"
    "svg { display: block; font: 11px system-ui, sans-serif; shape-rendering: crispEdges; }\n"
    ".scale { font-size: 10px; }\n"
    ".shared { position: absolute; }\n"
    "text { fill: var(--ink); }\n"
    ".end { text-anchor: end; } .middle { text-anchor: middle; } .axis-name { fill: var(--quiet); }\n"
    ".named { font-weight: 700; } .mark { fill: var(--ink); shape-rendering: auto; }\n"
    ".axis { fill: none; stroke: var(--quiet); }\n"
    ".n { fill: var(--n); } .m { fill: url(#hatch); stroke: var(--line); } .bare { fill: var(--page); } .hatch { "
    "stroke: var(--m); }\n"
    ".a1 { fill: var(--a1); } .a2 { fill: var(--a2); } .a3 { fill: var(--a3); }\n"
    ".a4 { fill: var(--a4); } .a5 { fill: var(--a5); } .a6 { fill: var(--a6); }\n"
    ".b1 { fill: var(--b1); } .b2 { fill: var(--b2); } .b3 { fill: var(--b3); }\n"
    ".b4 { fill: var(--b4); } .b5 { fill: var(--b5); } .b6 { fill: var(--b6); }\n"
    ".plot { overflow: visible; } .rule { stroke: var(--line); } .quiet { fill: var(--quiet); }\n"
    ".path { fill: none; stroke: var(--ink); stroke-width: 2; vector-effect: non-scaling-stroke; }\n"
    ".compute { fill: var(--compute); } .hidden { fill: var(--hidden); } .transfer { fill: var(--transfer); }\n"
    ".waiting { fill: var(--waiting); } .unknown { fill: var(--unknown); } .copy { fill: var(--copy); }\n"
    ".idle, .idle4 { fill: var(--idle4); } .idle1 { fill: var(--idle1); } .idle2 { fill: var(--idle2); } .idle3 { fill: "
    "var(--idle3); }\n"
    ".late, .weak, .under { fill: none; stroke: var(--ink); stroke-width: 2; }\n"
    ".weak { stroke-dasharray: 4 3; } .under { stroke: var(--page); stroke-width: 4; }\n"
    ".legend { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; align-items: center; font-size: .8125rem; }\n"
    ".legend span { display: flex; gap: .4rem; align-items: center; } .legend svg { flex: none; }\n"
    "table { border-collapse: collapse; font-size: .8125rem; font-variant-numeric: tabular-nums; }\n"
    "caption { text-align: left; color: var(--quiet); }\n"
    "th, td { text-align: right; padding: .15rem .9rem .15rem 0; border-bottom: 1px solid var(--line); white-space: "
    "nowrap; }\n"
    ".words { text-align: left; }\n"
    "@media print { body { max-width: none; padding: 0; } .wide { overflow: visible; } figure { break-inside: avoid; "
    "}\n"
    "  h2, h3, figcaption { break-after: avoid; } .wide svg { max-width: 100%; height: auto; } }\n";

void tl_put_page_head(FILE *out, const char *name, const char *more_style)
{
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
          "<meta name=\"color-scheme\" content=\"light dark\"/>\n"
          "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\"/>\n"
          "<title>",
          out);
    tl_put_markup_word(out, name);
    fprintf(out, " - tlmpi</title>\n<style>\n%s%s</style>\n</head>\n<body>\n", style, more_style);
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
    static const tl_schema *const tables[] = { NULL };
    return tables;
}

const tl_table *tl_page_table(const tl_page *page, const tl_schema *schema)
{
    const tl_table *table = tl_tables_get(page->html->in.tables, schema);
    return table != NULL && table->n > 0 ? table : NULL;
}

tl_html *tl_html_new(const tl_html_input *input)
{
    tl_html *html = tl_calloc(1, sizeof *html);
    html->in = *input;
    return html;
}

const tl_schema *tl_html_next(tl_html *html)
{
    while (tl_feeds[html->feed].table != NULL)
        if (tl_feeds[html->feed++].begin(html))
            return tl_feeds[html->feed - 1].table;
    tl_timed_end(&html->timed);
    return NULL;
}

void tl_html_take(void *html, const void *row, tl_error *err)
{
    (void)err;
    tl_feeds[((tl_html *)html)->feed - 1].take(html, row);
}

void tl_html_free(tl_html *html)
{
    if (html != NULL)
        tl_timed_free(&html->timed);
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
        fprintf(out, "<section id=\"%s\">\n<h2>%s</h2>\n", section->id, section->title);
        (void)fwrite(text, 1, n, out);
        if (section->table != NULL)
            put_source(page, section->table);
        fputs("</section>\n", out);
    }
    free(text);
}

void tl_html_write(tl_html *html, FILE *out)
{
    char file[1000];
    tl_shell_word(file, sizeof file, html->in.file);
    tl_page page = { .out = out, .html = html, .file = file };

    const char *slash = strrchr(html->in.file, '/');
    tl_put_page_head(out, slash != NULL ? slash + 1 : html->in.file, "");
    for (const tl_section *section = tl_sections; section->id != NULL; section++)
        put_section(&page, section);
    tl_put_page_foot(out, html->in.file);
}
