/* yajl_alone.c - a JSON file through yajl with callbacks that do nothing: what the parser itself costs.
 *
 * Numbers come as text, as in the program, so nothing is spent on converting them.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <yajl/yajl_parse.h>

#define BLOCK ((size_t)256 << 10)

static int on_null(void *context)
{
    (void)context;
    return 1;
}

static int on_boolean(void *context, int value)
{
    (void)context, (void)value;
    return 1;
}

static int on_number(void *context, const char *text, size_t n)
{
    (void)context, (void)text, (void)n;
    return 1;
}

static int on_text(void *context, const unsigned char *text, size_t n)
{
    (void)context, (void)text, (void)n;
    return 1;
}

static const yajl_callbacks callbacks = {
    .yajl_null = on_null,
    .yajl_boolean = on_boolean,
    .yajl_number = on_number,
    .yajl_string = on_text,
    .yajl_start_map = on_null,
    .yajl_map_key = on_text,
    .yajl_end_map = on_null,
    .yajl_start_array = on_null,
    .yajl_end_array = on_null,
};

/* 0 when the file is one JSON document. */
static int parse(const char *path, int fd, yajl_handle yajl)
{
    static unsigned char block[BLOCK];

    for (;;) {
        ssize_t n = read(fd, block, sizeof block);
        if (n < 0) {
            fprintf(stderr, "%s: %s\n", path, strerror(errno));
            return 1;
        }
        if ((n > 0 ? yajl_parse(yajl, block, (size_t)n) : yajl_complete_parse(yajl)) != yajl_status_ok) {
            unsigned char *why = yajl_get_error(yajl, 0, NULL, 0);
            fprintf(stderr, "%s: %s", path, (const char *)why);
            yajl_free_error(yajl, why);
            return 1;
        }
        if (n == 0)
            return 0;
    }
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: yajl_alone FILE\n");
        return 2;
    }
    int fd = open(argv[1], O_RDONLY);
    if (fd < 0) {
        fprintf(stderr, "%s: %s\n", argv[1], strerror(errno));
        return 1;
    }
    yajl_handle yajl = yajl_alloc(&callbacks, NULL, NULL);
    int status = yajl != NULL ? parse(argv[1], fd, yajl) : 1;
    if (yajl != NULL)
        yajl_free(yajl);
    (void)close(fd);
    return status;
}
