/* limits.h - how much a page shows.  None of these decides anything: what is late, and who, stands in the tables. */
#ifndef TLMPI_REPORT_HTML_LIMITS_H
#define TLMPI_REPORT_HTML_LIMITS_H

enum {
    /* A rank has a row of its own up to so many: at 13 pixels each that is a screen. */
    TL_HEAT_ROWS = 64,
    /* Of more ranks so many, the worst, have one, and one row stands for all others: half a screen, to see them in. */
    TL_HEAT_WORST = 32,
    /* A step has a column of its own up to so many: at 3 pixels each that is the width of a page. */
    TL_HEAT_COLUMNS = 240,
    /* A picture of no more cells than that has each as a shape with its numbers, some 150 bytes, shown under a pointer; of more
     * cells neighbours of one shade are one shape of 20 bytes.  Either way a picture has less than 300 kB. */
    TL_HEAT_CELLS_TOLD = 2000,
    /* Pictures of phases: with one for blame, each as large as may be, they stay below 3 MB. */
    TL_HEATS_OF_PHASES = 8,
    /* Phases without a picture whose names are said, before the rest is counted: a few lines. */
    TL_PHASES_SAID = 20,
    /* Ranks in the small table under a picture, those that a verdict names not counted: what one reads at a glance. */
    TL_WORST_ROWS = 5,
    /* A host's name at the side of a picture: so many characters. */
    TL_HOST_SHOWN = 16
};

/* The first shade away from neutral begins at so many times the scatter of a rank's cells around their own middle, and
 * so most of what is chance stays neutral. */
#define TL_SHADE_SCATTERS 3.0

#endif
