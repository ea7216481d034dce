/* store_sample.c - writes the sample file, for the scripts that look at it from outside.
 *
 *     store_sample FILE ROWS RANKS [SEED]      exits with 4 when it cannot be written, the reason on stderr
 */
#include "sample.h"
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    tl_error err;
    if (argc < 4)
        return 2;
    sample_plan plan = { .nrows = strtoull(argv[2], NULL, 10),
                         .nranks = atoi(argv[3]),
                         .seed = argc > 4 ? (unsigned)atoi(argv[4]) : 0 };
    if (sample_write(argv[1], &plan, &err) == TL_OK)
        return 0;
    fprintf(stderr, "%s\n", err.text);
    return 4;
}
