/* fault.c - a fault, when it acts and what it does. */
#include "fault.h"
#include "rank.h"

const char *const cause_names[NCAUSES] = {
    [CAUSE_COMPUTE_SLOW] = "compute_slow",
    [CAUSE_THROTTLED] = "throttled",
    [CAUSE_MORE_WORK] = "more_work",
    [CAUSE_HOST_LATE] = "host_late",
    [CAUSE_INPUT] = "input",
    [CAUSE_H2D] = "h2d",
    [CAUSE_GC] = "gc",
    [CAUSE_SYNC_DRAIN] = "sync_drain",
    [CAUSE_ALLOCATOR] = "allocator",
    [CAUSE_SLOW_LINK] = "slow_link",
};

const char *const pattern_names[NPATTERNS] = {
    [PATTERN_PERSISTENT] = "persistent", [PATTERN_BOUNDED] = "bounded",   [PATTERN_SPORADIC] = "sporadic",
    [PATTERN_ONE_OFF] = "one_off",       [PATTERN_DRIFTING] = "drifting",
};

const char *const style_names[NSTYLES] = {
    [STYLE_ANY] = "any",
    [STYLE_PLAIN] = "plain",
    [STYLE_PAUSE] = "pause",
    [STYLE_LAUNCHES] = "launches",
    [STYLE_LARGER] = "larger",
    [STYLE_MORE] = "more",
    [STYLE_TOKENS] = "tokens",
    [STYLE_PAGEABLE] = "pageable",
    [STYLE_PINNED] = "pinned",
    [STYLE_GC_EVENT] = "event",
    [STYLE_GC_FRAME] = "frame",
    [STYLE_GC_HIDDEN] = "hidden",
    [STYLE_DEVICE_SYNC] = "device_sync",
    [STYLE_ITEM] = "item",
    [STYLE_LAYERS] = "layers",
};

/* The first and the last style of each cause. */
static const enum style styles[NCAUSES][2] = {
    [CAUSE_COMPUTE_SLOW] = { STYLE_PLAIN, STYLE_PLAIN }, [CAUSE_THROTTLED] = { STYLE_PLAIN, STYLE_PLAIN },
    [CAUSE_MORE_WORK] = { STYLE_LARGER, STYLE_TOKENS },  [CAUSE_HOST_LATE] = { STYLE_PAUSE, STYLE_LAUNCHES },
    [CAUSE_INPUT] = { STYLE_PLAIN, STYLE_PLAIN },        [CAUSE_H2D] = { STYLE_PAGEABLE, STYLE_PINNED },
    [CAUSE_GC] = { STYLE_GC_EVENT, STYLE_GC_HIDDEN },    [CAUSE_SYNC_DRAIN] = { STYLE_DEVICE_SYNC, STYLE_LAYERS },
    [CAUSE_ALLOCATOR] = { STYLE_PLAIN, STYLE_PLAIN },    [CAUSE_SLOW_LINK] = { STYLE_PLAIN, STYLE_PLAIN },
};

bool style_fits(enum style style, enum cause cause)
{
    return style == STYLE_ANY || (style >= styles[cause][0] && style <= styles[cause][1]);
}

static enum style style_of(const struct job *job)
{
    enum style first = styles[job->fault.cause][0], last = styles[job->fault.cause][1];

    if (job->fault.style != STYLE_ANY)
        return job->fault.style;
    /* Both are recorded with the frames, or not at all. */
    if (job->fault.cause == CAUSE_GC)
        return !(job->frames > 0)                               ? STYLE_GC_HIDDEN
               : seeded(job->seed, USE_FAULT_STYLE, 0) % 2 == 0 ? STYLE_GC_EVENT
                                                                : STYLE_GC_FRAME;
    if (last == STYLE_TOKENS && job->ep == 1)
        last--;
    return first + (enum style)(seeded(job->seed, USE_FAULT_STYLE, 0) % (uint64_t)(last - first + 1));
}

/* --- when --------------------------------------------------------------------------------------------------------- */

bool fault_has(const struct job *job, int rank)
{
    return job->fault.rank >= 0 && rank >= job->fault.rank && rank < job->fault.rank + job->fault.nranks;
}

/* The first and the last step of the window have it, the second does not. */
static bool sporadic(const struct job *job, int number)
{
    const struct fault *f = &job->fault;

    if (number == f->from || number == f->to)
        return true;
    return number != f->from + 1 && seeded(job->seed, USE_FAULT_STEPS, (uint64_t)number) % 5 < 2;
}

int64_t fault_step_ns(const struct job *job, int step)
{
    const struct fault *f = &job->fault;
    int number = step_number(job, step);

    if (f->rank < 0)
        return 0;
    if (f->pattern == PATTERN_PERSISTENT)
        return f->ns;
    if (number < f->from || number > f->to)
        return 0;
    switch (f->pattern) {
    case PATTERN_SPORADIC:
        return sporadic(job, number) ? f->ns : 0;
    case PATTERN_ONE_OFF:
        return number == f->from ? f->ns : 0;
    case PATTERN_DRIFTING:
        return 2 * f->ns * (number - f->from + 1) / (f->to - f->from + 2);
    case PATTERN_PERSISTENT:
    case PATTERN_BOUNDED:
    case NPATTERNS:
        break;
    }
    return f->ns;
}

int64_t fault_ns(const struct job *job, int rank, int step)
{
    return fault_has(job, rank) ? fault_step_ns(job, step) : 0;
}

static int64_t of_cause(const struct rank *r, enum cause cause)
{
    const struct job *job = &r->sim->job;
    return job->fault.cause == cause ? fault_ns(job, r->rank, r->step) : 0;
}

/* --- kernels ------------------------------------------------------------------------------------------------------ */

int64_t fault_slower_ppm(const struct rank *r, const struct instruction *what)
{
    const struct program *p = r->program;

    if (what->slow)
        return ppm(of_cause(r, CAUSE_COMPUTE_SLOW), p->slow_ns);
    /* What waits for memory feels half of it. */
    int64_t throttled = ppm(of_cause(r, CAUSE_THROTTLED), p->heavy_ns + (p->kernel_ns - p->heavy_ns) / 2);
    return what->shape->weight == LIGHT ? throttled / 2 : throttled;
}

int64_t fault_larger_ppm(const struct rank *r, const struct shape *shape)
{
    if (r->sim->damage.style != STYLE_LARGER || shape->weight == LIGHT)
        return 0;
    /* A larger batch takes longer to copy, too. */
    return ppm(of_cause(r, CAUSE_MORE_WORK), r->program->heavy_ns + copy_mean_ns(&r->sim->job));
}

/* The others are sent fewer.  Of n members with weights 1, ..., 1, 1 + h the last has n (1 + h) / (n + h) times its
 * share: that is 1 + f for h = n f / (n - 1 - f). */
int64_t fault_tokens_ppm(const struct sim *sim, int rank, int step)
{
    const struct job *job = &sim->job;

    if (sim->damage.style != STYLE_TOKENS || job->fault.cause != CAUSE_MORE_WORK || !fault_has(job, rank))
        return 0;
    int64_t n = job->ep, f = ppm(fault_step_ns(job, step), sim->programs[stage_of(job, rank)].expert_ns);
    if (f > (n - 1) * 900000)
        f = (n - 1) * 900000; /* nearly all there are */
    return n * f * 1000 / (((n - 1) * 1000000 - f) / 1000);
}

/* --- the host ----------------------------------------------------------------------------------------------------- */

static int64_t moved_ns(const struct sim *sim)
{
    const struct job *job = &sim->job;
    const struct program *p = &sim->programs[stage_of(job, job->fault.rank)];
    int64_t ns = 0;

    for (int axis = 0; axis < NAXES; axis++) {
        struct group group = group_of(job, (enum axis)axis, job->fault.rank);
        if (!fault_uses_link(job, &group, (enum axis)axis))
            continue;
        for (int i = 0; i < p->nmet[axis]; i++)
            ns += nominal_ns(job, &p->v[p->met[axis][i]], &group);
    }
    return ns;
}

int64_t fault_launch_ns(const struct rank *r)
{
    return r->sim->damage.style == STYLE_LAUNCHES ? of_cause(r, CAUSE_HOST_LATE) / later(r->program->launches, 1) : 0;
}

static void collect(struct rank *r, int64_t ns)
{
    enum style style = r->sim->damage.style;
    int64_t start = r->now_ns;

    r->now_ns += ns;
    if (style != STYLE_GC_HIDDEN)
        emit_frame(r, style == STYLE_GC_EVENT ? "Python GC" : "<built-in function collect>", -1, start, r->now_ns,
                   r->step_frame);
}

/* The host looks at a number, and then thinks about it. */
static void drain(struct rank *r, int64_t think_ns)
{
    if (r->sim->damage.style == STYLE_DEVICE_SYNC)
        waiting_call(r, "cudaDeviceSynchronize", "hipDeviceSynchronize", "Context Sync", -1, rank_idle_ns(r));
    else
        read_number(r, "aten::_local_scalar_dense", 4);
    r->now_ns += think_ns;
}

/* No block is large enough: what is cached is given back, then there is a new one.  cudaFree waits for the device. */
static void allocate(struct rank *r, int64_t ns)
{
    int64_t start = r->now_ns;

    r->external++;
    r->now_ns += US;
    call(r, "cudaMalloc", "hipMalloc", NULL, ns / 20);
    waiting_call(r, "cudaFree", "hipFree", NULL, -1, rank_idle_ns(r));
    call(r, "cudaFree", "hipFree", NULL, ns * 2 / 5);
    call(r, "cudaFree", "hipFree", NULL, ns / 4);
    call(r, "cudaMalloc", "hipMalloc", NULL, ns * 3 / 10);
    r->now_ns += US;
    emit_op(r, "aten::empty", start, r->now_ns, NULL);
}

static void more_kernels(struct rank *r, int64_t ns)
{
    const struct part_of_step *part = &parts[MLP_FORWARD];

    for (size_t i = 0; ns > 0; i++) {
        const struct shape *shape = &part->v[i % part->n];
        int64_t usual = kernel_mean_ns(&r->sim->job, shape), own = ns < usual ? ns : usual;
        launch(r, shape, own, 0);
        ns -= own;
    }
}

/* The places where it acts in this step, and with what part of it. */
static int64_t at_site_ns(const struct rank *r, int site)
{
    const struct job *job = &r->sim->job;
    const struct damage *damage = &r->sim->damage;
    int64_t ns = fault_ns(job, r->rank, r->step);
    uint64_t nsites = (uint64_t)r->program->sites;

    switch (job->fault.cause) {
    case CAUSE_SYNC_DRAIN:
        if (damage->style == STYLE_LAYERS)
            return ns / (int64_t)nsites;
        break;
    case CAUSE_GC:
        if (job->fault.site < 0)
            return site == (int)(seeded(job->seed, USE_FAULT_SITE, (uint64_t)r->step + 1) % nsites) ? ns : 0;
        break;
    case CAUSE_HOST_LATE:
        if (damage->style != STYLE_PAUSE)
            return 0;
        break;
    case CAUSE_MORE_WORK:
        if (damage->style != STYLE_MORE)
            return 0;
        break;
    case CAUSE_ALLOCATOR:
        break;
    case CAUSE_COMPUTE_SLOW:
    case CAUSE_THROTTLED:
    case CAUSE_INPUT:
    case CAUSE_H2D:
    case CAUSE_SLOW_LINK:
    case NCAUSES:
        return 0;
    }
    return site == damage->site ? ns : 0;
}

bool fault_at_site(struct rank *r, int site)
{
    enum cause cause = r->sim->job.fault.cause;
    int64_t ns = at_site_ns(r, site);
    bool waits = cause == CAUSE_ALLOCATOR || (cause == CAUSE_SYNC_DRAIN && r->sim->damage.style == STYLE_DEVICE_SYNC);

    if (ns <= 0)
        return true;
    if (waits && !settle(r))
        return false;
    /* What is drawn and counted here is nothing to the rest of the step. */
    uint64_t random = r->random;
    double ops = r->ops_owed, frames = r->frames_owed;
    r->random = r->mishap;
    if (cause == CAUSE_HOST_LATE)
        r->now_ns += ns;
    else if (cause == CAUSE_GC)
        collect(r, ns);
    else if (cause == CAUSE_SYNC_DRAIN)
        drain(r, ns);
    else if (cause == CAUSE_ALLOCATOR)
        allocate(r, ns);
    else
        more_kernels(r, ns);
    r->mishap = r->random;
    r->random = random;
    r->ops_owed = ops;
    r->frames_owed = frames;
    return true;
}

/* --- what there is to know ---------------------------------------------------------------------------------------- */

void damage_find(struct sim *sim)
{
    const struct job *job = &sim->job;
    const struct fault *f = &job->fault;

    sim->damage = (struct damage){ .style = STYLE_PLAIN };
    if (f->rank < 0)
        return;
    int stage = stage_of(job, f->rank), nsites = sim->programs[stage].sites;
    sim->damage.style = style_of(job);
    sim->damage.site = f->site >= 0 ? f->site % nsites : (int)(seeded(job->seed, USE_FAULT_SITE, 0) % (uint64_t)nsites);
    if (f->cause == CAUSE_COMPUTE_SLOW)
        for (int i = 0; i < job->pp; i++) {
            const char *kernel = program_slow_down(&sim->programs[i], job, job->seed);
            if (i == stage)
                sim->damage.kernel = kernel;
        }
    if (f->cause == CAUSE_SLOW_LINK)
        sim->damage.moved_ns = moved_ns(sim);
}

const char *fault_place(const struct sim *sim)
{
    const struct job *job = &sim->job;
    const struct program *p = &sim->programs[stage_of(job, job->fault.rank)];
    bool rocm = job->vendor == VENDOR_ROCM;

    switch (job->fault.cause) {
    case CAUSE_COMPUTE_SLOW:
        return sim->damage.kernel;
    case CAUSE_HOST_LATE:
        for (size_t i = 0; sim->damage.style == STYLE_PAUSE && i < p->n; i++)
            if (p->v[i].action == DO_SITE && p->v[i].number == sim->damage.site)
                return p->v[i].text;
        return NULL;
    case CAUSE_INPUT:
        return "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__";
    case CAUSE_H2D:
        return sim->damage.style == STYLE_PAGEABLE ? "Memcpy HtoD (Pageable -> Device)"
                                                   : "Memcpy HtoD (Pinned -> Device)";
    case CAUSE_GC:
        return sim->damage.style == STYLE_GC_EVENT   ? "Python GC"
               : sim->damage.style == STYLE_GC_FRAME ? "<built-in function collect>"
                                                     : NULL;
    case CAUSE_SYNC_DRAIN:
        if (sim->damage.style == STYLE_DEVICE_SYNC)
            return rocm ? "hipDeviceSynchronize" : "cudaDeviceSynchronize";
        return "aten::_local_scalar_dense";
    case CAUSE_ALLOCATOR:
        return rocm ? "hipFree" : "cudaFree";
    case CAUSE_THROTTLED:
    case CAUSE_MORE_WORK:
    case CAUSE_SLOW_LINK:
    case NCAUSES:
        break;
    }
    return NULL;
}
