/* heat.h - a heat map of ranks and steps: its cells, their shades, and the picture.
 *
 *          steps ->
 *     0    . . . . . .        a cell is a share: part_ns / whole_ns of a rank in a step, or in a run of steps, where
 *     1    . . # # . .        there are more than have room; both sums, then, are over the run
 *     2    . . . . / .        / nothing recorded
 *   others . . . . . .        the median of the cells of all ranks that have no row
 *
 *     tl_heat_init(&heat, &steps, ranks, nranks);
 *     for each row of the table: tl_heat_add(&heat, rank, column, part_ns, whole_ns, late);
 *     tl_heat_end(&heat);
 *     tl_draw_heat(out, &(tl_picture){ .heat = &heat, ... });
 */
#ifndef TLMPI_REPORT_HTML_HEAT_H
#define TLMPI_REPORT_HTML_HEAT_H

#include "draw.h"
#include "tlmpi/base/mem.h"

/* How much a page shows.  None of these decides anything: what is late, and who, stands in the tables. */
enum {
    /* Ranks up to which each has a row of its own. */
    TL_HEAT_ROWS = TL_ROWS_MOST,
    /* The worst ranks with a row of their own where the job has more ranks than TL_HEAT_ROWS; one row stands for all
     * others.  Half a screen. */
    TL_HEAT_WORST = 32,
    /* Steps up to which each has a column of its own: at 3 pixels each they fill the width of a page. */
    TL_HEAT_COLUMNS = 240,
    /* Cells up to which each is a shape of some 150 bytes that shows its numbers under a pointer; in a larger picture
     * neighbours of one shade are one shape of 20 bytes.  Either way a picture has less than 300 kB. */
    TL_HEAT_CELLS_TOLD = 2000
};

/* Where the first shade away from neutral begins, as a multiple of the scatter of a rank's cells around their own
 * middle: most of what is chance stays neutral. */
#define TL_SHADE_SCATTERS 3.0

/* ---------------------------------------------------------------------------------------------------------- columns */

typedef struct tl_heat_column {
    int32_t first, last; /* steps; INT32_MAX: no step has come to it yet */
} tl_heat_column;

/* The steps of a picture, or of several that stand below each other. */
typedef struct tl_heat_steps {
    size_t run, n; /* steps a column, and columns */
    tl_heat_column *columns;
    size_t seen;
} tl_heat_steps;

/* Begins the columns of nsteps different steps, which are then added in ascending order. */
void tl_heat_steps_init(tl_heat_steps *steps, size_t nsteps);
void tl_heat_steps_add(tl_heat_steps *steps, int32_t step);
void tl_heat_steps_free(tl_heat_steps *steps);

/* The column that has the step, or the next that has any; n: none. */
size_t tl_heat_steps_of(const tl_heat_steps *steps, int32_t step);

/* "step 7", "steps 7-12"; "the whole trace" of step -1. */
tl_phrase tl_steps_of_column(const tl_heat_steps *steps, size_t column);

/* ------------------------------------------------------------------------------------------------------------ cells */

typedef struct tl_heat_cell {
    int64_t part_ns, whole_ns;
    int32_t n; /* rows; 0: nothing recorded */
    bool late; /* some row says so */
} tl_heat_cell;

/* A rank of a heat map. */
typedef struct tl_heat_rank {
    bool keep;          /* it has a row before others */
    bool shown;         /* it has a row */
    tl_heat_cell total; /* of all steps */
    double most;        /* its largest cell, and the column of that; without any: -INFINITY */
    size_t most_at;
} tl_heat_rank;

typedef struct tl_heat {
    const tl_heat_steps *steps;
    const int32_t *ranks; /* nranks, ascending; borrowed */
    size_t nranks;
    tl_heat_rank *of;    /* by rank */
    tl_heat_cell *cells; /* rank by rank, each steps->n */
    uint32_t *order;     /* indices into ranks[]: those to keep first, then by their part of all steps, largest first */
    uint32_t *shown;     /* of the first of these, which have a row, ascending */
    size_t nshown;
    double *others; /* by column, the median of the cells of ranks without a row; NaN: none */
    size_t nothers; /* ranks without a row that have any cell, and the one of these with the largest cell */
    size_t hidden;
} tl_heat;

void tl_heat_init(tl_heat *heat, const tl_heat_steps *steps, const int32_t *ranks, size_t nranks);
void tl_heat_free(tl_heat *heat);

/* Adds a row of the table to the cell of the rank of that number. */
void tl_heat_add(tl_heat *heat, size_t rank, size_t column, int64_t part_ns, int64_t whole_ns, bool late);

/* Once all rows are there, and `keep` is set: sums up, and gives a row to all of up to TL_HEAT_ROWS ranks; of more to
 * the first TL_HEAT_WORST. */
void tl_heat_end(tl_heat *heat);

/* Rows that are drawn: nshown, and one where others are left.  The share of a cell of these; NaN: nothing recorded. */
size_t tl_heat_nrows(const tl_heat *heat);
double tl_heat_at(const tl_heat *heat, size_t row, size_t column);

/* The number of the rank whose part of all steps is the largest (shortest: the smallest); SIZE_MAX: there is none. */
size_t tl_heat_worst(const tl_heat *heat, bool shortest);

/* part / whole of the cell, but no further from 0 than 1000; 0 for nothing of nothing. */
double tl_heat_share(const tl_heat_cell *cell);

/* ----------------------------------------------------------------------------------------------------------- shades */

enum { TL_SHADES = 6 };

/* Shade k of a share begins at limits[k - 1]; below the first it is neutral.  Members of 1, 2, 5, 10, 20 ... percent
 * that follow upon one another. */
typedef struct tl_shades {
    bool both;            /* below 0, too */
    const double *limits; /* TL_SHADES */
} tl_shades;

/* Shades for parts of a step: from 1 to 50 percent. */
tl_shades tl_shades_of_parts(void);

/* Both ways, from where the scatter of the heat's rows ends (TL_SHADE_SCATTERS): 0.5 to 10 percent, and 50 times
 * that. */
tl_shades tl_shades_by_scatter(const tl_heat *heat);

/* -TL_SHADES to TL_SHADES. */
int tl_shade_of(const tl_shades *shades, double share);

/* "12.3 %"; with a sign where it has two. */
tl_phrase tl_show_share(double share, bool sign);

/* "20.1 ms", "-4.50 us". */
tl_phrase tl_show_time(int64_t ns);

/* ---------------------------------------------------------------------------------------------------------- picture */

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
    tl_rows rows; /* as tl_heat_rows gives them; named: marked */
    TL_VEC(tl_outline) outlines;
} tl_picture;

/* The ranks that have a row, none of which is named.  hosts: table rank; NULL: none. */
tl_rows tl_heat_rows(const tl_heat *heat, const tl_table *hosts);

/* How wide the picture is where there is room, in pixels. */
int tl_heat_width(const tl_picture *picture);

/* The SVG element, and its legend. */
void tl_draw_heat(FILE *out, const tl_picture *picture);

#endif
