/* program_work.c - which kernels a step runs, and how long they take. */
#include "program.h"
#include "chance.h"
#include <string.h>

const char *kernel_of(const struct shape *shape, enum vendor vendor)
{
    const char *own = shape->kernel[vendor];
    return own != NULL ? own : shape->kernel[0];
}

int64_t kernel_mean_ns(const struct job *job, const struct shape *shape)
{
    return shape->us * US * job->scale_percent / 100;
}

int64_t copy_mean_ns(const struct job *job)
{
    return 700 * US * job->scale_percent / 100;
}

static bool same_kernel(const struct shape *a, const struct shape *b, enum vendor vendor)
{
    return a == b || strcmp(kernel_of(a, vendor), kernel_of(b, vendor)) == 0;
}

/* What kernels of this name take in a step. */
static int64_t sum_of(const struct program *p, const struct job *job, const struct shape *shape)
{
    int64_t ns = 0;

    for (size_t i = 0; i < p->n; i++)
        if (p->v[i].action == DO_LAUNCH && same_kernel(p->v[i].shape, shape, job->vendor))
            ns += kernel_mean_ns(job, p->v[i].shape);
    return ns;
}

const char *program_slow_down(struct program *p, const struct job *job, uint64_t which)
{
    const struct shape *chosen = NULL;
    uint64_t best = 0;

    /* The lot falls on one of those that take at least a twentieth of the step. */
    for (int part = 0; part < NPARTS_OF_STEP; part++) {
        for (size_t i = 0; i < parts[part].n; i++) {
            const struct shape *shape = &parts[part].v[i];
            uint64_t lot = seeded(which, USE_FAULT_SHAPE, (uint64_t)part * 64 + i);
            if ((chosen == NULL || lot > best) && 20 * sum_of(p, job, shape) >= p->kernel_ns) {
                chosen = shape;
                best = lot;
            }
        }
    }
    for (size_t i = 0; chosen != NULL && i < p->n; i++) {
        struct instruction *what = &p->v[i];
        what->slow = what->action == DO_LAUNCH && same_kernel(what->shape, chosen, job->vendor);
        if (what->slow)
            p->slow_ns += kernel_mean_ns(job, what->shape);
    }
    return chosen != NULL ? kernel_of(chosen, job->vendor) : NULL;
}
