/* analysis.h - an analysis is a declaration and up to four pure functions.
 *
 *     per_rank          the view of one rank -> rows              on the proc that read the rank
 *     per_collective    one matched collective -> rows            on the proc that owns it, in order of time
 *     fold              rows of some collectives -> fewer rows    there, once
 *     reduce            the gathered rows of all ranks -> rows    on proc 0, rows in key order
 *
 * Whichever collectives are folded together, what reduce makes of all folds must be the same.
 *
 * An analysis sees const views and appends rows.  It knows no file, no process and no terminal, so the same traces give
 * the same rows on any number of procs.  To add one: a file in the folder of what it asks, its name in that folder's
 * header, a line in registry/registry.c.
 */
#ifndef TLMPI_ANALYSIS_ANALYSIS_H
#define TLMPI_ANALYSIS_ANALYSIS_H

#include "tlmpi/analysis/config.h"
#include "tlmpi/base/status.h"
#include "tlmpi/model/table.h"
#include "tlmpi/model/view.h"

/* One matched collective: see match.h. */
typedef struct tl_collective_view tl_collective_view;

/* What the view must hold besides device work, launches and steps. */
enum {
    TL_NEEDS_HOST = 1 /* calls and ops: analyses with this need run first, then calls and ops are freed */
};

typedef struct tl_analysis {
    unsigned needs; /* TL_NEEDS_..., or 0 */
    /* Each may be NULL. */
    void (*per_rank)(const tl_rank_view *view, const tl_config *config, tl_tables *out);
    void (*per_collective)(const tl_collective_view *collective, tl_tables *out);
    void (*fold)(tl_tables *out);
    void (*reduce)(tl_tables *job);
} tl_analysis;

#endif
