/* test_same_file.c - a file that is named more than once is read once, and that is said. */
#include "capture.h"
#include "scratch.h"
#include "unit.h"

#include "tlmpi/trace/find.h"

static void add(tl_inventory *inventory, const char *name)
{
    tl_inventory_add(inventory, scratch_path(name));
}

/* Sorts, frees; what was said, with the folder's name left out; `names` are those that stay, each after a space. */
static const char *left(tl_inventory *inventory, char *names, size_t n)
{
    static char said[8192];
    size_t folder = strlen(scratch_folder) + 1, used = 0;
    capture_begin();
    tl_inventory_sort(inventory);
    snprintf(said, sizeof said, "%s", capture_end());
    for (char *p; (p = strstr(said, scratch_folder)) != NULL;)
        memmove(p, p + folder, strlen(p + folder) + 1);
    *names = '\0';
    for (size_t i = 0; i < inventory->inputs.n; i++)
        used += (size_t)snprintf(names + used, n - used, " %s", inventory->inputs.v[i].path + folder);
    tl_inventory_free(inventory);
    return said;
}

static void a_path_that_is_named_twice(void)
{
    tl_inventory inventory = { 0 };
    char names[200];
    add(&inventory, "t");
    add(&inventory, "t/a.json");
    add(&inventory, "t/./a.json");
    CU_ASSERT_STRING_EQUAL(left(&inventory, names, sizeof names),
                           "tlmpi: warning: t/a.json is named more than once: it is read once\n");
    CU_ASSERT_STRING_EQUAL(names, " t/a.json t/b.json");

    add(&inventory, "t");
    add(&inventory, "t//");
    CU_ASSERT_STRING_EQUAL(left(&inventory, names, sizeof names),
                           "tlmpi: warning: 2 files are named more than once, t/a.json the first of them: each is read once\n");
    CU_ASSERT_STRING_EQUAL(names, " t/a.json t/b.json");

    add(&inventory, "t");
    CU_ASSERT_STRING_EQUAL(left(&inventory, names, sizeof names), "");
}

static void links_are_other_names(void)
{
    tl_inventory inventory = { 0 };
    char names[200];
    add(&inventory, "t");
    add(&inventory, "a_link.json");
    CU_ASSERT_STRING_EQUAL(left(&inventory, names, sizeof names),
                           "tlmpi: warning: a_link.json is another name of t/b.json: the file is read once\n");
    CU_ASSERT_STRING_EQUAL(names, " t/a.json t/b.json");

    /* Through a link to the folder, and a link of the other kind. */
    add(&inventory, "a_folder");
    add(&inventory, "t");
    add(&inventory, "hard.json");
    CU_ASSERT_STRING_EQUAL(left(&inventory, names, sizeof names),
                           "tlmpi: warning: 2 files have several names, as hard.json, which is a_folder/a.json: each is read once\n");
    CU_ASSERT_STRING_EQUAL(names, " a_folder/a.json a_folder/b.json");

    add(&inventory, "a_link.json");
    CU_ASSERT_STRING_EQUAL(left(&inventory, names, sizeof names), "");
    CU_ASSERT_STRING_EQUAL(names, " a_link.json");
}

/* One trace stands for several ranks, as a test of scale would have it; a name without a rank is only a name. */
static void names_of_several_ranks_are_several_files(void)
{
    tl_inventory inventory = { 0 };
    char names[200];
    add(&inventory, "r");
    CU_ASSERT_STRING_EQUAL(left(&inventory, names, sizeof names),
                           "tlmpi: warning: r/latest.json is another name of r/rank-0.json: the file is read once\n");
    CU_ASSERT_STRING_EQUAL(names, " r/rank-0.json r/rank-1.json r/rank-2.json");
}

/* A file system that numbers two files alike must not lose one. */
static void other_sizes_are_other_files(void)
{
    tl_inventory inventory = { 0 };
    char names[200];
    add(&inventory, "t");
    CU_ASSERT_EQUAL_FATAL(inventory.inputs.n, 2);
    inventory.inputs.v[0].inode = inventory.inputs.v[1].inode;
    CU_ASSERT_NOT_EQUAL(inventory.inputs.v[0].bytes, inventory.inputs.v[1].bytes);
    CU_ASSERT_STRING_EQUAL(left(&inventory, names, sizeof names), "");
    CU_ASSERT_STRING_EQUAL(names, " t/a.json t/b.json");
}

static int make_files(void)
{
    if (scratch_make() != 0 || mkdir(scratch_path("t"), 0700) != 0)
        return 1;
    scratch_text("t/a.json", "{}");
    scratch_text("t/b.json", "{ }");
    if (mkdir(scratch_path("r"), 0700) != 0)
        return 1;
    scratch_text("r/rank-0.json", "{   }");
    if (symlink("rank-0.json", scratch_path("r/rank-1.json")) != 0 ||
        symlink("rank-0.json", scratch_path("r/rank-2.json")) != 0 ||
        symlink("rank-0.json", scratch_path("r/latest.json")) != 0)
        return 1;
    return symlink("t/b.json", scratch_path("a_link.json")) != 0 || symlink("t", scratch_path("a_folder")) != 0 ||
           link(scratch_path("t/a.json"), scratch_path("hard.json")) != 0;
}

int main(void)
{
    static const unit_test tests[] = {
        TEST(a_path_that_is_named_twice),
        TEST(links_are_other_names),
        TEST(names_of_several_ranks_are_several_files),
        TEST(other_sizes_are_other_files),
    };
    int failed = make_files();
    failed = failed || unit_main("same file", tests, COUNT(tests));
    scratch_remove();
    return failed;
}
