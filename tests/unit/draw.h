/* draw.h - timelines as text: a rank view drawn a microsecond a column.
 *
 *     drawing *d = draw("steps:     44444445555555",
 *                       "host:      a........b....",
 *                       "compute 7: .AAAA......BB.",
 *                       "comm 9:    ......CCC.....", NULL);
 *
 * A capital is a kernel as long as its run of letters; the same letter in small on the host line is its launch (1 us long).
 * Communication is an all-reduce of nobody knows whom; a test that wants it otherwise changes d->colls, in the order of the
 * kernels.
 * '|' is work of no length.  Digits on the steps line are step numbers.  "compute 1/7" is stream 7 of device 1.
 */
#ifndef TLMPI_TESTS_DRAW_H
#define TLMPI_TESTS_DRAW_H

#include "tlmpi/model/table.h"
#include "tlmpi/model/view.h"

#define US INT64_C(1000)

typedef struct drawing {
    tl_rank_view view;
    tl_kernel kernels[64];
    tl_launch launches[64];
    tl_step_window steps[16];
    tl_coll colls[64];
    tl_group groups[4];         /* none, until a test says how many in view.ngroups */
    tl_names names;
    tl_tables out;              /* one table for each schema of the registry */
} drawing;

/* Draws rank 0.  Ends with drawing_free. */
drawing *draw(const char *line, ...);
void drawing_free(drawing *d);

#endif
