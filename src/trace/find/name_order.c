/* name_order.c - numbers the traces of one run without a rank by the numbers in their names.
 *
 *     <id>-TP-0-DP-0-PP-1-EP-0.trace.json.gz      axes: letters, optionally "rank", separator, digits
 *
 * A single axis gives the rank if every file has a different coordinate on it; else several axes together do, as
 * frameworks number ranks: tensor parallel ranks are adjacent, then context, data and pipeline parallel ones.  Expert
 * parallel ranks are a subset of the others, so that axis is not used.  If no axes do, files are numbered in order of
 * their names, with numbers by value: 2 comes before 10.
 */
#include "internal.h"
#include "tlmpi/base/decimal.h"
#include <ctype.h>
#include <strings.h>

/* The axes, from the one with adjacent ranks on. */
enum { TENSOR, CONTEXT, DATA, PIPELINE, NAXES };

static const char *const axis_words[NAXES][2] = {
    [TENSOR] = { "tp", "tensor" },
    [CONTEXT] = { "cp", "context" },
    [DATA] = { "dp", "data" },
    [PIPELINE] = { "pp", "pipeline" },
};

#define RANKS_MAX 100000

/* --------------------------------------------------------------------------------------------------- as numbers are */

static int compare_numbers(const char **a, const char **b)
{
    const char *x = *a, *y = *b;
    size_t n = 0, m = 0;

    while (*x == '0' && tl_is_digit(x[1]))
        x++;
    while (*y == '0' && tl_is_digit(y[1]))
        y++;
    while (tl_is_digit(x[n]))
        n++;
    while (tl_is_digit(y[m]))
        m++;
    *a = x + n;
    *b = y + m;
    return n != m ? (n < m ? -1 : 1) : memcmp(x, y, n);
}

int tl_compare_names(const char *a, const char *b)
{
    const char *x = a, *y = b;
    while (*x != '\0' && *y != '\0') {
        int order = 0;
        if (tl_is_digit(*x) && tl_is_digit(*y))
            order = compare_numbers(&x, &y);
        else
            order = (unsigned char)*x++ - (unsigned char)*y++;
        if (order != 0)
            return order;
    }
    return *x != *y ? (*x != '\0' ? 1 : -1) : strcmp(a, b);
}

/* ------------------------------------------------------------------------------------------------------------- axes */

typedef struct axis_numbers {
    int64_t on[NAXES]; /* -1: not in the name */
} axis_numbers;

/* Returns the number after a word of the axis at p: "TP-0", "tp_rank_0", "tp0"; -1: none. */
static int64_t number_at(const char *p, const char *word)
{
    if (strncasecmp(p, word, strlen(word)) != 0)
        return -1;
    p += strlen(word);
    p += *p == '-' || *p == '_';
    p += strncasecmp(p, "rank", 4) == 0 ? 4 : 0;
    p += *p == '-' || *p == '_' || *p == '=';
    const int32_t value = tl_decimal_take(&(tl_text){ p, strlen(p) });
    return value < RANKS_MAX ? value : -1;
}

static axis_numbers axis_numbers_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    axis_numbers p = { { -1, -1, -1, -1 } };

    for (const char *begin = slash != NULL ? slash + 1 : path, *at = begin; *at != '\0'; at++) {
        bool inside = at > begin && isalpha((unsigned char)at[-1]); /* another word, as in http0 */
        for (int axis = 0; !inside && axis < NAXES; axis++)
            for (int i = 0; i < 2 && p.on[axis] < 0; i++)
                p.on[axis] = number_at(at, axis_words[axis][i]);
    }
    return p;
}

/* Sets the ranks that these axes determine, with sizes[axis] coordinates each.  Returns whether they are n different
 * ranks below n. */
static bool ranks_from_axes(const axis_numbers *at, size_t n, unsigned axes, const int64_t sizes[NAXES], int64_t *ranks)
{
    tl_map seen = { 0 };
    bool differ = true;

    for (size_t i = 0; i < n && differ; i++) {
        int64_t stride = 1;
        ranks[i] = 0;
        for (int axis = 0; axis < NAXES; axis++)
            if (axes >> axis & 1) {
                ranks[i] += stride * at[i].on[axis];
                stride *= sizes[axis];
            }
        differ = stride > 0 && stride <= RANKS_MAX && tl_map_get(&seen, (uint64_t)ranks[i]) == TL_MAP_NONE;
        tl_map_put(&seen, (uint64_t)ranks[i], 0);
    }
    tl_map_free(&seen);
    return differ;
}

bool tl_order_by_axes(tl_input *const *v, size_t n, int64_t *ranks)
{
    axis_numbers *at = tl_calloc(n + 1, sizeof *at);
    int64_t sizes[NAXES] = { 0, 0, 0, 0 };
    unsigned known = (1u << NAXES) - 1, varied = 0, axes = 0;
    bool told = false;

    for (size_t i = 0; i < n; i++) {
        at[i] = axis_numbers_of(v[i]->path);
        for (int axis = 0; axis < NAXES; axis++) {
            known &= ~((unsigned)(at[i].on[axis] < 0) << axis);
            varied |= (unsigned)(at[i].on[axis] != at[0].on[axis]) << axis;
            sizes[axis] = at[i].on[axis] >= sizes[axis] ? at[i].on[axis] + 1 : sizes[axis];
        }
    }
    for (int axis = 0; !told && axis < NAXES; axis++) {
        axes |= known & varied & 1u << axis;
        if (axes >> axis & 1)
            told = ranks_from_axes(at, n, axes, sizes, ranks);
    }
    free(at);
    return told;
}
