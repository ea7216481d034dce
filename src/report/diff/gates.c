/* gates.c - by how much B may take longer than A. */
#include "tlmpi/base/stats.h"
#include "tlmpi/model/parameters.h"
#include "tlmpi/report/diff.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[TL_NDIFF_GATES] = {
    "step", "kernel", "compute", "waiting", "transfer", "comm", "copy", "idle"
};

bool tl_diff_gates_read(const char *text, tl_diff_gates *gates)
{
    tl_diff_gates read = { .set = { false } };
    for (bool more = text[strspn(text, " ")] != '\0'; more;) {
        char name[12], digits[40], *rest;
        int n = 0, gate = 0;
        if (sscanf(text, " %11[a-z] > %39[0-9.+] %% %n", name, digits, &n) != 2)
            return false;
        while (gate < TL_NDIFF_GATES && strcmp(name, names[gate]) != 0)
            gate++;
        double percent = strtod(digits, &rest);
        if (n == 0 || gate == TL_NDIFF_GATES || read.set[gate] || *rest != '\0')
            return false;
        read.set[gate] = true;
        read.most[gate] = percent / 100;
        more = text[n] == ',';
        if (!more && text[n] != '\0')
            return false;
        text += n + 1;
    }
    *gates = read;
    return true;
}

void tl_diff_gates_write(const tl_diff_gates *gates, char *out, size_t n)
{
    size_t used = 0;
    *out = '\0';
    for (int gate = 0; gate < TL_NDIFF_GATES; gate++)
        if (gates->set[gate] && used < n)
            used += (size_t)snprintf(out + used, n - used, "%s%s>+%g%%", used > 0 ? "," : "", names[gate],
                                     100 * gates->most[gate]);
}

/* Whether the part of the step counts for the threshold. */
static bool counts(tl_diff_gate gate, uint8_t part)
{
    static const uint8_t parts[TL_NDIFF_GATES] = {
        [TL_DIFF_GATE_STEP] = TL_DIFF_STEP,         [TL_DIFF_GATE_COMPUTE] = TL_DIFF_COMPUTE,
        [TL_DIFF_GATE_WAITING] = TL_DIFF_WAITING,   [TL_DIFF_GATE_TRANSFER] = TL_DIFF_TRANSFER,
        [TL_DIFF_GATE_COPY] = TL_DIFF_COPY,         [TL_DIFF_GATE_IDLE] = TL_DIFF_IDLE,
    };
    return gate == TL_DIFF_GATE_COMM ? part == TL_DIFF_WAITING || part == TL_DIFF_TRANSFER || part == TL_DIFF_UNKNOWN
                                     : part == parts[gate];
}

/* The kernel that grows most, of those that take a part of the step that matters; NULL: none. */
static const tl_diff_kernel *worst_kernel(const tl_diff_words *d, double *growth)
{
    const tl_diff_kernel *worst = NULL;
    int64_t step_ns = ((const tl_diff_step *)tl_table_row(d->step, 0))->a_ns;
    *growth = 0;
    TL_ROWS (const tl_diff_kernel, row, d->kernel) {
        double most = (double)tl_ns_max(row->a_ns, row->b_ns);
        double times = row->a_ns > 0 ? (double)row->change_ns / (double)row->a_ns : INFINITY;
        if (most >= TL_DIFF_LEAST * (double)step_ns && row->change_ns > 0 && times > *growth) {
            *growth = times;
            worst = row;
        }
    }
    return worst;
}

bool tl_diff_gates_judge(const tl_diff_gates *gates, const tl_diff_words *d, FILE *err)
{
    bool passed = false;
    for (int gate = 0; gate < TL_NDIFF_GATES; gate++) {
        double share = 0, p = NAN, largest = 0;
        const tl_diff_kernel *kernel = NULL;
        if (!gates->set[gate])
            continue;
        if (gate == TL_DIFF_GATE_KERNEL) {
            kernel = worst_kernel(d, &share);
            p = kernel != NULL && kernel->change == TL_DIFF_SAME ? kernel->p_value : NAN;
        } else {
            TL_ROWS (const tl_diff_step, row, d->step)
                if (counts((tl_diff_gate)gate, row->part)) {
                    share += row->share;
                    p = row->share > largest ? row->p_value : p;
                    largest = fmax(largest, row->share);
                }
        }
        if (!(share > gates->most[gate]))
            continue;
        bool chance = p >= TL_DIFF_ALPHA;
        passed |= !chance;
        fprintf(err, "tlmpi: --fail-on %s>+%g%%: +%.1f %%", names[gate], 100 * gates->most[gate], 100 * share);
        if (kernel != NULL) {
            tl_text name = d->name(d->name_arg, kernel->name);
            fprintf(err, " (%.*s)", (int)name.n, name.p);
        }
        fprintf(err, chance ? ", which may be chance (p = %.2g): not failed\n" : "\n", p);
    }
    return passed;
}
