/* hosts.c - which ranks share a host. */
#include "tlmpi/analysis/role.h"
#include "tlmpi/base/mem.h"
#include <stdlib.h>
#include <string.h>

const tl_rank *tl_host_row_of(const tl_table *ranks, int32_t rank)
{
    for (size_t i = 0; i < ranks->n; i++) {
        const tl_rank *row = tl_table_row(ranks, i);
        if (row->rank == rank && row->intervals > 0)
            return row;
    }
    return NULL;
}

size_t tl_hosts_of(const tl_table *ranks, const int32_t *of, size_t nranks, uint32_t *host_of)
{
    const tl_rank **rows = tl_malloc((nranks + 1) * sizeof *rows);
    bool named = true, told = true;
    size_t n = 0;
    int32_t device = INT32_MAX;

    if (rows == NULL)
        return SIZE_MAX;
    for (size_t r = 0; r < nranks; r++) {
        rows[r] = tl_host_row_of(ranks, of[r]);
        named = named && rows[r] != NULL && rows[r]->host[0] != 0;
        told = told && rows[r] != NULL && rows[r]->device >= 0;
    }
    for (size_t r = 0; r < nranks && (named || told); r++) {
        /* Launchers number the devices of a host as they number its ranks. */
        if (!named) {
            n += rows[r]->device <= device;
            device = rows[r]->device;
            host_of[r] = (uint32_t)n - 1;
            continue;
        }
        host_of[r] = (uint32_t)n;
        for (size_t q = 0; host_of[r] == n && q < r; q++)
            if (memcmp(rows[r]->host, rows[q]->host, sizeof rows[r]->host) == 0)
                host_of[r] = host_of[q];
        n += host_of[r] == n;
    }
    free(rows);
    return n;
}
