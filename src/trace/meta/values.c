#include "values.h"
#include "tlmpi/base/decimal.h"
#include "tlmpi/base/log.h"
#include <stdlib.h>

/* What a hostile document may make us keep. */
#define GROUPS_MAX ((size_t)65536)
#define RANKS_MAX  ((size_t)16 << 20)

/* ---------------------------------------------------------------------------------------------------------- values */

/* A text of the file, cut to what fits and made safe to show. */
static void set_shown(char *out, size_t cap, tl_text t)
{
    char raw[256];
    size_t n = t.n < sizeof raw ? t.n : sizeof raw - 1;
    bool cut = n < t.n;

    while (cut && n > 0 && ((unsigned char)t.p[n] & 0xc0) == 0x80) /* not inside a character */
        n--;
    if (n > 0)
        memcpy(raw, t.p, n);
    raw[n] = '\0';
    tl_printable(out, cap, raw);
}

/* A rank, a number of ranks: what fits the tables, which hold 32 bits. */
static int64_t count_of(tl_text t)
{
    int64_t value;
    return tl_decimal_to_int(t.p, t.n, &value) && value >= 0 && value <= INT32_MAX ? value : -1;
}

static bool is_host_key(const char *key)
{
    static const char *const words[] = { "host_name", "hostname", "hostName", "HostName", "HOSTNAME", "Hostname" };
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(key, words[i]) == 0)
            return true;
    return false;
}

/* Forgets the groups at the begin of a pg_config: the last pg_config counts. */
static void groups_clear(tl_meta *meta)
{
    for (size_t i = 0; i < meta->groups.n; i++) {
        free(meta->groups.v[i].name);
        free(meta->groups.v[i].desc);
        free(meta->groups.v[i].ranks);
    }
    meta->groups.n = 0;
}

/* A new group.  In a map of groups its key is its name, until it says another. */
static void group_begin(tl_meta_parsing *p)
{
    tl_meta *meta = p->meta;
    bool named = p->path[p->at] == TL_AT_GROUP_MAP;

    p->group = NULL;
    if (meta->groups.n >= GROUPS_MAX)
        return;
    tl_vec_room(&meta->groups);
    p->group = &meta->groups.v[meta->groups.n++];
    *p->group = (tl_pg_config){ 0 };
    if (named)
        p->group->name = tl_strndup(p->group_key, p->ngroup_key);
}

static void group_set(char **out, tl_text t)
{
    char *copy = tl_strndup(t.p, t.n);
    free(*out);
    *out = copy;
}

static void ranks_begin(tl_meta_parsing *p)
{
    if (p->group == NULL)
        return;
    p->nranks -= p->group->nranks;
    p->group->nranks = 0;
}

static void ranks_add(tl_meta_parsing *p, tl_text t)
{
    tl_pg_config *g = p->group;
    int64_t rank = count_of(t);

    if (g == NULL || rank < 0 || p->nranks >= RANKS_MAX)
        return;
    tl_grow((void **)&g->ranks, &g->ranks_cap, g->nranks + 1, sizeof *g->ranks);
    g->ranks[g->nranks++] = (int32_t)rank;
    p->nranks++;
}

/* "[0, 1, ..., 7]": what is no number, the dots of a shortened list among them, is passed over. */
static void ranks_read(tl_meta_parsing *p, tl_text t)
{
    ranks_begin(p);
    while (t.n > 0) {
        size_t n = 0;
        while (n < t.n && memchr("[], \t", t.p[n], 5) == NULL)
            n++;
        if (n > 0)
            ranks_add(p, (tl_text){ t.p, n });
        n += n < t.n;
        t.p += n;
        t.n -= n;
    }
}

void tl_meta_set_base(tl_meta *meta, tl_text digits)
{
    int64_t base;
    if (tl_decimal_to_int(digits.p, digits.n, &base) && base >= 0 && base < TL_BASE_LIMIT) {
        meta->base_ns = base;
        meta->has_base = true;
        meta->bad_base = false;
    } else {
        meta->bad_base = true;
    }
}

/* ------------------------------------------------------------------------------------------- values by their place */

static void in_document(tl_meta_parsing *p, tl_text t)
{
    tl_meta *meta = p->meta;

    if (tl_meta_key_is(p, "baseTimeNanoseconds")) {
        tl_meta_set_base(meta, t);
    } else if (tl_meta_key_is(p, "traceName")) {
        set_shown(meta->trace_name, sizeof meta->trace_name, t);
    } else if (is_host_key(p->key)) {
        set_shown(meta->host, sizeof meta->host, t);
    }
}

static void in_distributed(tl_meta_parsing *p, tl_text t)
{
    tl_meta *meta = p->meta;

    if (tl_meta_key_is(p, "rank"))
        meta->rank = count_of(t);
    else if (tl_meta_key_is(p, "world_size"))
        meta->world_size = count_of(t);
    else if (tl_meta_key_is(p, "backend"))
        set_shown(meta->backend, sizeof meta->backend, t);
    else if (is_host_key(p->key))
        set_shown(meta->host, sizeof meta->host, t);
}

static void in_group(tl_meta_parsing *p, tl_text t)
{
    if (p->group == NULL)
        return;
    if (tl_meta_key_is(p, "pg_name")) {
        group_set(&p->group->name, t);
        return;
    }
    if (tl_meta_key_is(p, "pg_desc")) {
        group_set(&p->group->desc, t);
        return;
    }
    if (tl_meta_key_is(p, "ranks"))
        ranks_read(p, t);
}

void tl_meta_take_scalar(tl_meta_parsing *p, tl_text t)
{
    switch (p->path[p->at]) {
    case TL_AT_DOCUMENT:
        in_document(p, t);
        return;
    case TL_AT_DEVICE:
        if (tl_meta_key_is(p, "name") && p->meta->ndevices == 1)
            set_shown(p->meta->device, sizeof p->meta->device, t);
        return;
    case TL_AT_DISTRIBUTED:
        in_distributed(p, t);
        return;
    case TL_AT_GROUP_MAP:
        if (t.n != 0 && t.p[0] == '[') {
            group_begin(p);
            ranks_read(p, t);
        }
        return;
    case TL_AT_GROUP:
        in_group(p, t);
        return;
    case TL_AT_RANKS:
        ranks_add(p, t);
        return;
    default:
        return;
    }
}

void tl_meta_note_other(tl_meta_parsing *p)
{
    if (p->path[p->at] == TL_AT_DOCUMENT && tl_meta_key_is(p, "baseTimeNanoseconds"))
        p->meta->bad_base = true;
}

void tl_meta_take_bracket(tl_meta_parsing *p, bool object, tl_meta_position *to)
{
    *to = TL_AT_OUTSIDE;
    tl_meta_note_other(p);
    switch (p->path[p->at]) {
    case TL_AT_OUTSIDE:
        if (object)
            *to = p->root;
        return;
    case TL_AT_DOCUMENT:
        if (object && !p->told && tl_meta_key_is(p, "distributedInfo")) {
            *to = TL_AT_DISTRIBUTED;
        } else if (!object && tl_meta_key_is(p, "deviceProperties")) {
            *to = TL_AT_DEVICES;
            p->meta->ndevices = 0;
        }
        return;
    case TL_AT_DEVICES:
        if (object) {
            *to = TL_AT_DEVICE;
            p->meta->ndevices++;
        }
        return;
    case TL_AT_DISTRIBUTED:
        if (tl_meta_key_is(p, "pg_config")) {
            *to = object ? TL_AT_GROUP_MAP : TL_AT_GROUP_LIST;
            groups_clear(p->meta);
            p->nranks = 0;
        }
        return;
    case TL_AT_GROUP_LIST:
        if (object)
            *to = TL_AT_GROUP;
        if (object)
            group_begin(p);
        return;
    case TL_AT_GROUP_MAP:
        *to = object ? TL_AT_GROUP : TL_AT_RANKS;
        group_begin(p);
        return;
    case TL_AT_GROUP:
        if (!object && tl_meta_key_is(p, "ranks")) {
            *to = TL_AT_RANKS;
            ranks_begin(p);
        }
        return;
    default:
        return;
    }
}

void tl_meta_free(tl_meta *meta)
{
    groups_clear(meta);
    free(meta->groups.v);
    *meta = (tl_meta)TL_META_INIT;
}
