#include "self.h"
#include "cover.h"
#include "tlmpi/base/group.h"
#include <stdlib.h>

#define STEPS 64 /* a frame, before it is taken for a crowd in which many cross */

void tl_lens_sweep_to(tl_lens_sweep *sweep, const tl_lens *lens, const tl_lens_gap *gap)
{
    size_t kept = 0;

    for (; sweep->next < sweep->n && tl_lens_ts(lens, sweep->all[sweep->next]) < gap->hi; sweep->next++)
        tl_vec_push(&sweep->now, sweep->all[sweep->next]);
    for (size_t i = 0; i < sweep->now.n; i++)
        if (tl_lens_end(lens, sweep->now.v[i]) > gap->lo)
            sweep->now.v[kept++] = sweep->now.v[i];
    sweep->now.n = kept;
}

void tl_lens_shares_clear(tl_lens_shares *shares)
{
    for (size_t i = 0; i < shares->rows.n; i++)
        shares->position[shares->rows.v[i].name == TL_NO_NAME ? shares->lens->e->names.n : shares->rows.v[i].name] = 0;
    shares->rows.n = 0;
}

void tl_lens_shares_add(tl_lens_shares *shares, uint32_t name, double us)
{
    uint32_t *position = &shares->position[name == TL_NO_NAME ? shares->lens->e->names.n : name];
    if (*position == 0) {
        tl_vec_push(&shares->rows, (tl_lens_share){ name, 0.0 });
        *position = (uint32_t)shares->rows.n;
    }
    shares->rows.v[*position - 1].us += us;
}

const tl_lens_share *tl_lens_shares_largest(const tl_lens_shares *shares, const tl_lens_share *const *but, size_t n)
{
    const tl_lens_share *best = NULL;
    for (size_t i = 0; i < shares->rows.n; i++) {
        const tl_lens_share *s = &shares->rows.v[i];
        bool told = false;
        for (size_t k = 0; k < n; k++)
            told |= but[k] == s;
        if (!told && (best == NULL || s->us > best->us))
            best = s;
    }
    return best;
}

tl_lens_shares tl_lens_shares_of(const tl_lens *lens)
{
    return (tl_lens_shares){ .lens = lens, .position = tl_calloc(lens->e->names.n + 1, sizeof(uint32_t)) };
}

void tl_lens_shares_free(tl_lens_shares *shares)
{
    free(shares->rows.v);
    free(shares->position);
}

/* ------------------------------------------------------------------------------------------------------- operators */

static bool is_op(const tl_lens *lens, uint32_t i)
{
    return (lens->set[i] == TL_LENS_CPU_OP || lens->set[i] == TL_LENS_PYTHON) && tl_lens_is_complete(lens, i);
}

tl_lens_self tl_lens_self_of(const tl_lens *lens)
{
    tl_lens_self self = { .lens = lens };
    self.ops.all = tl_lens_pick(lens, is_op, true, &self.ops.n);
    return self;
}

void tl_lens_self_free(tl_lens_self *self)
{
    free(self->ops.all);
    free(self->ops.now.v);
    free(self->frames.v);
}

static void take_frames(tl_lens_self *self, const tl_lens_gap *gap)
{
    const tl_lens *lens = self->lens;

    self->frames.n = 0;
    tl_lens_sweep_to(&self->ops, lens, gap);
    for (size_t i = 0; i < self->ops.now.n; i++) {
        uint32_t op = self->ops.now.v[i];
        tl_lens_frame f = { .ts = tl_lens_ts(lens, op), .end = tl_lens_end(lens, op), .name = lens->e->name[op] };
        f.from = fmax(f.ts, gap->lo);
        f.to = fmin(f.end, gap->hi);
        if (f.to > f.from)
            tl_vec_push(&self->frames, f);
    }
    for (size_t i = self->frames.n; i-- > 0;) {
        tl_lens_frame *v = self->frames.v;
        for (v[i].later = i + 1; v[i].later < self->frames.n && v[v[i].later].end <= v[i].end;)
            v[i].later = v[v[i].later].later;
        for (v[i].sooner = i + 1; v[i].sooner < self->frames.n && v[v[i].sooner].end > v[i].end;)
            v[i].sooner = v[v[i].sooner].sooner;
    }
}

/* The time in which something runs that lies within frame i.  Those within it follow it in the order of frames, up to
 * its end. After one of them, all up to the next that ends later lie within it, too, and add nothing; after one that
 * ends too late, all up to the next that ends sooner end too late, too.  So this costs the number of children, not that
 * of descendants, and of those that cross it.  False: that is more than *steps, which grow less. */
static bool covered(const tl_lens_self *self, size_t i, size_t first, size_t *steps, double *us)
{
    const tl_lens_frame *v = self->frames.v;
    double sum = 0, from = 0, to = 0;
    bool open = false;

    for (size_t k = first; k < self->frames.n && v[k].ts <= v[i].end;) {
        if (--*steps == 0)
            return false;
        if (v[k].end > v[i].end) {
            k = v[k].sooner;
            continue;
        }
        if (open && v[k].from <= to) {
            to = fmax(to, v[k].to);
        } else {
            sum += open ? to - from : 0;
            from = v[k].from;
            to = v[k].to;
            open = true;
        }
        k = v[k].later;
    }
    *us = sum + (open ? to - from : 0);
    return true;
}

/* After all frames of the extent of frame i: these stand side by side and do not contain each other. */
static size_t after_extent(const tl_lens_self *self, size_t i)
{
    const tl_lens_frame *v = self->frames.v;
    size_t next = i + 1;
    while (next < self->frames.n && v[next].ts == v[i].ts && v[next].end == v[i].end)
        next++;
    return next;
}

/* The self times of all frames at once, in integers, where a pair at a time would take too long.  Sums then differ in
 * their last digits from those in order.  The caller frees them. */
static int64_t *self_times_of_crowd(const tl_lens_self *self, const tl_lens_gap *gap, double scale)
{
    const tl_lens_frame *v = self->frames.v;
    size_t n = self->frames.n;
    tl_cover_span *spans = tl_malloc(n * sizeof *spans);
    int64_t *own = tl_malloc(n * sizeof *own);

    for (size_t i = 0, next; i < n; i = next) {
        next = after_extent(self, i);
        for (size_t k = i; k < next; k++)
            spans[k] = (tl_cover_span){ (int64_t)llround((v[k].from - gap->lo) * scale),
                                        (int64_t)llround((v[k].to - gap->lo) * scale), v[k].end, next };
    }
    tl_cover_find(spans, n, own);
    for (size_t i = 0; i < n; i++)
        own[i] = spans[i].to - spans[i].from - own[i];
    free(spans);
    return own;
}

void tl_lens_self_times(tl_lens_self *self, const tl_lens_gap *gap, tl_lens_shares *shares)
{
    take_frames(self, gap);
    const tl_lens_frame *v = self->frames.v;
    /* Millionths of a microsecond, or as many as there is room for. */
    const double scale = fmin(1e6, 0x1p60 / (gap->hi - gap->lo));
    size_t steps = STEPS * (self->frames.n + 1);
    int64_t *crowd = NULL;

    tl_lens_shares_clear(shares);
    for (size_t i = 0, next; i < self->frames.n; i = next) {
        double us = 0;
        next = after_extent(self, i);
        if (crowd == NULL && !covered(self, i, next, &steps, &us))
            crowd = self_times_of_crowd(self, gap, scale);
        double own = crowd != NULL ? (double)crowd[i] / scale : (v[i].to - v[i].from) - us;
        for (size_t k = i; own > 0 && k < next; k++)
            tl_lens_shares_add(shares, v[k].name, own);
    }
    free(crowd);
}
