/* name.c - the rank, time and host in the names of trace files.
 *
 * Rank: the first rule that holds.
 *
 *     rank       the word "rank", optionally a separator or bracket, then digits, each a whole word: rank-0
 *                rank0_trace  "rank[0]"  trace_rank_0  rank-34.Jul_15_10_52_41.1074  but not if the word before it
 *                makes it another number: local_rank_0  tp_rank_1  lora_rank_16
 *     worker     the same with "worker": worker0_step_12.1698  dlrm_kineto.worker3
 *                but not in worker-3_1234.1698955063520869240, where it is part of a host's name, before a process id
 *     folder     rule rank for the folders above, the nearest first: rank_3/trace.json
 *                (but not rule worker: worker3/ is as often a machine)
 *     number     the whole stem is a number, or words and a number at the end: megatron_kineto_0  trace_3  7  Since
 *                this is a weak sign: only below 100,000, after a letter and one separator, and not after a word that
 *                names something else to count: libkineto_activities_123  step_500  xx-TP-0
 *
 * Names that the system makes (/dev/fd/63) have no rank.  The stem is the base name without .json, .gz, .zst, .trace
 * and .pt.
 *
 * A time is a number of 10, 13, 16 or 19 digits: Unix time in s, ms, us or ns, which handlers write after the host.
 */
#include "internal.h"
#include <strings.h>

#define RANK_DIGITS_MAX 9  /* fits 32 bits, with room */
#define PID_DIGITS_MAX  18 /* fits 64 bits */
#define WEAK_BELOW      100000

/* Whether t has the word at position i, ignoring case. */
static bool has_word_at(tl_text t, size_t i, const char *word)
{
    size_t n = strlen(word);
    return i + n <= t.n && strncasecmp(t.p + i, word, n) == 0;
}

static bool has_word(tl_text t, const char *word)
{
    size_t i = 0;
    while (i < t.n && !has_word_at(t, i, word))
        i++;
    return i < t.n;
}

static bool is_one_of(tl_text t, const char *const *words)
{
    for (; *words != NULL; words++)
        if (t.n == strlen(*words) && has_word_at(t, 0, *words))
            return true;
    return false;
}

/* Returns the letters at the end of t, before one optional separator: the word that qualifies the text after t. */
static tl_text word_before(tl_text t)
{
    size_t end = t.n > 0 && !tl_is_letter(t.p[t.n - 1]) && !tl_is_digit(t.p[t.n - 1]) ? t.n - 1 : t.n;
    size_t start = end;
    while (start > 0 && tl_is_letter(t.p[start - 1]))
        start--;
    return (tl_text){ t.p + start, end - start };
}

static size_t digits_at(tl_text t, size_t i)
{
    size_t n = 0;
    while (i + n < t.n && tl_is_digit(t.p[i + n]))
        n++;
    return n;
}

/* Whether t begins with "_1234.1698955063520869240": process id and time after the name of a host. */
static bool is_pid_and_time(tl_text t)
{
    size_t pid = t.n > 0 && t.p[0] == '_' ? digits_at(t, 1) : 0;
    return pid > 0 && pid + 1 < t.n && t.p[pid + 1] == '.' && digits_at(t, pid + 2) >= 10;
}

/* Returns the digits after the first whole `word` in t that has some; empty: none. */
static tl_text number_after(tl_text t, const char *word)
{
    static const char *const others[] = { "local",  "node",    "group", "tp",  "pp",     "dp",       "ep",   "cp",
                                          "sp",     "vp",      "mp",    "etp", "tensor", "pipeline", "data", "model",
                                          "expert", "context", "stage", "low", "lora",   NULL };
    size_t n = strlen(word);

    for (size_t i = 0; i + n < t.n; i++) {
        if (!has_word_at(t, i, word) || (i > 0 && tl_is_letter(t.p[i - 1])))
            continue;
        if (is_one_of(word_before((tl_text){ t.p, i }), others))
            continue;
        size_t at = i + n;
        while (at < t.n && at < i + n + 2 && strchr("-_.=:# [(", t.p[at]) != NULL && t.p[at] != '\0')
            at++;
        size_t length = digits_at(t, at);
        size_t end = at + length;
        if (length == 0 || length > RANK_DIGITS_MAX || (end < t.n && tl_is_letter(t.p[end])))
            continue;
        if (strcmp(word, "worker") == 0 && is_pid_and_time((tl_text){ t.p + end, t.n - end }))
            continue;
        return (tl_text){ t.p + at, length };
    }
    return (tl_text){ t.p, 0 };
}

/* Returns the digits at the end of the stem; empty: they are not a rank. */
static tl_text number_at_end(tl_text t)
{
    static const char *const others[] = { "activities", "pid",     "step",  "steps", "iter",   "iters", "iteration",
                                          "epoch",      "batch",   "run",   "trial", "repeat", "part",  "layer",
                                          "layers",     "version", "v",     "seed",  "size",   "bs",    "port",
                                          "host",       "node",    "local", "world", "tp",     "pp",    "dp",
                                          "ep",         "cp",      "sp",    "vp",    "mp",     "job",   "id",
                                          "stage",      "ranks",   "gpus",  "rank",  "worker", NULL };
    size_t start = t.n;
    while (start > 0 && tl_is_digit(t.p[start - 1]))
        start--;
    tl_text digits = { t.p + start, t.n - start }, none = { t.p, 0 };
    if (digits.n == 0 || digits.n > RANK_DIGITS_MAX || strtoll(digits.p, NULL, 10) >= WEAK_BELOW)
        return none;
    if (start == 0)
        return digits;

    char separator = t.p[start - 1];
    tl_text word = word_before((tl_text){ t.p, start });
    if ((separator != '_' && separator != '-') || word.n == 0 || is_one_of(word, others))
        return none;
    return digits;
}

/* Returns the part after the last slash. */
static tl_text last_part(tl_text path)
{
    size_t start = path.n;
    while (start > 0 && path.p[start - 1] != '/')
        start--;
    return (tl_text){ path.p + start, path.n - start };
}

static tl_text stem_of(tl_text base)
{
    static const char *const endings[] = { ".gz", ".zst", ".json", ".trace", ".pt", NULL };
    for (const char *const *e = endings; *e != NULL; e++) {
        size_t n = strlen(*e);
        if (base.n > n && has_word_at(base, base.n - n, *e))
            base.n -= n;
    }
    return base;
}

static tl_text rank_word_in(tl_text part)
{
    tl_text digits = number_after(part, "rank");
    return digits.n > 0 ? digits : number_after(part, "worker");
}

/* Whether the system made the name.  Files below /dev/shm are ordinary files. */
static bool is_of_system(const char *path)
{
    return (strncmp(path, "/dev/", 5) == 0 && strncmp(path, "/dev/shm/", 9) != 0) || strncmp(path, "/proc/", 6) == 0;
}

bool tl_path_is_given(const char *path)
{
    struct stat st;
    return !is_of_system(path) && (stat(path, &st) != 0 || S_ISREG(st.st_mode) || S_ISDIR(st.st_mode));
}

tl_text tl_rank_digits(const char *path)
{
    if (is_of_system(path))
        return (tl_text){ path, 0 };
    tl_text left = { path, strlen(path) };
    tl_text base = last_part(left);
    tl_text stem = stem_of(base);
    tl_text digits = rank_word_in(stem);

    left.n -= base.n;
    while (digits.n == 0 && left.n > 0) {
        left.n--; /* the slash */
        tl_text folder = last_part(left);
        digits = number_after(folder, "rank");
        left.n -= folder.n;
    }
    return digits.n > 0 ? digits : number_at_end(stem);
}

int64_t tl_rank_of_name(const char *path)
{
    tl_text digits = tl_rank_digits(path);
    return digits.n > 0 ? strtoll(digits.p, NULL, 10) : -1;
}

int64_t tl_time_of_name(const char *path)
{
    static const struct {
        size_t digits;
        int64_t ns;
    } units[] = { { 10, 1000000000 }, { 13, 1000000 }, { 16, 1000 }, { 19, 1 } };
    tl_text base = last_part((tl_text){ path, strlen(path) });
    int64_t time = -1;

    for (size_t i = 0; i < base.n;) {
        size_t n = digits_at(base, i);
        for (size_t u = 0; u < sizeof units / sizeof units[0]; u++)
            if (n == units[u].digits && base.p[i] >= '1' && base.p[i] <= '8') /* 2001 to 2255, and fits */
                time = strtoll(base.p + i, NULL, 10) * units[u].ns;           /* the last one: times stand at the end */
        i += n > 0 ? n : 1;
    }
    return time;
}

bool tl_name_says_trace(const char *path)
{
    tl_text base = last_part((tl_text){ path, strlen(path) });
    return has_word(base, "trace") || has_word(base, "kineto") || rank_word_in(stem_of(base)).n > 0;
}

tl_text tl_host_of_name(const char *path, int64_t pid)
{
    const tl_text base = last_part((tl_text){ path, strlen(path) }), none = { base.p, 0 };
    const char *trace = strstr(base.p, ".pt.trace.json"), *at = trace;

    if (trace == NULL)
        return none;
    while (at > base.p && tl_is_digit(at[-1])) /* the time */
        at--;
    if (trace - at < 13 || at == base.p || *--at != '.')
        return none;
    const char *pid_end = at;
    while (at > base.p && tl_is_digit(at[-1]))
        at--;
    size_t n = (size_t)(pid_end - at);
    if (n == 0 || n > PID_DIGITS_MAX || (pid > 0 && strtoll(at, NULL, 10) != pid) || at == base.p || *--at != '_')
        return none;
    return (tl_text){ base.p, (size_t)(at - base.p) };
}
