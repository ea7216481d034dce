/* draw.h - timelines as text: a rank view drawn a microsecond a column.
 *
 *     drawing *d = draw("steps:     44444445555555",
 *                       "host:      a........b....",
 *                       "compute 7: .AAAA......BB.",
 *                       "comm 9:    ......CCC.....", NULL);
 *
 * A capital is a kernel as long as its run of letters; the same letter in small on a line of the host is its launch (1
 * us long on
 * a host line).  '|' is work of no length.  Digits on the steps line are step numbers.  "compute 1/7" is stream 7 of device 1.
 *
 *     launch 1 cudaLaunchKernel: aa.......b...      calls of thread 1 that launch the kernels of the same letter
 *     call 1 cudaFree:           ...====......      other calls; "call 1/7" names stream 7 in its arguments
 *     op 1 aten::mm:             ..=====......      operators; likewise frame (of Python) and mark (an annotation)
 *     memcpy 7 Memcpy DtoH:      .......MM....      device work by another name than its letter
 *
 * Runs that touch are one; a line of its own parts them.  An empty line draws nothing.
 *
 * Communication is an all-reduce of nobody knows whom; a test that wants it otherwise changes d->colls, in the order of
 * the kernels.
 */
#ifndef TLMPI_TESTS_DRAW_H
#define TLMPI_TESTS_DRAW_H

#include "tlmpi/analysis/rank/time.h"
#include "tlmpi/model/table.h"
#include "tlmpi/model/view.h"

#define US INT64_C(1000)

enum { DRAWN = 160 };

/* Something of the host, before it is sorted into columns. */
typedef struct drawn {
    int64_t start_ns, dur_ns, correlation;
    uint32_t name, uid, track;
    int32_t stream;
    uint8_t kind;
} drawn;

typedef struct drawing {
    tl_rank_view view;
    tl_kernel kernels[DRAWN];
    tl_launch launches[DRAWN];
    tl_sync syncs[DRAWN];
    tl_step_window steps[16];
    tl_coll colls[64];
    tl_group groups[4];         /* none, until a test says how many in view.ngroups */
    tl_names names;
    tl_tables out;              /* one table for each schema of the registry */

    drawn calls[DRAWN], ops[DRAWN];
    size_t ncalls, nops;
    struct drawn_columns {
        int64_t start_ns[DRAWN], dur_ns[DRAWN], correlation[DRAWN];
        uint32_t name[DRAWN], uid[DRAWN], place[DRAWN];
        int8_t copy[DRAWN];
        uint8_t kind[DRAWN];
        tl_thread threads[DRAWN];
    } call_columns, op_columns;
    tl_stream_id places[DRAWN];
} drawing;

/* Draws rank 0.  Ends with drawing_free. */
drawing *draw(const char *line, ...);
void drawing_free(drawing *d);

/* The call of that name: its index in the view. */
size_t drawn_call(const drawing *d, const char *name);

/* A recorded wait (cuda_sync) of the call: for a stream, or for an event of another. */
void draw_sync(drawing *d, size_t call, int device, int stream, int wait_on_stream);

/* What all devices of the view did, without a look at the host: idle time before work whose launch is not known is the
 * device's. */
void draw_activity(tl_activity *activity, const tl_rank_view *view);

/* The activity of the drawing, its idle time by what its host did. */
void find_activity(tl_activity *activity, const drawing *d);

#endif
