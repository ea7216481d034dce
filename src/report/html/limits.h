/* limits.h - how much a page shows.  None of these decides anything: what is late, and who, stands in the tables. */
#ifndef TLMPI_REPORT_HTML_LIMITS_H
#define TLMPI_REPORT_HTML_LIMITS_H

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

#endif
