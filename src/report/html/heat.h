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

/* Limits of what a page shows.  No verdict depends on them. */
enum {
    /* Most ranks for which each rank has a row of its own. */
    TL_HEAT_ROWS = TL_ROWS_MOST,
    /* In a larger job, the ranks with a row of their own, worst first; one row stands for all other ranks.  Half a
     * screen. */
    TL_HEAT_WORST = 32,
    /* Most steps for which each step has a column of its own: at 3 pixels each they fill the width of a page. */
    TL_HEAT_COLUMNS = 240,
    /* Most cells for which each cell is a shape of about 150 bytes that shows its numbers under the pointer; in a
     * larger picture, neighbours of one shade are one shape of 20 bytes.  Either way a picture has less than 300 kB. */
    TL_HEAT_CELLS_TOLD = 2000
};

/* The first shade away from neutral begins at this multiple of the scatter of a rank's cells around their median: most
 * chance variation stays neutral. */
#define TL_SHADE_SCATTERS 3.0

/* ---------------------------------------------------------------------------------------------------------- columns */

typedef struct tl_heat_column {
    int32_t first, last; /* steps; INT32_MAX: no step was added yet */
} tl_heat_column;

/* The steps of one picture, or of several pictures below each other. */
typedef struct tl_heat_steps {
    size_t run, n; /* steps per column; number of columns */
    tl_heat_column *columns;
    size_t seen;
} tl_heat_steps;

/* Begins the columns of nsteps distinct steps, which the caller then adds in ascending order. */
void tl_heat_steps_init(tl_heat_steps *steps, size_t nsteps);
void tl_heat_steps_add(tl_heat_steps *steps, int32_t step);
void tl_heat_steps_free(tl_heat_steps *steps);

/* Returns the column of the step, or of the next step that has one; n: none. */
size_t tl_heat_steps_of(const tl_heat_steps *steps, int32_t step);

/* Returns "step 7" or "steps 7-12"; for step -1 "the whole trace". */
tl_phrase tl_steps_of_column(const tl_heat_steps *steps, size_t column);

/* ------------------------------------------------------------------------------------------------------------ cells */

typedef struct tl_heat_cell {
    int64_t part_ns, whole_ns;
    int32_t n; /* rows; 0: nothing recorded */
    bool late; /* at least one row is late */
} tl_heat_cell;

/* A rank of a heat map. */
typedef struct tl_heat_rank {
    bool keep;          /* the rank gets a row before other ranks */
    bool shown;         /* the rank has a row */
    tl_heat_cell total; /* sums over all steps */
    double most;        /* the largest share of its cells, and the column of that cell; -INFINITY without cells */
    size_t most_at;
} tl_heat_rank;

typedef struct tl_heat {
    const tl_heat_steps *steps;
    const int32_t *ranks; /* nranks, ascending; borrowed */
    size_t nranks;
    tl_heat_rank *of;    /* by rank */
    tl_heat_cell *cells; /* rank by rank, steps->n cells each */
    uint32_t *order;     /* indices into ranks[]: ranks to keep first; then by part_ns over all steps, descending */
    uint32_t *shown;     /* indices into ranks[] of the ranks with a row, ascending */
    size_t nshown;
    double *others; /* by column: the median share of ranks without a row; NaN: none */
    size_t nothers; /* ranks with cells but no row; the one of these with the largest cell */
    size_t hidden;
} tl_heat;

void tl_heat_init(tl_heat *heat, const tl_heat_steps *steps, const int32_t *ranks, size_t nranks);
void tl_heat_free(tl_heat *heat);

/* Adds a row of the table to the cell of ranks[rank] and the column. */
void tl_heat_add(tl_heat *heat, size_t rank, size_t column, int64_t part_ns, int64_t whole_ns, bool late);

/* Call once all rows are added and `keep` is set: sums up, and gives a row to each rank of a job of up to TL_HEAT_ROWS
 * ranks; in a larger job, to the first TL_HEAT_WORST of `order`. */
void tl_heat_end(tl_heat *heat);

/* tl_heat_nrows: rows drawn, nshown and one for ranks without a row, if any.  tl_heat_at: share of a cell of such a
 * row; NaN: nothing recorded. */
size_t tl_heat_nrows(const tl_heat *heat);
double tl_heat_at(const tl_heat *heat, size_t row, size_t column);

/* Returns the index of the rank with the largest (shortest: the smallest) part_ns over all steps; SIZE_MAX: none. */
size_t tl_heat_worst(const tl_heat *heat, bool shortest);

/* Returns part / whole of the cell, limited to +-1000; 0 where part_ns is 0. */
double tl_heat_share(const tl_heat_cell *cell);

/* ----------------------------------------------------------------------------------------------------------- shades */

enum { TL_SHADES = 6 };

/* Shade k begins at share limits[k - 1]; below limits[0] the shade is neutral.  Limits are consecutive members of 1, 2,
 * 5, 10, 20, ... percent. */
typedef struct tl_shades {
    bool both;            /* shades below 0 exist, too */
    const double *limits; /* TL_SHADES */
} tl_shades;

/* Returns shades for parts of a step: 1 to 50 percent. */
tl_shades tl_shades_of_parts(void);

/* Returns shades of both signs; the first begins at 0.5 to 10 percent, where the scatter of the heat's rows ends
 * (TL_SHADE_SCATTERS), and the last at 50 times that share. */
tl_shades tl_shades_by_scatter(const tl_heat *heat);

/* Returns the shade, from -TL_SHADES to TL_SHADES. */
int tl_shade_of(const tl_shades *shades, double share);

/* Returns "12.3 %"; with `sign`, "+12.3 %". */
tl_phrase tl_show_share(double share, bool sign);

/* ---------------------------------------------------------------------------------------------------------- picture */

/* Consecutive steps of a rank that are outlined. */
typedef struct tl_outline {
    size_t row, first, last; /* columns */
    bool weak;               /* dashed */
} tl_outline;

typedef struct tl_picture {
    const tl_heat *heat;
    tl_shades shades;
    const char *id;      /* of the SVG elements: letters and digits */
    const char *title;   /* what the picture shows; may hold names from a trace */
    const char *finding; /* the title in numbers: the text alternative */
    const char *cell;    /* what a share means: "longer than its peers" */
    const char *late;    /* what an outline means; what a dashed one means */
    const char *weak;
    tl_rows rows; /* as tl_heat_rows returns them; named: marked */
    TL_VEC(tl_outline) outlines;
} tl_picture;

/* Returns the ranks with a row, none marked as named.  hosts: table rank; NULL: none. */
tl_rows tl_heat_rows(const tl_heat *heat, const tl_table *hosts);

/* Returns the picture's widest useful width, in pixels. */
int tl_heat_width(const tl_picture *picture);

/* Draws the SVG element and its legend. */
void tl_draw_heat(FILE *out, const tl_picture *picture);

#endif
