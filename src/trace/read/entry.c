/* entry.c - begin, process, category and rank of entries. */
#include "entry.h"
#include "tlmpi/base/log.h"
#include "tlmpi/trace/event/values.h"
#include <stdio.h>

/* Entries of the device have its number as their pid, and others a word. */
static void note_pid(tl_seen *seen, const tl_fields *f)
{
    const unsigned of_host = TL_CAT_BIT(TL_CAT_RUNTIME) | TL_CAT_BIT(TL_CAT_DRIVER) | TL_CAT_BIT(TL_CAT_CPU_OP) |
                             TL_CAT_BIT(TL_CAT_USER_ANNOTATION) | TL_CAT_BIT(TL_CAT_PYTHON) |
                             TL_CAT_BIT(TL_CAT_INSTANT);
    const tl_value *cat = tl_fields_get(f, TL_KEY_CAT);

    if (seen->pid == 0 && cat != NULL && (of_host >> tl_cat_of(cat->text) & 1)) {
        int64_t pid = tl_value_int(tl_fields_get(f, TL_KEY_PID), 0);
        seen->pid = pid > 0 ? pid : 0;
    }
}

/* Flows, counters and metadata may have none. */
static bool is_bare_work(const tl_fields *f)
{
    const tl_value *ph = tl_fields_get(f, TL_KEY_PH);
    return ph != NULL && (tl_text_is(ph->text, "X") || tl_text_is(ph->text, "B")) &&
           tl_fields_get(f, TL_KEY_NAME) != NULL;
}

static void note_category(tl_seen *seen, const tl_fields *f)
{
    const tl_value *cat = tl_fields_get(f, TL_KEY_CAT);
    char text[sizeof seen->foreign];

    if (cat == NULL || cat->text.n == 0) {
        seen->has_bare_work = seen->has_bare_work || is_bare_work(f);
        return;
    }
    seen->has_category = seen->has_category || tl_cat_of(cat->text) != TL_CAT_OTHER;
    snprintf(text, sizeof text, "%.*s", cat->text.n < sizeof text ? (int)cat->text.n : (int)sizeof text, cat->text.p);
    if (seen->foreign[0] == '\0' && !seen->has_category)
        tl_printable(seen->foreign, sizeof seen->foreign, text);
}

/* A metadata entry ("ph": "M") may have a ts, but not one of its own. */
bool tl_entry_see(tl_seen *seen, const tl_fields *f)
{
    const tl_value *ph = tl_fields_get(f, TL_KEY_PH), *ts = tl_fields_get(f, TL_KEY_TS);

    if (!seen->has_first)
        seen->first_is_event = ph != NULL;
    seen->has_first = true;
    note_pid(seen, f);
    note_category(seen, f);
    if (ph != NULL && !seen->has_ts && ts != NULL && !tl_text_is(ph->text, "M"))
        seen->has_ts = tl_decimal_us_to_ns(ts->text.p, ts->text.n, &seen->ts_ns) && seen->ts_ns >= 0;
    return ph != NULL;
}

bool tl_seen_is_foreign(const tl_seen *seen)
{
    return (seen->foreign[0] != '\0' || seen->has_bare_work) && !seen->has_category;
}

bool tl_seen_enough(const tl_seen *seen)
{
    return seen->has_ts && !tl_seen_is_foreign(seen);
}

/* Number `at` of a list as "[0, 8, 16]"; -1 where the list is shorter, or abridged ("...") before that. */
static int64_t number_at(tl_text list, int64_t at)
{
    int64_t number = -1;
    tl_text item;

    for (int64_t k = 0; k <= at; k++)
        if (!tl_text_next(&list, &item) || !tl_decimal_to_int(item.p, item.n, &number))
            return -1;
    return number;
}

int64_t tl_entry_rank(const tl_fields *f)
{
    int64_t place = tl_value_int(tl_fields_get(f, TL_KEY_GROUP_RANK), -1), rank;
    if (place < 0 || place > INT32_MAX)
        return -1;
    const tl_value *ranks = tl_fields_get(f, TL_KEY_PG_RANKS);
    rank = ranks != NULL ? number_at(ranks->text, place) : -1;
    if (rank >= 0)
        return rank;
    int64_t start = tl_value_int(tl_fields_get(f, TL_KEY_RANK_START), -1),
            stride = tl_value_int(tl_fields_get(f, TL_KEY_RANK_STRIDE), -1);
    return start < 0 || stride < 1 || start > INT32_MAX || stride > INT32_MAX ? -1 : start + place * stride;
}

bool tl_entry_may_be_device_work(tl_text entry)
{
    static const char *const categories[] = { "\"kernel\"",   "\"Kernel\"", "\"gpu_memcpy\"",     "\"Memcpy\"",
                                              "\"gpu_memset\"", "\"Memset\"", "\"mtia_ccp_events\"" };
    for (size_t i = 0; i < sizeof categories / sizeof categories[0]; i++)
        if (tl_text_has(entry, categories[i]))
            return true;
    return false;
}
