/* page.h - what the parts of a page share.
 *
 * A section is a function that draws it and a line in the list of page.c; a section that draws nothing is left out.
 * What a section needs stands in tables that the page loads whole (tl_html_tables, page.c), or, where a table may be too
 * large for that, goes by row by row before the page is written: a feed, a line in the list of page.c, too.
 */
#ifndef TLMPI_REPORT_HTML_PAGE_H
#define TLMPI_REPORT_HTML_PAGE_H

#include "draw.h"
#include "heat.h"
#include "tlmpi/base/text.h"
#include "tlmpi/model/idle_tables.h"
#include "tlmpi/model/path_tables.h"
#include "tlmpi/model/phase_tables.h"
#include "tlmpi/report/html.h"
#include "tlmpi/report/html/strip.h"

typedef struct tl_timed_phase {
    char title[sizeof((tl_phase_verdict *)0)->phase]; /* as in table phase_verdict: may fill it */
    uint32_t name;                                    /* its NAME in tables phase and phase_step */
    int64_t total_ns;
    size_t first_verdict; /* the first row of phase_verdict that is about it; SIZE_MAX: none */
} tl_timed_phase;

/* A row of table phase. */
typedef struct tl_timed_row {
    uint32_t phase; /* NAME */
    int32_t rank;
    int64_t excess_ns;
} tl_timed_row;

/* The phases of a result, and heat maps of the phases that take most time: gathered from tables phase and phase_step,
 * which may be far too large to be held.
 *
 *     1. phase         which phases there are, how long each takes, and which ranks take longer
 *     2. phase_step    the cells
 */
typedef struct tl_timed {
    TL_VEC(tl_timed_phase) phases; /* from 2. on those of verdicts first, then those with most time */
    TL_VEC(tl_timed_row) rows;
    TL_VEC(int32_t) ranks; /* ascending when all are there */
    tl_heat_steps steps;
    size_t ndrawn; /* phases with a heat map */
    tl_heat heats[TL_HEATS_OF_PHASES];
    size_t at_phase;                /* where the row before was found: the next is mostly the one after it */
} tl_timed;

/* Idle time of a rank (-1: of all) by one cause; and what table idle_summary is reduced to. */
typedef struct tl_idle_cause {
    int32_t rank;
    uint8_t drain, doing;
    int64_t ns;
} tl_idle_cause;

typedef struct tl_idle_rows {
    TL_VEC(tl_idle_cause) causes; /* by rank, those of all first */
    TL_VEC(tl_idle_summary) classes; /* of all ranks, by place once all are there */
} tl_idle_rows;

/* When a rank comes to the collectives of its groups: how many times how much later than the median. */
enum { TL_LATE_BINS = 54 };
typedef struct tl_late_counts {
    int32_t rank;
    int64_t n, late_ns;              /* collectives; how late in all */
    int64_t count[TL_LATE_BINS + 1]; /* six bins a decade from 1 us on; the first is all below */
} tl_late_counts;

typedef struct tl_arrivals {
    tl_late_counts *of; /* n, by rank */
    size_t n;
    TL_VEC(tl_strip_stay) now; /* of the collective that rows are of */
} tl_arrivals;

struct tl_html {
    tl_html_input in;
    size_t feed; /* the next one */
    tl_timed timed;
    tl_idle_rows idle;
    tl_strip strip;
    tl_arrivals arrivals;
    TL_VEC(tl_path_sum) path_sums; /* of the whole recording */
    int32_t *named;                /* ranks that the verdict names, ascending */
    size_t nnamed;
};

typedef struct tl_page {
    FILE *out;
    const tl_html *html;
    const char *file;     /* as a word for a shell */
    const tl_table *hosts; /* table rank, where traces name two hosts; else NULL */
    tl_wrap say;           /* of tl_page_say */
    char *said;
    size_t nsaid;
} tl_page;

/* Begins a page, up to its heading, with rules of style of its own, and ends it.  file: what it was made from. */
void tl_put_page_head(FILE *out, const char *name, const char *more_style);
void tl_put_page_foot(FILE *out, const char *file);

/* Where sentences of the answers go that stand on the page; tl_page_said puts them, escaped.  before, after: markup. */
tl_wrap *tl_page_say(tl_page *page, const char *before);
void tl_page_said(tl_page *page, const char *after);

/* Puts each line of a text as an element, which may have attributes, and one that begins with a space as another. */
void tl_put_lines(FILE *out, const char *text, const char *plain, const char *indented);

/* Whether the verdict names the rank as a culprit, alone or with others; a link names none. */
bool tl_html_names(const tl_html *html, int32_t rank);

/* A text that is written as a file; its owner closes it, and frees the text. */
FILE *tl_page_memory(char **text, size_t *n);

/* The table of the result, where it has rows; else NULL. */
const tl_table *tl_page_table(const tl_page *page, const tl_schema *schema);

/* Puts "tlmpi show FILE TABLE". */
void tl_put_command(tl_page *page, const char *table);

/* A picture, and under it the worst ranks, kept ranks first, each with its numbers and a note. */
typedef struct tl_figure {
    tl_picture picture;      /* hosts are found for it */
    bool *marked;            /* by row of the picture; the figure frees it, and the outlines */
    TL_VEC(tl_outline) outlines;
    const char *explanation; /* of the shades */
    const char *column;      /* what a column of several steps is, after "A column is N steps: " */
    const char *head, *part, *whole; /* of the worst ranks: "The ranks that ...", "longer by", "peers take" */
    void (*note)(tl_page *page, const void *arg, int32_t rank);
    const void *arg;
    const char *note_head;
} tl_figure;
void tl_begin_figure(tl_page *page, tl_figure *figure); /* up to its caption, which the caller writes */
void tl_end_figure(tl_page *page, tl_figure *figure);

/* The rows of table blame_step in the order of steps, and the columns of its steps; the caller frees both. */
uint32_t *tl_index_by_step(const tl_table *blame_steps, tl_heat_steps *steps);

/* How many different texts a column of table rank has; the first of them. */
size_t tl_count_texts(const tl_table *ranks, size_t offset, size_t size, const char **first);

/* The folder that the job's traces lie in; else the result's name. */
tl_phrase tl_job_name(const tl_page *page);

/* The style sheet, in pieces; NULL at the end. */
extern const char *const tl_style[];

/* ---- the sections, by file ---- */

void tl_draw_verdict(tl_page *page); /* verdict.c */
void tl_draw_time(tl_page *page);    /* bars.c */
void tl_draw_gains(tl_page *page);   /* gains.c */
void tl_draw_excess(tl_page *page);  /* maps.c */
void tl_draw_waits(tl_page *page);
void tl_draw_steps(tl_page *page);  /* steps.c */
void tl_draw_phases(tl_page *page); /* maps.c */
void tl_draw_strip(tl_page *page);  /* strip_draw.c */
void tl_draw_matrix(tl_page *page); /* matrix.c */
void tl_draw_arrivals(tl_page *page);
void tl_draw_path(tl_page *page);
void tl_draw_kernels(tl_page *page); /* work.c */
void tl_draw_operators(tl_page *page);
void tl_draw_idle(tl_page *page);
void tl_draw_recording(tl_page *page); /* quality.c */
void tl_draw_clocks(tl_page *page);
void tl_draw_matching(tl_page *page);
void tl_draw_parameters(tl_page *page);
void tl_draw_glossary(tl_page *page);
void tl_draw_made(tl_page *page);

/* ---- the feeds ---- */

void tl_idle_take(tl_html *html, const void *row); /* bars.c */
void tl_path_take(tl_html *html, const void *row);
/* strip.c: in this order */
bool tl_strip_begin_collectives(tl_html *html);
bool tl_strip_begin_path(tl_html *html);
bool tl_strip_begin_arrivals(tl_html *html);
bool tl_strip_begin_intervals(tl_html *html);
bool tl_strip_begin_gaps(tl_html *html);
void tl_strip_take_collective(tl_html *html, const void *row);
void tl_strip_take_path(tl_html *html, const void *row);
void tl_strip_take_arrival(tl_html *html, const void *row);
void tl_strip_take_interval(tl_html *html, const void *row);
void tl_strip_take_gap(tl_html *html, const void *row);

bool tl_arrivals_begin(tl_html *html); /* arrivals.c: with the strip's */
void tl_arrivals_take(tl_html *html, const tl_arrival *row);
void tl_arrivals_end(tl_html *html);

bool tl_timed_begin_cells(tl_html *html); /* maps.c */
void tl_timed_take_phase(tl_html *html, const void *row);
void tl_timed_take_cell(tl_html *html, const void *row);
void tl_timed_end(tl_timed *timed);
void tl_timed_free(tl_timed *timed);

#endif
