/* names.c - the table of names and categories, with the properties that HTA derives from a text: its class as a kernel,
 * its traits, its step; shortened names; and the bars of HTA's timeline, with their names.
 *
 *     communication   nccl..., hip..., hccl..., or ncclKernel anywhere
 *     memory          Memcpy..., Memset..., dma...
 *     other           synchronisation and launches; Memcpy, Memset, dma or Sync anywhere
 *     computation     the rest
 *
 * The first line that matches decides; case counts.  Hence a HIP copy is communication, other collective libraries are
 * computation, and a compute kernel with "Sync" in its name is "other".
 */
#include "frame.h"
#include "tlmpi/base/group.h"
#include "tlmpi/model/schema.h"
#include <fnmatch.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>

const char *const tl_hta_class_labels[TL_HTA_NCLASSES] = {
    [TL_HTA_COMPUTATION] = "COMPUTATION",
    [TL_HTA_COMMUNICATION] = "COMMUNICATION",
    [TL_HTA_MEMORY] = "MEMORY",
    [TL_HTA_OTHER] = "OTHER",
};

const tl_hta_rule tl_hta_rules[] = {
    /* pattern, class, seen */
    { "nccl*", TL_HTA_COMMUNICATION, "ncclDevKernel_AllReduce_Sum_bf16_RING_LL" },
    { "hip*", TL_HTA_COMMUNICATION, "hipMemcpyAsync" },
    { "hccl*", TL_HTA_COMMUNICATION, "hccl_all_reduce" },
    { "*ncclKernel*", TL_HTA_COMMUNICATION, "void ncclKernel_AllGather<int>(int)" },
    { "Memcpy*", TL_HTA_MEMORY, "Memcpy HtoD (Pageable -> Device)" },
    { "Memset*", TL_HTA_MEMORY, "Memset (Device)" },
    { "dma*", TL_HTA_MEMORY, "dma_load" },
    { "Stream Wait Event*", TL_HTA_OTHER, "Stream Wait Event" },
    { "runFunction*", TL_HTA_OTHER, "runFunction - job_prep" },
    { "job_exe*", TL_HTA_OTHER, "job_exe" },
    { "packet*", TL_HTA_OTHER, "packet" },
    { "pe_exe*", TL_HTA_OTHER, "pe_exe" },
    { "cpum_exe_subgraph*", TL_HTA_OTHER, "cpum_exe_subgraph" },
    { "collective_subgraph_execution*", TL_HTA_OTHER, "collective_subgraph_execution" },
    { "cuda*LaunchKernel*", TL_HTA_OTHER, "cudaLaunchKernel" },
    { "*Memcpy*", TL_HTA_OTHER, "cudaMemcpyAsync" },
    { "*Memset*", TL_HTA_OTHER, "cudaMemsetAsync" },
    { "*dma*", TL_HTA_OTHER, "void sdma_copy(int)" },
    { "*Sync*", TL_HTA_OTHER, "Stream Sync" },
    { "*", TL_HTA_COMPUTATION, "ampere_sgemm_32x32_sliced1x4_tn" },
};
const size_t tl_hta_nrules = sizeof tl_hta_rules / sizeof tl_hta_rules[0];

const tl_hta_rule *tl_hta_rule_of(tl_text name)
{
    const tl_hta_rule *rule = tl_hta_rules;
    while (fnmatch(rule->pattern, name.p, 0) != 0)
        rule++;
    return rule;
}

/* Returns the k of a name "ProfilerStep#k", blanks around the '#' allowed; -1: no number follows.  The number is cut
 * after 18 digits, which an int64_t holds. */
static int64_t step_of(tl_text name)
{
    char digits[19];
    return sscanf(name.p, "ProfilerStep # %18[0-9]", digits) == 1 ? strtoll(digits, NULL, 10) : -1;
}

/* Traits of texts, by patterns as in fnmatch. */
static const struct {
    unsigned traits;
    const char *pattern;
} meanings[] = {
    { TL_HTA_QUEUES | TL_HTA_LOCKS | TL_HTA_OF_NVIDIA, "cudaLaunchKernel" },
    { TL_HTA_QUEUES, "cudaLaunchKernelExC" },
    { TL_HTA_QUEUES, "cuLaunchKernel" },
    { TL_HTA_QUEUES, "cuLaunchKernelEx" },
    { TL_HTA_QUEUES | TL_HTA_LOCKS | TL_HTA_BLOCKS, "cudaMemcpyAsync" },
    { TL_HTA_QUEUES, "cudaMemsetAsync" },
    { TL_HTA_QUEUES | TL_HTA_OF_MTIA, "runFunction - job_prep_and_submit_for_execution" },
    { TL_HTA_QUEUES | TL_HTA_OF_AMD, "hipLaunchKernel" },
    { TL_HTA_QUEUES, "hipExtModuleLaunchKernel" },
    { TL_HTA_QUEUES, "hipMemsetAsync" },
    { TL_HTA_QUEUES, "hipMemcpyAsync" },
    { TL_HTA_QUEUES, "hipMemcpyWithStream" },
    { TL_HTA_LOCKS, "cudaHostAlloc" },
    { TL_HTA_BLOCKS, "cudaDeviceSynchronize" },
    { TL_HTA_BLOCKS, "cudaStreamSynchronize" },
    { TL_HTA_BLOCKS, "cudaEventQuery" },
    { TL_HTA_BLOCKS, "cudaEventSynchronize" },
    { TL_HTA_BLOCKS, "cudaMemcpy" },
    { TL_HTA_IS_WORK, "kernel" },
    { TL_HTA_IS_WORK, "Kernel" },
    { TL_HTA_IS_WORK, "gpu_memset" },
    { TL_HTA_IS_WORK, "Memset" },
    { TL_HTA_IS_WORK, "gpu_memcpy" },
    { TL_HTA_IS_WORK, "Memcpy" },
    { TL_HTA_IS_WORK, "mtia_ccp_events" },
    { TL_HTA_HAS_NODES | TL_HTA_NAMES_THREAD, "cpu_op" },
    { TL_HTA_HAS_NODES, "cuda_runtime" },
    { TL_HTA_HAS_NODES, "cuda_driver" },
    { TL_HTA_NAMES_THREAD, "user_annotation" },
    { TL_HTA_IS_ATEN, "aten::*" },
    { TL_HTA_IS_NCCL, "ncclKernel*" },
    { TL_HTA_IS_FORWARD, "*forward*" },
    { TL_HTA_IS_AUTOGRAD, "*autograd*" },
    { TL_HTA_LAUNCHES_OP, "cuda*LaunchKernel*" },
    { TL_HTA_LAUNCHES_OP, "cuLaunchKernel*" },
    { TL_HTA_LAUNCHES_OP, "runFunction*" },
    { TL_HTA_IS_SYNC, "Event Sync" },
    { TL_HTA_IS_SYNC, "Context Sync" },
    { TL_HTA_STEP_ROW, "ProfilerStep*" },
    { TL_HTA_STEP_MARK, "ProfilerStep#*" },
    { TL_HTA_STEP_NAME, "ProfilerStep#[0-9]*" },
    { TL_HTA_BACKWARD, "*autograd::*" },
    { TL_HTA_BACKWARD_MARK, "## backward ##*" },
};

static tl_hta_symbol symbol_of(tl_text name)
{
    tl_hta_symbol symbol = { .class = tl_hta_rule_of(name)->class };

    for (size_t i = 0; i < sizeof meanings / sizeof *meanings; i++)
        symbol.traits |= fnmatch(meanings[i].pattern, name.p, 0) == 0 ? meanings[i].traits : 0;
    symbol.step = symbol.traits & TL_HTA_STEP_ROW ? step_of(name) : -1;
    return symbol;
}

uint32_t tl_hta_symbol_id(tl_hta_symbols *symbols, tl_text text)
{
    uint32_t id = tl_names_intern(&symbols->texts, text.p, text.n);
    if (id == symbols->v.n)
        tl_vec_push(&symbols->v, symbol_of(tl_hta_text(symbols, id)));
    return id;
}

int tl_hta_by_text(const void *symbols, uint32_t a, uint32_t b)
{
    return a == b ? 0 : tl_text_compare(tl_hta_text(symbols, a), tl_hta_text(symbols, b));
}

void tl_hta_symbols_free(tl_hta_symbols *symbols)
{
    tl_names_free(&symbols->texts);
    free(symbols->v.v);
    *symbols = (tl_hta_symbols){ 0 };
}

/* ---------------------------------------------------------------------------------------------------- shorter names */

/* A name on a plot has at most PLOT_CHARS characters; a longer name keeps the first KEPT_CHARS, and "..." follows. */
#define PLOT_CHARS 44
#define KEPT_CHARS 42

/* A closing bracket removes the text back to the last opening bracket of its kind, with any brackets of the other kind
 * between; without an opening bracket, the whole text so far.  "->" is dropped and closes nothing.  Names of copies and
 * memsets, of any class, stay. */
void tl_hta_short_name(tl_bytes *out, tl_text name)
{
    static const char *const copies[] = { "Memcpy", "hipMemcpy", "Memset", "hipMemset", "dma" };
    size_t n = 0;

    out->n = 0;
    tl_bytes_put(out, name.p, name.n);
    tl_bytes_put(out, "", 1);
    out->n--;
    for (size_t i = 0; i < sizeof copies / sizeof copies[0]; i++)
        if (tl_text_starts(name, copies[i]))
            return;
    if (!tl_text_has(name, "<") && !tl_text_has(name, "("))
        return;
    for (size_t i = 0; i < name.n; i++) {
        char c = name.p[i], opening = c == '>' ? '<' : '(';
        if (c == '-' && i + 1 < name.n && name.p[i + 1] == '>') {
            i++;
        } else if (c != '>' && c != ')') {
            out->v[n++] = c;
        } else {
            while (n > 0 && out->v[n - 1] != opening)
                n--;
            n -= n > 0;
        }
    }
    size_t from = n;
    while (from > 0 && out->v[from - 1] != ' ')
        from--;
    memmove(out->v, out->v + from, n - from);
    out->n = n - from;
    out->v[out->n] = '\0';
}

size_t tl_hta_file_words(char *out, size_t most, const char *text)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
    size_t n = 0;

    for (; *text != '\0' && n < most; text++) {
        text += strncmp(text, "::", 2) == 0;
        out[n++] = strchr(plain, *text) != NULL ? *text : '_';
    }
    out[n] = '\0';
    return n;
}

/* ------------------------------------------------------------------------------------------------------ on a plot */

size_t tl_hta_nth_character(tl_text t, size_t n)
{
    size_t i = 0;
    while (i < t.n && (((unsigned char)t.p[i] & 0xc0) == 0x80 || n-- > 0))
        i++;
    return i;
}

/* Every byte beyond ASCII counts as a letter. */
#define WORD  "A-Za-z0-9_\x80-\xff"
#define BLANK " \t-\r"

/* Names that stay as they are; and the part of other names that a plot shows. */
#define KEPT  "^(##[^\n]+##|<[^\n]+>|Mem[" WORD "]+([" BLANK "]+[" WORD "]+)?[" BLANK "]+\\([^\n]+\\))$"
#define SHOWN "^(void[" BLANK "]+)?([" WORD BLANK ":.#<>,]+)"

void tl_hta_timeline_name(tl_bytes *out, tl_text name)
{
    static const char *const shorter[][2] = { { "(anonymous namespace)::", "anon::" },
                                              { "autograd::engine::evaluate_function: ", "autograd::" } };
    static regex_t kept, shown;
    static bool ready;
    regmatch_t part[3];

    ready = ready || (regcomp(&kept, KEPT, REG_EXTENDED | REG_NOSUB) | regcomp(&shown, SHOWN, REG_EXTENDED)) == 0;
    out->n = 0;
    if (regexec(&kept, name.p, 0, NULL, 0) == 0) {
        tl_bytes_put(out, name.p, name.n + 1);
    } else {
        for (size_t i = tl_text_starts(name, "void ") ? 5 : 0; i < name.n; i++) {
            size_t k = 0;
            while (k < 2 && !tl_text_starts((tl_text){ name.p + i, name.n - i }, shorter[k][0]))
                k++;
            tl_bytes_put(out, k < 2 ? shorter[k][1] : name.p + i, k < 2 ? strlen(shorter[k][1]) : 1);
            i += k < 2 ? strlen(shorter[k][0]) - 1 : 0;
        }
        tl_bytes_put(out, "", 1);
        if (regexec(&shown, out->v, 3, part, 0) == 0) {
            out->n = (size_t)(part[2].rm_eo - part[2].rm_so);
            memmove(out->v, out->v + part[2].rm_so, out->n++);
        }
    }
    out->n--; /* the 0 at the end */
    if (tl_hta_nth_character(tl_bytes_text(out), PLOT_CHARS) < out->n) {
        out->n = tl_hta_nth_character(tl_bytes_text(out), KEPT_CHARS);
        tl_bytes_put(out, "...", 3);
    }
    tl_bytes_put(out, "", 1);
    out->n--;
}

/* ------------------------------------------------------------------------------------------------ tables of names */

enum { ON_HOST = 1, ON_STREAM = 2 };

/* Writes the host names that shortening changes, then the device names. */
void tl_hta_names(tl_hta_job *job)
{
    const tl_hta_symbols *symbols = job->symbols;
    tl_csv csv = tl_csv_open(&job->out, "names.csv", "device,name,kernel_type,short_name,timeline_name");
    unsigned char *places = tl_calloc(symbols->v.n, 1); /* by symbol: where rows of this name are */
    uint32_t *ids = tl_malloc(symbols->v.n * sizeof *ids);
    tl_bytes shorter = { 0 }, plotted = { 0 };

    TL_EACH (const tl_hta_frame, frame, job->frames)
        TL_EACH (const tl_hta_row, row, frame->rows)
            places[row->name] |= tl_hta_on_stream(row) ? ON_STREAM : ON_HOST;
    for (int place = ON_HOST; place <= ON_STREAM; place++) {
        size_t n = 0;
        for (uint32_t i = 0; i < symbols->v.n; i++) {
            tl_text name = tl_hta_text(symbols, i);
            if ((places[i] & place) && (place == ON_STREAM || tl_text_has(name, "<") || tl_text_has(name, "(")))
                ids[n++] = i;
        }
        tl_sort_index(ids, n, tl_hta_by_text, symbols);
        for (size_t i = 0; i < n; i++) {
            tl_text name = tl_hta_text(symbols, ids[i]);
            tl_hta_short_name(&shorter, name);
            tl_hta_timeline_name(&plotted, name);
            TL_ROW(&csv, place == ON_STREAM ? "gpu" : "cpu", name,
                   place == ON_STREAM ? tl_hta_class_labels[symbols->v.v[ids[i]].class] : "", &shorter, &plotted);
        }
    }
    tl_bytes_free(&shorter);
    tl_bytes_free(&plotted);
    free(places);
    free(ids);
    if (!tl_csv_close_rows(&csv))
        tl_hta_note(&job->out, "names: all ranks: no name is shortened and none is a kernel's");
}

/* ------------------------------------------------------------------------------------------------------- the bars */

/* The bars of HTA's timeline, one for each row on a stream.  A bar's start is relative to the first bar of its rank; a
 * bar is at least SHORTEST_US long, to be visible. */
#define SHORTEST_US 1000

typedef struct bar {
    const tl_hta_row *row;
    char label[32];
} bar;

/* Sorted by the label's text; ties by start. */
static int by_line(const void *a, const void *b)
{
    const bar *x = a, *y = b;
    const int order = strcmp(x->label, y->label);
    return order != 0 ? order : TL_COMPARE(x->row->ts, y->row->ts);
}

/* As in HTA, a name is shortened twice in a row, and if no stream is above 0, all streams are plotted on one line. */
void tl_hta_timeline_gpu(tl_hta_job *job)
{
    uint32_t *shown = tl_malloc_none(job->symbols->v.n); /* symbol -> its id in `texts` */
    tl_names texts = { 0 };
    tl_bytes once = { 0 }, twice = { 0 };
    tl_csv csv = tl_csv_open(&job->out, "timeline_gpu.csv",
                             "index,task,calibrated_start_global,calibrated_end_global,name,rank");

    TL_EACH (const tl_hta_frame, frame, job->frames) {
        TL_VEC(bar) bars = { 0 };
        double zero = INFINITY;
        int64_t last_stream = 0;
        TL_EACH (const tl_hta_row, row, frame->rows)
            if (tl_hta_on_stream(row)) {
                tl_vec_push(&bars, (bar){ .row = row });
                zero = fmin(zero, row->ts);
                last_stream = row->stream > last_stream ? row->stream : last_stream;
            }
        TL_EACH (bar, b, bars)
            snprintf(b->label, sizeof b->label, last_stream > 0 ? "gpu stream %03lld" : "gpu annotate",
                     (long long)b->row->stream);
        tl_vec_sort(&bars, by_line);
        TL_EACH (const bar, b, bars) {
            uint32_t *name = &shown[b->row->name];
            if (*name == UINT32_MAX) {
                tl_hta_timeline_name(&once, tl_hta_name(frame, b->row));
                tl_hta_timeline_name(&twice, tl_bytes_text(&once));
                *name = tl_names_intern(&texts, twice.v, twice.n);
            }
            TL_ROW(&csv, b->row->index, b->label, b->row->ts - zero, b->row->ts - zero + fmax(b->row->dur, SHORTEST_US),
                   tl_names_text(&texts, *name), frame->rank);
        }
        free(bars.v);
    }
    tl_bytes_free(&once);
    tl_bytes_free(&twice);
    tl_names_free(&texts);
    free(shown);
    if (!tl_csv_close_rows(&csv))
        tl_hta_note(&job->out, "timeline_gpu: all ranks: no GPU events, where HTA has no timeline");
}
