/* intervals.c - the tables of single gaps. */
#include "tlmpi/base/sort.h"
#include "tlmpi/compat/sheet.h"
#include "tlmpi/compat/tracelens/idle.h"
#include <math.h>
#include <stdlib.h>

static void put_word(tl_sheet *sheet, const tl_lens_idle *idle, uint32_t word)
{
    tl_sheet_text(sheet, tl_names_text(&idle->words, word));
}

static void put_uid(tl_sheet *sheet, const tl_lens *lens, uint32_t event)
{
    if (event != TL_NONE)
        tl_sheet_int(sheet, lens->e->uid[event]);
    else
        tl_sheet_blank(sheet);
}

static void put_name(tl_sheet *sheet, const tl_lens *lens, uint32_t event)
{
    tl_sheet_text(sheet, event != TL_NONE ? tl_lens_name(lens, event, "unknown") : TL_TEXT(""));
}

static void put_ref(tl_sheet *sheet, const tl_lens *lens, tl_ref ref)
{
    if (ref == TL_REF_NONE)
        tl_sheet_blank(sheet);
    else if (ref >= TL_REF_TEXT)
        tl_sheet_text(sheet, tl_names_text(&lens->e->names, (uint32_t)(ref & UINT32_MAX)));
    else
        tl_sheet_int(sheet, ref);
}

/* "starved | CPU_DOMINATED | aten::mm" */
static bool put_group(tl_sheet *sheet, const tl_lens_idle *idle, const tl_lens_gap *gap)
{
    const char *drain = tl_lens_drain_word(gap->drained), *cpu = tl_lens_cpu_word(gap->cpu);
    tl_text key = tl_names_text(&idle->words, gap->key);
    size_t size = strlen(drain) + strlen(cpu) + key.n + 7;
    char *text = tl_malloc(size);
    if (text == NULL)
        return false;
    int n = snprintf(text, size, "%s | %s | ", drain, cpu);
    memcpy(text + n, key.p, key.n);
    tl_sheet_text(sheet, (tl_text){ text, (size_t)n + key.n });
    free(text);
    return true;
}

/* The call that waited: its name, number and duration. */
static void put_sync_call(tl_sheet *sheet, const tl_lens *lens, uint32_t call)
{
    put_name(sheet, lens, call);
    if (call == TL_NONE) {
        tl_sheet_blank(sheet);
        tl_sheet_blank(sheet);
        return;
    }
    const tl_more *more = &lens->words->more[call];
    put_ref(sheet, lens, more->external_id != TL_REF_NONE ? more->external_id : more->correlation);
    tl_sheet_number(sheet, lens->words->dur[call], more->has & TL_MORE_WHOLE_DUR);
}

static bool put_interval(tl_sheet *sheet, const tl_lens *lens, const tl_lens_idle *idle, const tl_lens_gap *gap)
{
    tl_sheet_int(sheet, gap->id);
    if (!put_group(sheet, idle, gap))
        return false;
    tl_sheet_number(sheet, gap->lo, gap->lo_whole);
    tl_sheet_number(sheet, gap->hi, gap->hi_whole);
    tl_sheet_number(sheet, tl_lens_duration(gap), tl_lens_gap_is_whole(gap));
    tl_sheet_words(sheet, tl_lens_drain_word(gap->drained));
    tl_sheet_words(sheet, tl_lens_sync_word(gap->sync));
    put_sync_call(sheet, lens, gap->sync_call);
    tl_sheet_words(sheet, tl_lens_cpu_word(gap->cpu));
    put_word(sheet, idle, gap->detail);
    put_word(sheet, idle, gap->op);
    put_name(sheet, lens, gap->before);
    put_name(sheet, lens, gap->after);
    put_name(sheet, lens, gap->launch);
    put_uid(sheet, lens, gap->next);
    put_uid(sheet, lens, gap->launch);
    put_uid(sheet, lens, gap->sync_call);
    if (gap->launch != TL_NONE)
        tl_sheet_number(sheet, gap->launch_to_exec,
                        tl_lens_whole(lens, gap->next, TL_MORE_WHOLE_TS) &&
                            tl_lens_whole(lens, gap->launch, TL_MORE_WHOLE_TS | TL_MORE_WHOLE_DUR));
    else
        tl_sheet_blank(sheet);
    tl_sheet_words(sheet, gap->launch == TL_NONE ? "" : gap->prequeued ? "True" : "False");
    tl_sheet_end_row(sheet);
    return true;
}

static int longest_first(const void *a, const void *b)
{
    const tl_lens_gap *x = *(const tl_lens_gap *const *)a, *y = *(const tl_lens_gap *const *)b;
    double d = tl_lens_duration(y) - tl_lens_duration(x);
    return d != 0 ? TL_COMPARE(d, 0) : TL_COMPARE(x->id, y->id);
}

/* Without macro gaps the table has no columns either. */
static tl_status write_intervals(const tl_lens *lens, const tl_lens_idle *idle, const char *dir, tl_error *err)
{
    static const char header[] =
        "idle_id,group,start_us,end_us,duration_us,drain_type,sync_type,sync_event_name,sync_event_correlation,"
        "sync_event_dur,cpu_during_gap,cpu_during_gap_detail,dominant_op,preceding_gpu_event,following_gpu_event,"
        "following_launch_name,following_gpu_uid,following_launch_uid,sync_event_uid,launch_to_exec_us,"
        "kernel_prequeued";
    tl_sheet sheet;
    bool ok = true;

    const tl_lens_gap **v = tl_lens_macro_gaps(idle);
    if (v == NULL)
        return tl_fail_memory(err, "the gaps of a rank");
    tl_status st = tl_sheet_open(&sheet, dir, "idle_intervals.csv", idle->nmacro > 0 ? header : "", err);
    if (st != TL_OK) {
        free(v);
        return st;
    }
    if (idle->nmacro > 0)
        qsort(v, idle->nmacro, sizeof *v, longest_first);
    tl_sheet_look(&sheet);
    for (size_t i = 0; ok && i < idle->nmacro; i++)
        ok = put_interval(&sheet, lens, idle, v[i]);
    tl_sheet_write(&sheet);
    for (size_t i = 0; ok && i < idle->nmacro; i++)
        ok = put_interval(&sheet, lens, idle, v[i]);
    free(v);
    if (!ok) {
        tl_sheet_abandon(&sheet);
        return tl_fail_memory(err, "a row of a table");
    }
    return tl_sheet_close(&sheet, err);
}

/* Its columns are no data frame's: each number is as it is. */
static tl_status write_noise(const tl_lens_idle *idle, const char *dir, tl_error *err)
{
    tl_sheet sheet;
    tl_status st = tl_sheet_open(&sheet, dir, "idle_noise.csv", "idle_id,start_us,end_us,duration_us", err);
    if (st != TL_OK)
        return st;

    for (size_t i = 0; i < idle->gaps.n; i++) {
        const tl_lens_gap *gap = &idle->gaps.v[i];
        if (!tl_lens_is_noise(gap))
            continue;
        tl_sheet_int(&sheet, gap->id);
        tl_sheet_number(&sheet, gap->lo, gap->lo_whole);
        tl_sheet_number(&sheet, gap->hi, gap->hi_whole);
        tl_sheet_number(&sheet, tl_lens_duration(gap), tl_lens_gap_is_whole(gap));
        tl_sheet_end_row(&sheet);
    }
    return tl_sheet_close(&sheet, err);
}

tl_status tl_lens_write_gaps(const tl_lens *lens, const tl_lens_idle *idle, const char *dir, tl_error *err)
{
    tl_status st = write_intervals(lens, idle, dir, err);
    return st == TL_OK ? write_noise(idle, dir, err) : st;
}
