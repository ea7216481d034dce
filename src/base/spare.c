/* spare.c - whether an output would take the place of an input. */
#include "tlmpi/base/spare.h"
#include <stdio.h>
#include <sys/stat.h>

static bool is_file(const char *path, uint64_t device, uint64_t inode)
{
    struct stat there;
    return stat(path, &there) == 0 && (uint64_t)there.st_dev == device && (uint64_t)there.st_ino == inode;
}

bool tl_spare_is(const char *path, uint64_t device, uint64_t inode)
{
    char part[4096];
    if (inode == 0)
        return false;
    return is_file(path, device, inode) ||
           ((size_t)snprintf(part, sizeof part, "%s.part", path) < sizeof part && is_file(part, device, inode));
}

tl_status tl_spare_input(const char *path, const char *input, tl_error *err)
{
    struct stat read;
    if (stat(input, &read) != 0 || !S_ISREG(read.st_mode) ||
        !tl_spare_is(path, (uint64_t)read.st_dev, (uint64_t)read.st_ino))
        return TL_OK;
    return tl_fail(err, TL_EUSAGE, "-o %s would write over %s, which is read", path, input);
}
