/* page.h - what the parts of a page share.
 *
 * A section is a function that draws it and a line in the list of page.c; a section that draws nothing is left out.
 * What a section needs stands in tables that are loaded whole (tl_page_table), or goes by row by row (tl_page_each).
 */
#ifndef TLMPI_REPORT_HTML_PAGE_H
#define TLMPI_REPORT_HTML_PAGE_H

#include "draw.h"
#include "heat.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/model/idle_tables.h"
#include "tlmpi/report/html.h"
#include "tlmpi/report/html/strip.h"

typedef struct tl_page {
    FILE *out;
    const tl_html_input *in;
    const tl_answers *answers;
    char file[1000];              /* as a word for a shell */
    const tl_table *hosts;        /* table rank, where traces name two hosts; else NULL */
    tl_strip strip;               /* of the worst step */
    TL_VEC(tl_idle_summary) idle; /* rows of the whole recording: causes (place 0), and classes of all ranks (rank -1) */
    tl_status status;             /* of reading tables, */
    tl_error *err;                /* and what failed */
    tl_wrap say;                  /* of tl_page_say */
    char *said;
    size_t nsaid;
} tl_page;

/* Begins a page, up to its heading, with rules of style of its own, and ends it.  file: what it was made from. */
void tl_put_page_head(FILE *out, const char *name, const char *more_style);
void tl_put_page_foot(FILE *out, const char *file);

/* Where sentences of the answers go that stand on the page; tl_page_said puts them, escaped.  before, after: markup. */
tl_wrap *tl_page_say(tl_page *page, const char *before);
void tl_page_said(tl_page *page, const char *after);

/* Puts such a sentence, of a format as tl_say has it. */
void tl_page_sentence(tl_page *page, const char *before, const char *after, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* A text that is written as a file; its owner closes it, and frees the text. */
FILE *tl_page_memory(char **text, size_t *n);

/* Puts each line of a text as an element, which may have attributes, and one that begins with a space as another. */
void tl_put_lines(FILE *out, const char *text, const char *plain, const char *indented);

/* Whether the verdict names the rank as a culprit, alone or with others; a link names none. */
bool tl_page_names(const tl_page *page, int32_t rank);

/* The table of the result, where it has rows; else NULL. */
const tl_table *tl_page_table(const tl_page *page, const tl_schema *schema);

/* Hands each row of a table of the result to take. */
void tl_page_each(tl_page *page, const tl_schema *schema, tl_html_take *take, void *arg);

/* How many different texts a column of table rank has; the first of them. */
size_t tl_count_texts(const tl_table *ranks, size_t offset, size_t size, const char **first);

/* The folder that the job's traces lie in; else the result's name. */
tl_phrase tl_job_name(const tl_page *page);

/* The style sheet, in pieces; NULL at the end. */
extern const char *const tl_style[];

/* arrivals.c: begins to count lateness; takes an arrival of a meeting; and ends a collective, all of whose are there. */
void tl_late_begin(tl_strip *strip);
void tl_late_take(tl_strip *strip, const tl_arrival *row);
void tl_late_meet(tl_strip *strip);

/* maps.c: the columns of the steps of table blame_step; the caller frees them. */
void tl_steps_of_blame(const tl_table *blame_steps, tl_heat_steps *steps);

/* ---- the sections, by file ---- */

void tl_draw_verdict(tl_page *page); /* verdict.c */
void tl_draw_strip(tl_page *page);   /* strip_draw.c */
void tl_draw_time(tl_page *page);    /* bars.c */
void tl_draw_path(tl_page *page);
void tl_draw_matrix(tl_page *page);  /* matrix.c */
void tl_draw_excess(tl_page *page);  /* maps.c */
void tl_draw_waits(tl_page *page);
void tl_draw_phases(tl_page *page);
void tl_draw_steps(tl_page *page);    /* steps.c */
void tl_draw_gains(tl_page *page);    /* gains.c */
void tl_draw_arrivals(tl_page *page); /* arrivals.c */
void tl_draw_kernels(tl_page *page);  /* work.c */
void tl_draw_operators(tl_page *page);
void tl_draw_idle(tl_page *page);
void tl_draw_recording(tl_page *page); /* quality.c */
void tl_draw_clocks(tl_page *page);
void tl_draw_matching(tl_page *page);
void tl_draw_parameters(tl_page *page);
void tl_draw_glossary(tl_page *page);
void tl_draw_made(tl_page *page);

#endif
