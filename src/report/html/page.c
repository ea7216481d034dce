/* page.c - the page: its head, its sections, its foot; and what the sections share. */
#include "page.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/model/phase_tables.h"
#include "tlmpi/model/side_table.h"
#include "tlmpi/model/work_tables.h"
#include "tlmpi/report/format/markup.h"
#include <stdlib.h>

/* ------------------------------------------------------------------------------------------------------------ style */

/* The style sheet: light and dark, wide and narrow, on paper.
 *
 * Six hues that all eyes tell apart, one meaning each, and greys for idle time:
 *
 *     compute     own work
 *     hidden      communication under compute
 *     transfer    exposed communication: data moves
 *     waiting     exposed communication: waiting for other ranks; lateness
 *     unknown     exposed communication: waiting or transfer
 *     copy        copies and memsets
 *     idle        no device work; idle1 .. idle4 are causes
 *
 * Shades of a heat map go from the ground to blue and to orange; stronger shades differ more from the ground in
 * lightness, too.  Sizes of text are .75, .875, 1, 1.25 and 1.75 rem; on paper the light colours are used.
 */

const char *const tl_style[] = {
    ":root { color-scheme: light dark; --page: #ffffff; --card: #f6f7f9; --ink: #1b1f24;\n"
    "  --quiet: #59636e; --line: #d5d9de;\n"
    "  --n: #eef0f2; --m: #8b949e; --band: #fdeedd;\n"
    "  --a1: #fde2c4; --a2: #fcc385; --a3: #f59b45; --a4: #dd6b10; --a5: #ad4604; --a6: #742c02;\n"
    "  --b1: #d3e5f5; --b2: #a6cceb; --b3: #6eacd9; --b4: #3a87c2; --b5: #195f9a; --b6: #0a3b6b;\n"
    "  --compute: #3b6ea5; --hidden: #8ecae6; --transfer: #2a9d6f; --waiting: #dd6b10;\n"
    "  --unknown: #d9b310; --copy: #94447f;\n"
    "  --idle1: #6b7580; --idle2: #98a1ab; --idle3: #bcc3ca; --idle4: #dde1e5; }\n"
    "@media screen and (prefers-color-scheme: dark) { :root { --page: #14171b; --card: #1c2026; --ink: #e3e7eb;\n"
    "  --quiet: #9aa4af; --line: #3a4149; --n: #252a30; --m: #6b7580; --band: #38291a;\n"
    "  --a1: #4d3317; --a2: #79491a; --a3: #ab6519; --a4: #dd8526; --a5: #f8b162; --a6: #ffe0b3;\n"
    "  --b1: #1d3a55; --b2: #215580; --b3: #2b74ac; --b4: #4796cf; --b5: #84bdea; --b6: #c9e5fa;\n"
    "  --compute: #4f86c0; --hidden: #8ecae6; --transfer: #36b383; --waiting: #f08a35;\n"
    "  --unknown: #e0c03c; --copy: #bb6aa5;\n"
    "  --idle1: #98a1ab; --idle2: #727c87; --idle3: #525b65; --idle4: #373e46; } }\n",
    "html { background: var(--page); color: var(--ink); -webkit-text-size-adjust: 100%; }\n"
    "body { max-width: 60rem; margin: 0 auto; padding: 1.5rem 1rem; font: 1rem/1.5 system-ui, sans-serif; }\n"
    "h1 { font-size: 1.75rem; line-height: 1.2; margin: 0 0 .25rem; overflow-wrap: anywhere; }\n"
    "h2 { font-size: 1.25rem; line-height: 1.3; margin: 3rem 0 .5rem; }\n"
    "h3 { font-size: 1rem; margin: 1.25rem 0 .25rem; overflow-wrap: anywhere; }\n"
    "p { margin: .25rem 0; overflow-wrap: anywhere; }\n"
    "code { font: .875em ui-monospace, monospace; overflow-wrap: anywhere; }\n"
    "figure { margin: 0 0 .75rem; }\n"
    ".answer { font-weight: 600; } .meta, .more, .source, .explains, footer { color: var(--quiet);\n"
    "  font-size: .875rem; }\n"
    ".source { font-size: .75rem; margin-top: .5rem; } .source code { font-size: .75rem; }\n"
    "footer { margin-top: 3rem; border-top: 1px solid var(--line); padding-top: .5rem; }\n",
    /* the verdict strip */
    ".strip { background: var(--card); border-left: .25rem solid var(--waiting); padding: 1rem; margin: 1rem 0; }\n"
    ".strip.well { border-color: var(--compute); }\n"
    ".says p:first-child { font-size: 1.25rem; line-height: 1.35; font-weight: 600; }\n"
    ".tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(9rem, 1fr)); gap: 1rem;\n"
    "  margin: 1rem 0 0; }\n"
    ".tiles div { border-top: 1px solid var(--line); padding-top: .5rem; }\n"
    ".tiles dt { font-size: .75rem; color: var(--quiet); }\n"
    ".tiles dd { margin: 0; font-size: .75rem; line-height: 1.4; color: var(--quiet); overflow-wrap: anywhere; }\n"
    ".tiles .big { font-size: 1.75rem; line-height: 1.2; font-weight: 600; color: var(--ink); }\n"
    ".folded { border-top: 1px solid var(--line); } .folded h2 { display: inline; font-size: 1rem;\n"
    "  font-weight: 600; }\n"
    "section:not(.folded) + .folded { margin-top: 3rem; }\n"
    "details { margin: .5rem 0; } summary { cursor: pointer; color: var(--quiet); font-size: .875rem; }\n"
    "dl.words { font-size: .875rem; margin: .5rem 0; display: grid; grid-template-columns: 12rem 1fr;\n"
    "  gap: .35rem 1rem; }\n"
    "dl.words dt { font-weight: 600; } dl.words dd { margin: 0; overflow-wrap: anywhere; }\n",
    /* pictures */
    "svg { display: block; font: 12px system-ui, sans-serif; shape-rendering: crispEdges; }\n"
    ".plot { overflow: visible; max-width: var(--most); } .rule { stroke: var(--line); }\n"
    "  .quiet { fill: var(--quiet); }\n"
    ".shared { position: absolute; } text { fill: var(--ink); }\n"
    ".end { text-anchor: end; } .middle { text-anchor: middle; } .named { font-weight: 700; }\n"
    ".axis { fill: none; stroke: var(--quiet); }\n"
    ".path { fill: none; stroke: var(--ink); stroke-width: 2; vector-effect: non-scaling-stroke; }\n"
    ".band { fill: var(--band); } .dot { fill: var(--ink); shape-rendering: auto; }\n"
    ".compute { fill: var(--compute); } .hidden { fill: var(--hidden); } .transfer { fill: var(--transfer); }\n"
    ".waiting { fill: var(--waiting); } .unknown { fill: var(--unknown); } .copy { fill: var(--copy); }\n"
    ".idle, .idle4 { fill: var(--idle4); } .idle1 { fill: var(--idle1); } .idle2 { fill: var(--idle2); }\n"
    ".idle3 { fill: var(--idle3); } .n { fill: var(--n); } .m { fill: url(#hatch); } .bare { fill: var(--page); }\n"
    ".hatch { stroke: var(--m); } .cell { stroke: var(--page); }\n"
    ".a1 { fill: var(--a1); } .a2 { fill: var(--a2); } .a3 { fill: var(--a3); }\n"
    ".a4 { fill: var(--a4); } .a5 { fill: var(--a5); } .a6 { fill: var(--a6); }\n"
    ".b1 { fill: var(--b1); } .b2 { fill: var(--b2); } .b3 { fill: var(--b3); }\n"
    ".b4 { fill: var(--b4); } .b5 { fill: var(--b5); } .b6 { fill: var(--b6); }\n"
    ".late, .weak, .under { fill: none; stroke: var(--ink); stroke-width: 2; }\n"
    ".weak { stroke-dasharray: 4 3; } .under { stroke: var(--page); stroke-width: 4; }\n"
    ".legend { display: flex; flex-wrap: wrap; gap: .25rem 1rem; align-items: center; font-size: .75rem;\n"
    "  margin: .5rem 0; }\n"
    ".legend span { display: flex; gap: .4rem; align-items: center; } .legend svg { flex: none; }\n"
    /* a narrow picture has its table beside it */
    ".pair { display: grid; gap: 0 1.5rem; align-content: start; grid-template-rows: repeat(4, auto) 1fr; }\n"
    ".pair > * { grid-column: 2; } .pair > figcaption { grid-column: 1 / 3; }\n"
    ".pair > figcaption + div { grid-column: 1; grid-row: 2 / 6; }\n",
    /* tables */
    ".wide { overflow-x: auto; margin: .5rem 0; }\n"
    "table { border-collapse: collapse; font-size: .875rem; font-variant-numeric: tabular-nums; width: 100%; }\n"
    "caption { text-align: left; color: var(--quiet); }\n"
    "th { font-weight: 600; color: var(--quiet); }\n"
    "th, td { text-align: right; padding: .2rem 0 .2rem .75rem; border-bottom: 1px solid var(--line);\n"
    "  vertical-align: top; }\n"
    "td { white-space: nowrap; } th:first-child, td:first-child { padding-left: 0; }\n"
    ".words { text-align: left; white-space: normal; overflow-wrap: anywhere; } th.words { overflow-wrap: normal; }\n"
    "td.words.extra { white-space: nowrap; } td .explains { font-size: .75rem; } .bar, .bar svg { width: 7rem; }\n"
    "@media screen and (max-width: 40rem) { .pair { display: block; } .extra { display: none; }\n"
    "  .bar, .bar svg { width: 3.5rem; } h2 { margin-top: 2rem; }\n"
    "  dl.words { display: block; } dl.words dt { margin-top: .5rem; }\n"
    "  .says p:first-child { font-size: 1rem; } .tiles .big { font-size: 1.25rem; } table { font-size: .75rem; } }\n"
    "@page { margin: 12mm; }\n"
    "@media print { body { max-width: none; padding: 0; font-size: .875rem; zoom: .65; } .wide { overflow: visible; }\n"
    "  #answers, .folded, .source, footer, figure table { display: none; } h2 { margin-top: 1.25rem; }\n"
    "  figure, .strip, tr { break-inside: avoid; }\n"
    "  h2, h3, figcaption { break-after: avoid; } p { orphans: 3; widows: 3; } * { print-color-adjust: exact; } }\n",
    /* the strip, arrivals and paths */
    ".faint { opacity: .5; } .thin { opacity: .45; } .small { font-size: 10px; } .waits { fill: url(#waits); }\n"
    ".waits-line { stroke: var(--waiting); stroke-width: 2; } .waits-ground { fill: var(--waiting); opacity: .22; }\n"
    ".join { stroke: var(--ink); opacity: .55; } .last { fill: var(--ink); shape-rendering: auto; }\n"
    ".on-bar { fill: var(--ink); } .early { fill: var(--quiet); opacity: .5; shape-rendering: auto; }\n"
    ".late-dot { fill: var(--waiting); shape-rendering: auto; }\n"
    ".halo { stroke: var(--page); stroke-width: 5; opacity: .8; }\n",
    NULL,
};

static const struct {
    const char *id, *title, *table, *others;
    void (*draw)(tl_page *page);
    bool folded;
} sections[] = {
#define SECTION(id, title, table, others, folded) { #id, title, table, others, tl_draw_##id, folded },
    TL_SECTIONS(SECTION)
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
    page->say = (tl_wrap){ .out = tl_page_memory(&page->said, &page->nsaid), .columns = TL_ONE_LINE };
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

void tl_put_lines(FILE *out, const char *text, const char *plain, const char *indented)
{
    for (const char *p = text, *end; *p != '\0'; p = end + (*end != '\0')) {
        end = p + strcspn(p, "\n");
        size_t in = strspn(p, " ");
        const char *tag = in > 0 ? indented : plain;
        if (end == p)
            continue;
        fprintf(out, "<%s>", tag);
        tl_put(out, "%.*s</%.*s>\n", (int)(end - p) - (int)in, p + in, (int)strcspn(tag, " "), tag);
    }
}

/* ----------------------------------------------------------------------------------------------------------- tables */

const tl_schema *const *tl_html_tables(void)
{
    static const tl_schema *const tables[] = { &tl_kernel_ranks_schema, &tl_operator_ranks_schema, &tl_phase_schema,
                                               &tl_side_file_schema,    &tl_group_row_schema,      NULL };
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

size_t tl_count_texts(const tl_table *ranks, size_t offset, size_t size, const char **first)
{
    size_t n = 0;
    for (size_t i = 0; i < ranks->n; i++) {
        const char *cell = (const char *)tl_table_row(ranks, i) + offset;
        bool seen = cell[0] == '\0';
        for (size_t k = i; k-- > 0 && !seen;) /* backwards: the previous rank mostly has the same text */
            seen = strncmp((const char *)tl_table_row(ranks, k) + offset, cell, size) == 0;
        if (!seen && n++ == 0)
            *first = cell;
    }
    return n;
}

static void take_idle(void *of, const void *row, tl_error *err)
{
    tl_page *page = of;
    const tl_idle_summary *idle = row;
    (void)err;
    if (idle->device == -1 && idle->step == -1 && idle->drain_type != TL_DRAIN_ALL &&
        (idle->place == 0 || idle->rank == -1))
        tl_vec_push(&page->idle, *idle);
}

/* ------------------------------------------------------------------------------------------------------------- page */

void tl_put_page_head(FILE *out, const char *name, const char *more_style)
{
    tl_put(out,
           "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
           "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
           "<meta name=\"color-scheme\" content=\"light dark\"/>\n"
           "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\"/>\n"
           "<title>%s - tlmpi</title>\n<style>\n",
           name);
    for (size_t i = 0; tl_style[i] != NULL; i++)
        fputs(tl_style[i], out);
    /* The pattern of a cell without a record, for all pictures. */
    fprintf(out,
            "%s</style>\n</head>\n<body>\n"
            "<svg class=\"shared\" aria-hidden=\"true\" width=\"0\" height=\"0\"><defs>"
            "<pattern id=\"hatch\" width=\"5\" height=\"5\" patternUnits=\"userSpaceOnUse\">"
            "<rect class=\"bare\" width=\"5\" height=\"5\"/><path class=\"hatch\" d=\"M-1 1l2 -2M0 5l5 -5M4 6l2 "
            "-2\"/></pattern></defs></svg>\n",
            more_style);
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
        page->out = tl_page_memory(&text, &n);
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

tl_status tl_html_write(const tl_html_input *in, FILE *out, tl_error *err)
{
    tl_page page = { .out = out, .in = in, .answers = in->answers, .err = err };
    const tl_table *ranks = tl_page_table(&page, &tl_rank_schema);
    const char *host = "";
    tl_shell_word(page.file, sizeof page.file, in->file);
    if (ranks != NULL && tl_count_texts(ranks, offsetof(tl_rank, host), sizeof((tl_rank *)0)->host, &host) > 1 &&
        !tl_is_host_of_pids(host, sizeof((tl_rank *)0)->host))
        page.hosts = ranks;
    page.status = tl_strip_gather(&page.strip, in, NULL, NULL, err);
    tl_page_each(&page, &tl_idle_summary_schema, take_idle, &page);
    tl_put_page_head(out, tl_job_name(&page).text, "");
    put_sections(&page, out);
    tl_put_page_foot(out, in->file);
    tl_strip_free(&page.strip);
    free(page.idle.v);
    return page.status;
}
