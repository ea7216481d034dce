/* parameters.c - the numbers that decide, as rows of their table. */
#include "tlmpi/model/parameters.h"
#include <string.h>

TL_LABELS_DEFINE(parameter, TL_PARAMETER_VALUES);
TL_TABLE_DEFINE(parameter, TL_PARAMETER_FIELDS, TL_SCOPE_JOB, "the numbers that decide",
                "Which numbers decide, and why are they what they are?");

typedef struct listed {
    const char *name;
    double value;
    const char *unit, *reason;
    tl_parameter_kind kind;
} listed;

#define TL_LISTED(type, name, value, unit, kind, reason) { #name, (double)(value), unit, reason, TL_PARAMETER_##kind },
static const listed parameters[] = { TL_PARAMETERS(TL_LISTED) };
#undef TL_LISTED

/* Writes a parameter's name in lower case without its unit, which has a column of its own: CLOCK_ERROR_NS ->
 * clock_error. */
static void put_name(char *cell, size_t size, const char *name)
{
    const char *end = name + strlen(name);
    if (end - name > 3 && (strcmp(end - 3, "_NS") == 0))
        end -= 3;
    else if (end - name > 4 && strcmp(end - 4, "_PPB") == 0)
        end -= 4;
    for (size_t i = 0; name + i < end && i < size; i++)
        cell[i] = (char)(name[i] >= 'A' && name[i] <= 'Z' ? name[i] - 'A' + 'a' : name[i]);
}

void tl_parameters_list(tl_table *table, double alpha, double least_cost)
{
    for (size_t i = 0; i < sizeof parameters / sizeof parameters[0]; i++) {
        const listed *p = &parameters[i];
        tl_parameter row = { .value = p->value, .kind = (uint8_t)p->kind };
        put_name(row.name, sizeof row.name, p->name);
        tl_cell_text(row.unit, sizeof row.unit, p->unit, strlen(p->unit));
        tl_cell_text(row.reason, sizeof row.reason, p->reason, strlen(p->reason));
        row.value = strcmp(p->name, "VERDICT_ALPHA") == 0        ? alpha
                    : strcmp(p->name, "VERDICT_LEAST_COST") == 0 ? least_cost
                                                                 : row.value;
        tl_table_append(table, &row, 1);
    }
    tl_table_sort(table);
}

double tl_parameter_value(const tl_table *table, const char *name, double otherwise)
{
    TL_ROWS (const tl_parameter, row, table)
        if (strncmp(row->name, name, sizeof row->name) == 0)
            return row->value;
    return otherwise;
}
