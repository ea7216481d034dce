/* mem_fits.c - available memory, from the system. */
#include "tlmpi/base/mem.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* Reads a file of the system as text; "": there is none. */
static const char *read_text(const char *path, char *text, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, text, size - 1) : 0;
    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = '\0';
    return text;
}

/* Returns the number after a word, at the start of a line or of the text; `none` if there is none. */
static uint64_t number_after(const char *text, const char *word, uint64_t none)
{
    const char *at = strstr(text, word);
    char *end;
    if (at == NULL)
        return none;
    at += strlen(word);
    uint64_t n = strtoull(at, &end, 10);
    return end > at ? n : none;
}

static uint64_t difference_or_zero(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

/* Returns the available address space: its limit (ulimit -v) less what is mapped. */
static uint64_t left_of_process(void)
{
    char text[256];
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return UINT64_MAX;
    uint64_t pages = number_after(read_text("/proc/self/statm", text, sizeof text), "", 0);
    return difference_or_zero(limit.rlim_cur, pages * (uint64_t)sysconf(_SC_PAGESIZE));
}

/* Returns the limit of the process's group (cgroup v2) less the group's memory without cached files. */
static uint64_t left_of_group(void)
{
    char text[4096], folder[512], path[sizeof folder + 32];
    const char *group = strstr(read_text("/proc/self/cgroup", text, sizeof text), "0::/");
    size_t n = group != NULL ? strcspn(group + 3, "\n") : 0;
    if (n == 0 || n > 400)
        return UINT64_MAX;
    snprintf(folder, sizeof folder, "/sys/fs/cgroup%.*s", (int)n, group + 3);
    snprintf(path, sizeof path, "%s/memory.max", folder);
    uint64_t most = number_after(read_text(path, text, sizeof text), "", UINT64_MAX);
    if (most == UINT64_MAX)
        return most;
    snprintf(path, sizeof path, "%s/memory.current", folder);
    uint64_t used = number_after(read_text(path, text, sizeof text), "", 0);
    snprintf(path, sizeof path, "%s/memory.stat", folder);
    read_text(path, text, sizeof text);
    return difference_or_zero(most, difference_or_zero(used, number_after(text, "\nfile ", 0)));
}

/* Returns the memory that the machine can give without ending a process. */
static uint64_t left_of_machine(void)
{
    char text[4096];
    read_text("/proc/meminfo", text, sizeof text);
    uint64_t kilobytes = number_after(text, "MemAvailable:", UINT64_MAX);
    return kilobytes != UINT64_MAX ? (kilobytes + number_after(text, "SwapFree:", 0)) * 1024 : kilobytes;
}

/* Returns the resident memory of this process. */
static uint64_t resident(void)
{
    char text[256];
    return number_after(read_text("/proc/self/statm", text, sizeof text), " ", 0) * (uint64_t)sysconf(_SC_PAGESIZE);
}

static uint64_t limit = UINT64_MAX;

void tl_mem_set_limit(uint64_t most, int procs)
{
    const uint64_t group = left_of_group(), machine = left_of_machine(), left = group < machine ? group : machine;
    limit = most > 0 ? most : left < UINT64_MAX ? resident() + left / 4 * 3 / (uint64_t)procs : UINT64_MAX;
}

bool tl_mem_fits(size_t n)
{
    return n <= left_of_process() && n <= left_of_group() && n <= left_of_machine();
}

bool tl_mem_within_limit(size_t n)
{
    return limit == UINT64_MAX || n <= difference_or_zero(limit, resident());
}
