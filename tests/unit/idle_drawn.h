/* idle_drawn.h - what the tests of the idle classification share: a drawing to its gaps. */
#ifndef TLMPI_TESTS_IDLE_DRAWN_H
#define TLMPI_TESTS_IDLE_DRAWN_H

#include "draw.h"
#include "tlmpi/analysis/rank/idle.h"
#include "tlmpi/analysis/registry.h"
#include "tlmpi/model/health_table.h"
#include "tlmpi/model/idle_tables.h"
#include "unit.h"

static const tl_gap no_gap;

static inline size_t run(drawing *d, const tl_config *config)
{
    for (size_t i = 0; i < d->out.n; i++)
        d->out.v[i].n = 0;
    tl_idle_analysis.per_rank(&d->view, config, &d->out);
    return tl_tables_get(&d->out, &tl_gap_schema)->n;
}

/* The i-th macro gap, by device and time. */
static inline const tl_gap *gap(const drawing *d, size_t i)
{
    tl_table *t = tl_tables_get((tl_tables *)(uintptr_t)&d->out, &tl_gap_schema);
    return i < t->n ? tl_table_row(t, i) : &no_gap;
}

/* The one macro gap of the drawing. */
static inline const tl_gap *the_gap(drawing *d)
{
    CU_ASSERT_EQUAL(run(d, &tl_config_default), 1);
    return gap(d, 0);
}

static inline const char *text(const drawing *d, uint32_t name)
{
    return tl_names_text(&d->names, name).p;
}

/* Draws, classifies and compares what the host did in the only gap. */
static inline void expect_doing(drawing *d, const char *label)
{
    CU_ASSERT_STRING_EQUAL(tl_doing_labels[the_gap(d)->cpu_during_gap], label);
    drawing_free(d);
}

/* Likewise how the device ran dry, and after what. */
static inline void expect_drain(drawing *d, const char *drain, const char *wait)
{
    const tl_gap *g = the_gap(d);
    CU_ASSERT_STRING_EQUAL(tl_drain_labels[g->drain_type], drain);
    CU_ASSERT_STRING_EQUAL(tl_wait_labels[g->sync_type], wait);
    drawing_free(d);
}

#endif
