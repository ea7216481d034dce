/* scratch.h - files for a test, in a folder of its own that goes away with it. */
#ifndef TESTS_UNIT_SCRATCH_H
#define TESTS_UNIT_SCRATCH_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

static char scratch_folder[64];

static inline int scratch_make(void)
{
    snprintf(scratch_folder, sizeof scratch_folder, "/tmp/tlmpi-test-XXXXXX");
    return mkdtemp(scratch_folder) == NULL;
}

static inline void scratch_remove_tree(const char *folder)
{
    char path[4096];
    struct stat st;
    DIR *dir = opendir(folder);
    struct dirent *entry;

    while (dir != NULL && (entry = readdir(dir)) != NULL) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        if (snprintf(path, sizeof path, "%s/%s", folder, entry->d_name) >= (int)sizeof path)
            continue;
        if (lstat(path, &st) == 0 && S_ISDIR(st.st_mode))
            scratch_remove_tree(path);
        else
            (void)unlink(path);
    }
    if (dir != NULL)
        (void)closedir(dir);
    (void)rmdir(folder);
}

static inline int scratch_remove(void)
{
    scratch_remove_tree(scratch_folder);
    return 0;
}

/* The path of a name in the folder; good for the next eight calls. */
static inline const char *scratch_path(const char *name)
{
    static char paths[8][1024];
    static unsigned next;
    char *path = paths[next++ % 8];
    snprintf(path, sizeof paths[0], "%s/%s", scratch_folder, name);
    return path;
}

/* Writes n bytes to a file of that name; its path. */
static inline const char *scratch_write(const char *name, const void *bytes, size_t n)
{
    const char *path = scratch_path(name);
    FILE *f = fopen(path, "wb");
    if (f == NULL || fwrite(bytes, 1, n, f) != n || fclose(f) != 0) {
        perror(path);
        exit(1);
    }
    return path;
}

static inline const char *scratch_text(const char *name, const char *text)
{
    return scratch_write(name, text, strlen(text));
}

/* The whole of a file in the folder, up to 64 kB; good until the next call. */
static inline const char *scratch_content(const char *name)
{
    static char text[65536];
    FILE *f = fopen(scratch_path(name), "rb");
    size_t n = f != NULL ? fread(text, 1, sizeof text - 1, f) : 0;
    text[n] = '\0';
    if (f == NULL)
        return "(no file)";
    (void)fclose(f);
    return text;
}

/* One gzip member of the text to out, which has room for it; its length. */
static inline size_t scratch_gzip(const void *text, size_t n, int level, unsigned char *out, size_t cap)
{
    z_stream z = {
        .next_in = (unsigned char *)(size_t)text, .avail_in = (uInt)n, .next_out = out, .avail_out = (uInt)cap
    };
    if (deflateInit2(&z, level, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY) != Z_OK ||
        deflate(&z, Z_FINISH) != Z_STREAM_END || deflateEnd(&z) != Z_OK) {
        fprintf(stderr, "cannot deflate\n");
        exit(1);
    }
    return cap - z.avail_out;
}

#endif
