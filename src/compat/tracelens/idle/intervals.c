/* intervals.c - the tables of single gaps. */
#include "tlmpi/base/group.h"
#include "tlmpi/compat/tracelens/idle.h"

static tl_cell word_cell(const tl_lens_idle *idle, uint32_t word)
{
    return tl_string(tl_names_text(&idle->words, word));
}

static tl_cell uid_cell(const tl_lens *lens, uint32_t event)
{
    return event != TL_NONE ? tl_int(lens->e->uid[event]) : tl_blank();
}

static tl_cell name_cell(const tl_lens *lens, uint32_t event)
{
    return tl_string(event != TL_NONE ? tl_lens_name(lens, event, "unknown") : TL_TEXT(""));
}

static tl_cell ref_cell(const tl_lens *lens, tl_ref ref)
{
    if (ref == TL_REF_NONE)
        return tl_blank();
    return ref >= TL_REF_TEXT ? tl_string(tl_names_text(&lens->e->names, (uint32_t)(ref & UINT32_MAX))) : tl_int(ref);
}

/* "starved | CPU_DOMINATED | aten::mm" */
static void put_group(tl_csv *csv, const tl_lens_idle *idle, const tl_lens_gap *gap)
{
    const char *const words[] = { tl_lens_drain_word(gap->drained), " | ", tl_lens_cpu_word(gap->cpu), " | " };
    tl_text key = tl_names_text(&idle->words, gap->key);
    tl_bytes group = { 0 };

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        tl_bytes_put(&group, words[i], strlen(words[i]));
    tl_bytes_put(&group, key.p, key.n);
    TL_CELLS(csv, tl_bytes_cell(&group));
    tl_bytes_free(&group);
}

/* The call that waited: its name, number and duration. */
static void put_sync_call(tl_csv *csv, const tl_lens *lens, uint32_t call)
{
    if (call == TL_NONE) {
        TL_CELLS(csv, tl_words(""), tl_blank(), tl_blank());
        return;
    }
    const tl_more *more = &lens->words->more[call];
    TL_CELLS(csv, name_cell(lens, call),
             ref_cell(lens, more->external_id != TL_REF_NONE ? more->external_id : more->correlation),
             tl_number(lens->words->dur[call], more->has & TL_MORE_WHOLE_DUR));
}

static void put_times(tl_csv *csv, const tl_lens_gap *gap)
{
    TL_CELLS(csv, tl_number(gap->lo, gap->lo_whole), tl_number(gap->hi, gap->hi_whole),
             tl_number(tl_lens_duration(gap), tl_lens_gap_is_whole(gap)));
}

static void put_interval(tl_csv *csv, const tl_lens *lens, const tl_lens_idle *idle, const tl_lens_gap *gap)
{
    bool launched = gap->launch != TL_NONE;
    bool whole = launched && tl_lens_whole(lens, gap->next, TL_MORE_WHOLE_TS) &&
                 tl_lens_whole(lens, gap->launch, TL_MORE_WHOLE_TS | TL_MORE_WHOLE_DUR);

    TL_CELLS(csv, tl_int(gap->id));
    put_group(csv, idle, gap);
    put_times(csv, gap);
    TL_CELLS(csv, tl_words(tl_lens_drain_word(gap->drained)), tl_words(tl_lens_sync_word(gap->sync)));
    put_sync_call(csv, lens, gap->sync_call);
    TL_ROW(csv, tl_words(tl_lens_cpu_word(gap->cpu)), word_cell(idle, gap->detail), word_cell(idle, gap->op),
           name_cell(lens, gap->before), name_cell(lens, gap->after), name_cell(lens, gap->launch),
           uid_cell(lens, gap->next), uid_cell(lens, gap->launch), uid_cell(lens, gap->sync_call),
           tl_number(launched ? gap->launch_to_exec : NAN, whole),
           tl_words(!launched        ? ""
                    : gap->prequeued ? "True"
                                     : "False"));
}

static int longest_first(const void *context, uint32_t a, uint32_t b)
{
    const tl_lens_gap *gaps = context;
    return TL_COMPARE(tl_lens_duration(&gaps[b]), tl_lens_duration(&gaps[a]));
}

/* Without macro gaps the table has no columns either. */
static void write_intervals(const tl_lens *lens, const tl_lens_idle *idle, tl_csv_folder *folder)
{
    static const char header[] =
        "idle_id,group,start_us,end_us,duration_us,drain_type,sync_type,sync_event_name,sync_event_correlation,"
        "sync_event_dur,cpu_during_gap,cpu_during_gap_detail,dominant_op,preceding_gpu_event,following_gpu_event,"
        "following_launch_name,following_gpu_uid,following_launch_uid,sync_event_uid,launch_to_exec_us,"
        "kernel_prequeued";
    tl_csv csv = tl_csv_open(folder, "idle_intervals.csv", idle->nmacro > 0 ? header : "");
    uint32_t *order = tl_sorted_index(idle->gaps.n, longest_first, idle->gaps.v);

    for (size_t i = 0; i < idle->gaps.n; i++)
        if (!tl_lens_is_noise(&idle->gaps.v[order[i]]))
            put_interval(&csv, lens, idle, &idle->gaps.v[order[i]]);
    free(order);
    tl_csv_close(&csv);
}

/* Its columns are no data frame's: each number is as it is. */
static void write_noise(const tl_lens_idle *idle, tl_csv_folder *folder)
{
    tl_csv csv = tl_csv_open(folder, "idle_noise.csv", "idle_id,start_us,end_us,duration_us");

    csv.as_is = true;
    for (size_t i = 0; i < idle->gaps.n; i++)
        if (tl_lens_is_noise(&idle->gaps.v[i])) {
            TL_CELLS(&csv, tl_int(idle->gaps.v[i].id));
            put_times(&csv, &idle->gaps.v[i]);
            tl_csv_end_row(&csv);
        }
    tl_csv_close(&csv);
}

void tl_lens_write_gaps(const tl_lens *lens, const tl_lens_idle *idle, tl_csv_folder *folder)
{
    write_intervals(lens, idle, folder);
    write_noise(idle, folder);
}
