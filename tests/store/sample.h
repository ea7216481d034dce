/* sample.h - a result file with every type of cell, as large as wanted; each cell follows from its row's number. */
#ifndef TLMPI_TESTS_SAMPLE_H
#define TLMPI_TESTS_SAMPLE_H

#include "tlmpi/base/status.h"
#include "tlmpi/model/schema.h"
#include <stdbool.h>

extern const char *const sample_colors[];       /* "red", "green", "blue", NULL */
#define TL_CELL_COLOR(name) uint8_t name
#define TL_FORM_COLOR TL_TYPE_ENUM, sample_colors, NULL

#define SAMPLE_FIELDS(F, T)                                                                 \
    F(T, I32, rank, KEY, "", "traced rank")                                                 \
    F(T, TIME, start_ns, KEY, "ns", "a time, unknown in every 7th row")                     \
    F(T, COLOR, color, LABEL, "", "red, green, blue in turn")                               \
    F(T, NAME, name, LABEL, "", "a name, none in every 11th row")                           \
    F(T, I64, large, MEASURE, "byte", "a number that no double can hold")                   \
    F(T, F64, share, MEASURE, "%", "a share, NaN in every 5th row")                         \
    F(T, TEXT16, text, LABEL, "", "\xc3\xa4\xc3\xb6\xc3\xbc, cut at a whole character")     \
    F(T, I32, row, SOURCE, "", "number of the row")
TL_TABLE(sample, SAMPLE_FIELDS);

#define REMARK_FIELDS(F, T)                           \
    F(T, TEXT256, file, SOURCE, "", "a path")         \
    F(T, TEXT32, remark, KEY, "", "words")            \
    F(T, F64, weight, MEASURE, "kg", "a weight")
TL_TABLE(remark, REMARK_FIELDS);

#define SAMPLE_EPOCH_NS INT64_C(1700000000123456789)
#define SAMPLE_NAMES 100u

typedef struct sample_plan {
    uint64_t nrows;
    int nranks;                 /* that share the rows; the second of them has none */
    unsigned seed;              /* 0: in order, whole chunks as chunks; else cut into pieces and shuffled */
    bool force;
} sample_plan;

/* Rows [first, first + n) as they are in memory. */
void sample_fill(const sample_plan *plan, uint64_t first, size_t n, tl_sample *rows);

/* The first row of the rank; its last one is before the next rank's first. */
uint64_t sample_bound(const sample_plan *plan, int rank);

/* Writes the whole file. */
tl_status sample_write(const char *path, const sample_plan *plan, tl_error *err);

#endif
