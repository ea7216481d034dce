/* digest.c - prints a hash of each table of a result file. */
#include "tlmpi/job/digest.h"
#include <inttypes.h>

tl_status tl_print_digests(FILE *out, tl_result *result, tl_error *err)
{
    uint64_t hash;
    tl_status st = TL_OK;

    for (size_t i = 0; st == TL_OK && i < tl_result_ntables(result); i++) {
        const tl_schema *table = tl_result_table(result, i);
        st = tl_result_digest(result, table, &hash, err);
        if (st == TL_OK)
            fprintf(out, "%s %016" PRIx64 "\n", table->name, hash);
    }
    if (st == TL_OK)
        tl_result_digest_names(result, &hash, err);
    if (st == TL_OK)
        fprintf(out, "names %016" PRIx64 "\n", hash);
    return st;
}
