/* sequence.c - places each kernel: the time its work was handed over, its order among launches, its position in the
 * sequence of its step. */
#include "build.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------- clocks, launches */

/* Returns the longest time, ns, by which a kernel seems to begin before its launch: the lag of the device's clock. */
static int64_t device_clock_lag_of(const tl_rank_view *view)
{
    int64_t lag = 0;
    for (size_t i = 0; i < view->nkernels; i++) {
        const tl_kernel *k = &view->kernels[i];
        int64_t before = k->launch != TL_NONE ? tl_ns_between(view->launches[k->launch].start_ns, k->start_ns) : 0;
        lag = before < TL_TRACE_ERROR_NS ? tl_ns_max(lag, before) : lag;
    }
    return lag;
}

/* Returns the content key of a kernel's name; 0: none.  Copies that differ in kinds of memory alone, as "Memcpy HtoD
 * (Pageable -> Device)" and "Memcpy HtoD (Pinned -> Device)", have one key: slow and fast forms of the same work. */
static uint64_t name_of(const tl_rank_view *view, const tl_kernel *k)
{
    if (k->name == TL_NO_NAME || k->kind != TL_MEMCPY)
        return k->name != TL_NO_NAME ? view->names->v[tl_name_key(view, k->name)].key : 0;
    tl_text text = tl_names_text(view->names, k->name);
    const char *parenthesis = text.n > 0 ? memchr(text.p, '(', text.n) : NULL;
    return tl_hash_bytes(text.p, parenthesis != NULL ? (size_t)(parenthesis - text.p) : text.n);
}

/* Fills when each launch hands over its work: at the return of the call, or right before the kernel starts if that is
 * earlier, but not before the call begins. */
static void fill_handed_ns(tl_graph_build *b)
{
    const tl_rank_view *view = b->view;
    for (size_t l = 0; l < view->nlaunches + b->nunlaunched; l++) {
        b->tracks[l] = l < view->nlaunches ? view->launches[l].track : 0;
        b->handed_ns[l] = INT64_MAX;
        b->blocking[l] = TL_NONE;
        b->launched[l] = TL_NONE;
    }
    for (size_t i = 0; i < view->nkernels; i++) {
        const tl_kernel *k = &view->kernels[i];
        b->placed[i] = (tl_graph_kernel){ .launch_ns = TL_TIME_UNKNOWN,
                                          .name = name_of(view, k),
                                          .launch = k->launch,
                                          .step = tl_graph_step(view, tl_ns_sum(k->start_ns, b->lag_ns)),
                                          .start = TL_NONE,
                                          .end = TL_NONE };
        if (k->launch == TL_NONE)
            continue;
        const tl_launch *l = &view->launches[k->launch];
        b->placed[i].step = tl_graph_step(view, l->start_ns);
        int64_t start = tl_graph_host_time(b, l->start_ns), end = tl_graph_host_time(b, l->end_ns);
        int64_t handed = tl_ns_min(end, tl_ns_max(start, k->start_ns - TL_ROUNDING_NS));
        b->placed[i].launch_ns = start;
        b->handed_ns[k->launch] = tl_ns_min(b->handed_ns[k->launch], handed);
        /* a blocking copy: its call returns when the copy ends */
        if (k->kind == TL_MEMCPY && l->nkernels == 1 && k->end_ns > start && k->end_ns <= end + TL_CLOCK_ERROR_NS)
            b->blocking[k->launch] = (uint32_t)i;
    }
}

/* Sets latency_ns to the least time from launch to kernel start, as on an idle device, TL_CLOCK_ERROR_NS at most. */
static void find_latency(tl_graph_build *b)
{
    int64_t least_ns = TL_CLOCK_ERROR_NS;
    for (size_t i = 0; i < b->view->nkernels; i++) {
        const tl_kernel *k = &b->view->kernels[i];
        if (k->launch != TL_NONE)
            least_ns = tl_ns_min(least_ns, tl_ns_between(k->start_ns, b->handed_ns[k->launch]));
    }
    b->latency_ns = tl_ns_max(0, least_ns);
}

/* ----------------------------------------------------------------------------------------------------------- orders */

static int by_end(const void *context, uint32_t x, uint32_t y)
{
    const tl_kernel *k = context;
    return k[x].end_ns != k[y].end_ns ? TL_COMPARE(k[x].end_ns, k[y].end_ns) : TL_COMPARE(x, y);
}

static int by_turn(const void *context, uint32_t x, uint32_t y)
{
    const tl_graph_build *b = context;
    const tl_kernel *k = b->view->kernels;
    int64_t a = b->placed[x].launch_ns, c = b->placed[y].launch_ns;
    if (b->placed[x].before != b->placed[y].before)
        return b->placed[x].before ? -1 : 1;
    a = a != TL_TIME_UNKNOWN ? a : k[x].start_ns;
    c = c != TL_TIME_UNKNOWN ? c : k[y].start_ns;
    if (a != c)
        return TL_COMPARE(a, c);
    return k[x].start_ns != k[y].start_ns ? TL_COMPARE(k[x].start_ns, k[y].start_ns) : TL_COMPARE(x, y);
}

/* Whether work that was launched in the recording ended right as the kernel began. */
static bool follows_recorded_launch(const tl_graph_build *b, size_t kernel)
{
    const int64_t start_ns = b->view->kernels[kernel].start_ns;
    for (size_t i = tl_graph_ended(b, start_ns + TL_ROUNDING_NS); i > 0; i--) {
        if (b->view->kernels[b->by_end[i - 1]].end_ns < start_ns - 2 * TL_ROUNDING_NS)
            return false;
        if (b->placed[b->by_end[i - 1]].launch_ns != TL_TIME_UNKNOWN)
            return true;
    }
    return false;
}

/* Fills `before`: kernels that begin on a stream before the first kernel with a launch there were launched before the
 * recording, and belong to no step; they may run long after the first recorded launch.  A stream's kernels from the
 * first that begins right as work of the recording ends are not `before`: they had waited for that work, which was
 * launched earlier. */
static void mark_launched_before(tl_graph_build *b)
{
    bool launched = false;
    for (size_t i = b->view->nkernels; i-- > 0;) {
        const tl_kernel *k = &b->view->kernels[i];
        launched = launched && tl_same_stream(k, k + 1);
        b->placed[i].before = launched && b->placed[i].launch_ns == TL_TIME_UNKNOWN;
        launched = launched || b->placed[i].launch_ns != TL_TIME_UNKNOWN;
    }
    bool begun = false;
    for (size_t i = 0; i < b->view->nkernels; i++) {
        begun = begun && tl_same_stream(&b->view->kernels[i], &b->view->kernels[i - 1]);
        begun = begun || b->placed[i].launch_ns != TL_TIME_UNKNOWN ||
                (b->placed[i].before && follows_recorded_launch(b, i));
        b->placed[i].before = b->placed[i].before && !begun;
    }
}

static void sort_kernels(tl_graph_build *b)
{
    size_t n = b->view->nkernels;
    for (uint32_t i = 0; i < n; i++)
        b->by_end[i] = b->by_turn[i] = i;
    tl_sort_index(b->by_end, n, by_end, b->view->kernels);
    mark_launched_before(b);
    if (b->nunlaunched > 0)
        tl_graph_find_unlaunched(b);
    for (size_t i = 0; i < n; i++)
        b->placed[i].step = b->placed[i].before ? -1 : b->placed[i].step;
    tl_sort_index(b->by_turn, n, by_turn, b);
    uint32_t segment = 0, nwork = 0;
    int64_t latest = INT64_MIN;
    for (uint32_t turn = 0; turn < n; turn++) {
        tl_graph_kernel *p = &b->placed[b->by_turn[turn]];
        p->turn = turn;
        p->segment = segment;
        p->nwork = nwork;
        tl_kind kind = (tl_kind)b->view->kernels[b->by_turn[turn]].kind;
        segment += kind == TL_COMM;
        nwork = kind == TL_COMM ? 0 : nwork + (kind == TL_COMPUTE);
        latest = p->launch_ns != TL_TIME_UNKNOWN ? tl_ns_max(latest, p->launch_ns) : latest;
        b->latest_ns[turn] = latest;
    }
}

/* -------------------------------------------------------------------------------------------------------- sequences */

typedef struct step_sequence {
    uint64_t does; /* hash of the streams and names of its kernels, in the order of launches */
    uint32_t n;
} step_sequence;

/* Fills `position`: hash of all that the step launches, in order, and of the kernel's index there; equal on ranks whose
 * steps launch the same. */
static void fill_positions(tl_graph_build *b)
{
    const tl_rank_view *view = b->view;
    TL_VEC(step_sequence) sequences = { 0 };
    tl_map number_of = { 0 }; /* by step + 1 */
    uint32_t *sequence_of = tl_malloc((view->nkernels + 1) * sizeof *sequence_of);

    tl_vec_room(&sequences);
    for (size_t turn = 0; turn < view->nkernels; turn++) {
        const tl_kernel *k = &view->kernels[b->by_turn[turn]];
        int32_t step = b->placed[b->by_turn[turn]].step;
        uint32_t number = tl_map_number(&number_of, (uint64_t)((int64_t)step + 1), sequences.n);
        if (number == sequences.n)
            tl_vec_push(&sequences, (step_sequence){ 0 });
        step_sequence *p = &sequences.v[number];
        p->does = tl_hash_mix(tl_hash_mix(p->does, (uint64_t)(uint32_t)k->stream), b->placed[b->by_turn[turn]].name);
        sequence_of[turn] = number;
        b->placed[b->by_turn[turn]].position = p->n++;
    }
    for (size_t turn = 0; turn < view->nkernels; turn++) {
        tl_graph_kernel *p = &b->placed[b->by_turn[turn]];
        p->position = tl_hash_mix(sequences.v[sequence_of[turn]].does, p->position);
    }
    free(sequences.v);
    free(sequence_of);
    tl_map_free(&number_of);
}

/* Fills `key`, by numbering the kernels of one name between two collectives: an extra launch changes no keys beyond the
 * next collective. */
static void fill_keys(tl_graph_build *b)
{
    tl_map counts = { 0 }, first_of = { 0 }; /* by step + 1: its first segment */

    for (size_t turn = 0; turn < b->view->nkernels; turn++) {
        tl_graph_kernel *p = &b->placed[b->by_turn[turn]];
        uint64_t step = (uint64_t)((int64_t)p->step + 1);
        uint32_t first = tl_map_number(&first_of, step, p->segment);
        uint64_t what = tl_hash_mix(tl_hash_mix(p->segment - first, p->name), 1);
        p->key = tl_hash_mix(what, tl_map_count(&counts, tl_hash_mix(what, step)));
    }
    tl_map_free(&counts);
    tl_map_free(&first_of);
}

void tl_graph_place(tl_graph_build *b)
{
    size_t n = b->view->nkernels;
    for (size_t i = 0; i < n; i++)
        b->nunlaunched += b->view->kernels[i].launch == TL_NONE;
    size_t nlaunches = b->view->nlaunches + b->nunlaunched;
    b->nlaunches = b->view->nlaunches;
    b->tracks = tl_arena_take(&b->arena, nlaunches, sizeof *b->tracks);
    b->placed = tl_arena_take(&b->arena, n, sizeof *b->placed);
    b->by_end = tl_arena_take(&b->arena, n, sizeof *b->by_end);
    b->by_turn = tl_arena_take(&b->arena, n, sizeof *b->by_turn);
    b->latest_ns = tl_arena_take(&b->arena, n, sizeof *b->latest_ns);
    b->streams = tl_arena_take(&b->arena, n, sizeof *b->streams);
    b->handed_ns = tl_arena_take(&b->arena, nlaunches, sizeof *b->handed_ns);
    b->blocking = tl_arena_take(&b->arena, nlaunches, sizeof *b->blocking);
    b->queue_full = tl_arena_zeroed(&b->arena, nlaunches, sizeof *b->queue_full);
    b->launched = tl_arena_take(&b->arena, nlaunches, sizeof *b->launched);
    b->lag_ns = device_clock_lag_of(b->view);
    fill_handed_ns(b);
    for (size_t i = 0; i < b->view->nkernels; i++) {
        if (i == 0 || !tl_same_stream(&b->view->kernels[i], &b->view->kernels[i - 1]))
            b->streams[b->nstreams++].first = i;
        b->streams[b->nstreams - 1].end = i + 1;
    }
    find_latency(b);
    sort_kernels(b);
    fill_positions(b);
    fill_keys(b);
    tl_graph_find_full_queue(b);
}
