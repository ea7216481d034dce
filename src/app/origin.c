/* origin.c - the result of traces, for as long as a command runs; and the traces that a result was made of. */
#include "opened.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/part_file.h"
#include "tlmpi/model/tables.h"
#include "tlmpi/par/par.h"
#include "tlmpi/store/load.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ------------------------------------------------------------------------------------------------ traces to results */

tl_status tl_passing_begin(tl_passing *p, tl_error *err)
{
    const char *top = getenv("TMPDIR");
    tl_status st = TL_OK;
    if (tl_par_proc() == 0) {
        int n = snprintf(p->folder, sizeof p->folder, "%s/tlmpi-XXXXXX", top != NULL && *top != '\0' ? top : "/tmp");
        if (n >= (int)sizeof p->folder || mkdtemp(p->folder) == NULL)
            st = tl_fail(err, TL_EOUTPUT, "%s: %s", p->folder, strerror(errno));
        else
            tl_unfinished_add(p->folder);
    }
    tl_par_bcast(p->folder, sizeof p->folder);
    st = tl_par_agree(st, err);
    if (st != TL_OK)
        p->folder[0] = '\0';
    return st;
}

int tl_passing_add(tl_passing *p, int number, const tl_cli *cli, const char *const *traces, size_t ntraces)
{
    tl_options options = cli->run;
    char prefix[sizeof p->path[0]];
    snprintf(prefix, sizeof prefix, "%.255s/%d", p->folder, number);
    snprintf(p->path[number], sizeof p->path[number], "%.287s.h5", prefix);
    options.paths = traces;
    options.npaths = ntraces;
    options.output = prefix;
    options.quiet = true;
    options.json = options.digest = false;
    options.fail_on = (tl_gates){ .set = { false } };
    options.ranks = options.steps = (tl_ranges){ 0 };
    if (tl_par_proc() == 0)
        tl_unfinished_add(p->path[number]);
    return tl_run(&options);
}

void tl_passing_end(const tl_passing *p)
{
    for (int i = 0; i < 2 && tl_par_proc() == 0; i++)
        if (p->path[i][0] != '\0') {
            unlink(p->path[i]);
            tl_unfinished_done(p->path[i]);
        }
    if (p->folder[0] != '\0' && tl_par_proc() == 0) {
        rmdir(p->folder);
        tl_unfinished_done(p->folder);
    }
}

/* ------------------------------------------------------------------------------------------------ results to traces */

/* Proc 0: appends the paths and the options that the result records, each text terminated by 0. */
static tl_status read_origin(tl_opened *of, const char *path, tl_bytes *origin, tl_error *err)
{
    const tl_schema *const schemas[] = { &tl_rank_schema };
    tl_status st = tl_opened_load(of, path, path, schemas, 1, 1, err);
    for (int i = TL_OPENED_inputs; st == TL_OK && i <= TL_OPENED_settings; i++) {
        if (of->texts[i] == NULL)
            return tl_fail(err, TL_EUSAGE,
                           "%s does not say which traces it was made of (--reproducible, or an older tlmpi wrote it): "
                           "name the traces instead",
                           path);
        tl_bytes_put(origin, of->texts[i], strlen(of->texts[i]) + 1);
    }
    return st;
}

tl_status tl_made_of_read(tl_cli *cli, tl_made_of *m, tl_error *err)
{
    const char *result = cli->words[0];
    tl_status st = cli->nwords == 1 ? TL_OK : tl_fail(err, TL_EUSAGE, "%s: one result file, or traces", result);
    if (st == TL_OK && tl_par_proc() == 0)
        st = read_origin(&m->opened, result, &m->text, err);
    st = tl_par_agree(st, err);
    if (st != TL_OK)
        return st;
    m->whole =
        (tl_whatif_origin){ .result = result, .selects = cli->run.ranks.n + cli->run.steps.n + cli->run.times.n > 0 };
    if (tl_par_proc() == 0)
        m->whole.ranks = m->opened.tables.v[0];
    tl_par_share((void **)&m->text.v, &m->text.n, 1);
    char *settings = m->text.v + strlen(m->text.v) + 1, *rest;
    for (char *path = strtok_r(m->text.v, "\n", &rest); path != NULL; path = strtok_r(NULL, "\n", &rest)) {
        if (access(path, F_OK) != 0)
            return tl_fail(err, TL_EINPUT, "%s was made of %s: %s; name its traces where they are now", result, path,
                           strerror(errno));
        tl_vec_push(&m->paths, path);
    }
    cli->run.paths = m->paths.v;
    cli->run.npaths = m->paths.n;
    return tl_options_restore(cli, TL_FOR_WHATIF, settings, err);
}

static void drop_restored(tl_ranges *now, const tl_ranges *given)
{
    if (now->v != given->v)
        free(now->v);
}

void tl_made_of_free(tl_made_of *m, tl_options *own, const tl_options *given)
{
    drop_restored(&own->ranks, &given->ranks);
    drop_restored(&own->steps, &given->steps);
    drop_restored(&own->times, &given->times);
    tl_opened_free(&m->opened);
    free(m->paths.v);
    free(m->text.v);
}
