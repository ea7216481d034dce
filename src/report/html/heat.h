/* heat.h - a heat map of ranks and steps: how it is gathered from rows, shaded and drawn.
 *
 *          steps ->
 *     0    . . . . . .        a cell is a share: part_ns / whole_ns of a rank in a step, or in a run of steps, where
 *     1    . . # # . .        there are more than have room; both sums, then, are over the run
 *     2    . . . . / .        / nothing recorded
 *   others . . . . . .        the median of the cells of all ranks that have no row
 *
 * Rows come in the order of steps.  Gathering holds two sums a rank, and the cells of the ranks that have a row.
 */
#ifndef TLMPI_REPORT_HTML_HEAT_H
#define TLMPI_REPORT_HTML_HEAT_H

#include "tlmpi/base/status.h"
#include "tlmpi/model/table.h"
#include "tlmpi/model/tables.h"
#include "tlmpi/report/format/words.h"
#include <stdbool.h>
#include <stdio.h>

/* ----------------------------------------------------------------------------------------------------------- limits */

/* How much a page shows.  None of these decides anything: what is late, and who, stands in the tables. */
enum {
    /* Ranks up to which each has a row of its own: at 13 pixels each they fill a screen. */
    TL_HEAT_ROWS = 64,
    /* The worst ranks with a row of their own where the job has more ranks than TL_HEAT_ROWS; one row stands for all
     * others.  Half a screen. */
    TL_HEAT_WORST = 32,
    /* Steps up to which each has a column of its own: at 3 pixels each they fill the width of a page. */
    TL_HEAT_COLUMNS = 240,
    /* Cells up to which each is a shape of some 150 bytes that shows its numbers under a pointer; in a larger picture
     * neighbours of one shade are one shape of 20 bytes.  Either way a picture has less than 300 kB. */
    TL_HEAT_CELLS_TOLD = 2000,
    /* Phases with a picture: with the one for blame, each of the largest size, they stay below 3 MB. */
    TL_HEATS_OF_PHASES = 8,
    /* Phases without a picture that are named; the rest is counted.  A few lines. */
    TL_PHASES_SAID = 20,
    /* Ranks in the small table under a picture, besides the ranks that a verdict names: read at a glance. */
    TL_WORST_ROWS = 5,
    /* Characters of a host's name at the side of a picture. */
    TL_HOST_SHOWN = 16
};

/* Where the first shade away from neutral begins, as a multiple of the scatter of a rank's cells around their own
 * middle: most of what is chance stays neutral. */
#define TL_SHADE_SCATTERS 3.0

/* ---------------------------------------------------------------------------------------------------------- columns */

typedef struct tl_heat_column {
    int32_t first, last; /* steps; of a column that no step has come to yet INT32_MAX and INT32_MIN */
} tl_heat_column;

/* The steps of a picture, or of several that stand below each other. */
typedef struct tl_heat_steps {
    size_t nsteps, run; /* in all, and how many are a column */
    size_t n;           /* columns */
    tl_heat_column *columns;
    size_t seen; /* steps that have begun; the last of them is `step` */
    int32_t step;
} tl_heat_steps;

/* Begins the columns of a picture of nsteps different steps. */
void tl_heat_steps_init(tl_heat_steps *steps, size_t nsteps);
void tl_heat_steps_free(tl_heat_steps *steps);

/* The row is of that step.  Whether a column is full with the one before: each picture closes it, and then
 * tl_heat_steps_enter begins the next. */
bool tl_heat_steps_fills(const tl_heat_steps *steps, int32_t step);
void tl_heat_steps_enter(tl_heat_steps *steps, int32_t step);

/* The column that rows now go to; the one that has the step, or the next that has any; n: none. */
size_t tl_heat_steps_now(const tl_heat_steps *steps);
size_t tl_heat_steps_of(const tl_heat_steps *steps, int32_t step);

/* ------------------------------------------------------------------------------------------------------------ cells */

typedef struct tl_heat_cell {
    double share;              /* NaN: nothing recorded */
    int64_t part_ns, whole_ns; /* of a rank */
    bool late;                 /* some table says so of a step in it */
} tl_heat_cell;

typedef struct tl_heat_sum {
    int64_t part_ns, whole_ns;
    int64_t n; /* steps */
    bool late;
} tl_heat_sum;

/* A rank of a heat map. */
typedef struct tl_heat_rank {
    bool keep;              /* it has a row before others */
    int64_t by_ns;          /* what ranks have a row by, largest first; of equals the lower rank */
    bool shown;             /* it has a row */
    tl_heat_sum now, total; /* of the column that is open; of all steps */
    double most;            /* its largest cell, and the column of that; SIZE_MAX: none */
    size_t most_at;
} tl_heat_rank;

typedef struct tl_heat {
    const tl_heat_steps *steps;
    const int32_t *ranks; /* nranks, ascending; borrowed */
    size_t nranks;
    tl_heat_rank *of; /* by rank */
    uint32_t *shown;  /* indices into ranks[] of the ranks with a row, ascending */
    size_t nshown;
    tl_heat_cell *cells; /* row by row, each steps->n; the last row is that of the others */
    double *scratch;     /* room for a row of cells, or for a column of all ranks */
    size_t nothers;      /* ranks without a row that have any cell */
} tl_heat;

/* Begins a map.  The caller says of each rank what it is chosen by (keep, by_ns), and then tl_heat_choose gives a row
 * to all of up to TL_HEAT_ROWS ranks; of more to TL_HEAT_WORST. */
void tl_heat_init(tl_heat *heat, const tl_heat_steps *steps, const int32_t *ranks, size_t nranks);
void tl_heat_choose(tl_heat *heat);
void tl_heat_free(tl_heat *heat);

/* A row of the open column: of the rank of that number. */
void tl_heat_add(tl_heat *heat, size_t rank, int64_t part_ns, int64_t whole_ns, bool late);

/* Ends the open column; and the whole. */
void tl_heat_close(tl_heat *heat);
void tl_heat_end(tl_heat *heat);

/* Rows that are drawn: nshown, and one where others are left. */
size_t tl_heat_nrows(const tl_heat *heat);
const tl_heat_cell *tl_heat_row(const tl_heat *heat, size_t row);

/* The number of the rank whose part of all steps is the largest (shortest: the smallest); and of the rank without a row
 * that has the largest cell.  SIZE_MAX: there is none. */
size_t tl_heat_worst(const tl_heat *heat, bool shortest);
size_t tl_heat_hidden(const tl_heat *heat);

/* "12.3 %": the rank's part of all steps. */
tl_phrase tl_heat_share_of(const tl_heat *heat, size_t rank, bool sign);

/* part / whole, but no further from 0 than 1000; 0 for nothing of nothing. */
double tl_heat_share(int64_t part_ns, int64_t whole_ns);

/* ----------------------------------------------------------------------------------------------------------- shades */

enum { TL_SHADES = 6 };

/* Shade k of a share begins at limits[k - 1]; below the first it is neutral.  Members of 1, 2, 5, 10, 20 ... percent that
 * follow upon one another. */
typedef struct tl_shades {
    bool both; /* below 0, too */
    const double *limits; /* TL_SHADES */
} tl_shades;

/* Shades for parts of a step: from 1 to 50 percent. */
tl_shades tl_shades_of_parts(void);

/* Both ways, from where the scatter of the heat's rows ends (TL_SHADE_SCATTERS): 0.5 to 10 percent, and 50 times that. */
tl_shades tl_shades_by_scatter(const tl_heat *heat);

/* -TL_SHADES to TL_SHADES. */
int tl_shade_of(const tl_shades *shades, double share);

/* "12.3 %"; with a sign where it has two. */
tl_phrase tl_show_share(double share, bool sign);

/* "20.1 ms", "-4.50 us". */
tl_phrase tl_show_time(int64_t ns);

/* "step 7", "steps 7-12"; "the whole trace" of step -1. */
tl_phrase tl_steps_of_column(const tl_heat_steps *steps, size_t column);

/* ---------------------------------------------------------------------------------------------------------- drawing */

/* Steps of a rank that are outlined. */
typedef struct tl_outline {
    size_t row, first, last; /* columns */
    bool weak;               /* dashed */
} tl_outline;

typedef struct tl_picture {
    const tl_heat *heat;
    tl_shades shades;
    const char *id;      /* of elements: letters and digits */
    const char *title;   /* what one sees; from a trace, perhaps */
    const char *finding; /* the title in numbers, for a reader who cannot see the picture */
    const char *cell;    /* of a share, "longer than its peers" */
    const char *late;    /* what an outline says; and a dashed one */
    const char *weak;
    const bool *named; /* by row: marked; NULL: none */
    const tl_outline *outlines;
    size_t noutlines;
    const tl_table *hosts; /* rows of tl_rank; NULL: none */
} tl_picture;

/* The host of a rank, as pictures name it; empty where it is not known.  hosts: rows of tl_rank; NULL: none. */
tl_text tl_host_shown(const tl_table *hosts, int32_t rank);

/* How wide the picture is where there is room, in pixels. */
int tl_heat_width(const tl_picture *picture);

/* The SVG element, and its legend. */
void tl_draw_heat(FILE *out, const tl_picture *picture);

#endif
