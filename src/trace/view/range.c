/* range.c - user annotations as the profiler mirrors them on the device. */
#include "range.h"
#include "part.h"

bool tl_ranges_collect(const tl_events *e, int64_t base_ns, tl_linked *out)
{
    const unsigned span = TL_EVENT_HAS_TS | TL_EVENT_PH_X;
    TL_VEC(tl_device_range) found = { 0 };
    bool ok = true;

    if (!tl_events_have(e, TL_CAT_GPU_ANNOTATION))
        return true;
    for (size_t i = 0; ok && i < e->n; i++) {
        if (tl_event_cat(e, i) != TL_CAT_GPU_ANNOTATION || (e->flags[i] & span) != span || e->name[i] == TL_NO_NAME)
            continue;
        ok = tl_vec_room(&found);
        if (ok)
            found.v[found.n++] =
                (tl_device_range){ tl_since_base(e->ts_ns[i], base_ns), e->dur_ns[i], e->name[i], e->uid[i] };
    }
    out->ranges = found.v;
    out->view.ranges = found.v;
    out->view.nranges = found.n;
    return ok;
}
