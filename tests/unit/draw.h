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
 *
 *                       "op aten::add:    ..====....===.",       spans of one name: operators ("op"), Python functions
 *                       "call cudaFree:   ...==.........",       ("frame"), annotations ("mark"), calls ("call"), all on
 *                                                                the thread that launches
 *
 * '|' is work of no length.  Digits on the steps line are step numbers.  "compute 1/7" is stream 7 of device 1.
 */
#ifndef TLMPI_TESTS_DRAW_H
#define TLMPI_TESTS_DRAW_H

#include "tlmpi/model/table.h"
#include "tlmpi/model/view.h"

#define US INT64_C(1000)

/* What the host did, in columns. */
typedef struct drawn_spans {
    int64_t start_ns[64], dur_ns[64], correlation[64];
    uint32_t name[64], uid[64], place[64];
    uint8_t kind[64];
    int8_t copy[64];
    size_t n;
    tl_thread thread;
} drawn_spans;

typedef struct drawing {
    tl_rank_view view;
    tl_kernel kernels[64];
    tl_launch launches[64];
    tl_step_window steps[16];
    tl_coll colls[64];
    tl_group groups[4];         /* none, until a test says how many in view.ngroups */
    drawn_spans calls, ops;
    tl_names names;
    tl_tables out;              /* one table for each schema of the registry */
} drawing;

/* Draws rank 0.  Ends with drawing_free. */
drawing *draw(const char *line, ...);
void drawing_free(drawing *d);

#endif
