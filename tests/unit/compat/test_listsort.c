/* test_listsort.c - Python's order, also of what has none. */
#include "tlmpi/compat/python.h"
#include "unit.h"

/* Each remainder by 7 stands before the next three, round and round. */
static bool in_a_circle(void *context, uint32_t a, uint32_t b)
{
    uint32_t ahead = (b % 7 + 7 - a % 7) % 7;
    (void)context;
    return ahead >= 1 && ahead <= 3;
}

static bool by_fifty(void *context, uint32_t a, uint32_t b)
{
    (void)context;
    return a / 50 < b / 50;
}

static bool by_value(void *context, uint32_t a, uint32_t b)
{
    size_t *asked = context;
    if (asked != NULL)
        ++*asked;
    return a < b;
}

static uint32_t mixed(uint32_t i)
{
    return i * 7919 % 1013;
}

/* Runs up and down, for galloping. */
static uint32_t in_runs(uint32_t i)
{
    return i / 300 % 2 == 1 ? i * i / 97 % 4096 : 10000 - i;
}

/* Of the sorted values, folded into one number; what sorted(..., key=cmp_to_key(...)) gives in Python 3.11. */
static void the_outcome_is_pythons(void)
{
    static const struct {
        uint32_t n;
        uint64_t circle, circle_of_runs, fifty, value;
    } known[] = {
        { 2, 0x33cu, 0x270f000042858du, 0x33cu, 0x270f000042858du },
        { 3, 0x889320007409337u, 0x84e0a300710630cbu, 0x28300000447d5u, 0x84e0a300710630cbu },
        { 31, 0x97fab3fadbf08334u, 0x36f0946a4894b185u, 0xb796ff7290da0962u, 0x36f0946a4894b185u },
        { 63, 0x373107e41dc513a8u, 0xd2da162dae2d4d35u, 0xa57f187a46cc0fb4u, 0xd2da162dae2d4d35u },
        { 64, 0x546f3d039e08c4f3u, 0xc3bc997b63ed43a0u, 0xbb3ac79db44db4dbu, 0xc3bc997b63ed43a0u },
        { 65, 0xa0ee4453f6b239a9u, 0xc5fc3f37ecf03a70u, 0xa40e98bdf292b81bu, 0xc5fc3f37ecf03a70u },
        { 100, 0xfe1176102f771876u, 0x93665eb2a1ec65eau, 0xd76a26230b4c150au, 0x93665eb2a1ec65eau },
        { 1000, 0x5e327696219b0a80u, 0x61432477b0ee57eeu, 0x738e0e8d2354822cu, 0xd2afb2908764b4eu },
        { 5003, 0xe64ce56232fb44a6u, 0xf9bd6890be540bfu, 0xe84aea69e42724ceu, 0xabaff0da328a9ee9u },
    };
    for (size_t k = 0; k < COUNT(known); k++) {
        const struct {
            uint32_t (*value)(uint32_t);
            tl_before *before;
            uint64_t folded;
        } sorts[] = {
            { mixed, in_a_circle, known[k].circle },
            { in_runs, in_a_circle, known[k].circle_of_runs },
            { mixed, by_fifty, known[k].fifty },
            { in_runs, by_value, known[k].value },
        };
        for (size_t j = 0; j < COUNT(sorts); j++) {
            static uint32_t v[5003];
            uint64_t folded = 0;
            for (uint32_t i = 0; i < known[k].n; i++)
                v[i] = sorts[j].value(i);
            tl_python_sort(v, known[k].n, sorts[j].before, NULL);
            for (uint32_t i = 0; i < known[k].n; i++)
                folded = folded * 1099511628211u + v[i];
            CU_ASSERT_EQUAL(folded, sorts[j].folded);
        }
    }
}

static void what_is_in_order_is_looked_at_once(void)
{
    static uint32_t v[10000];
    size_t asked = 0;
    for (uint32_t i = 0; i < COUNT(v); i++)
        v[i] = i;
    tl_python_sort(v, COUNT(v), by_value, &asked);
    CU_ASSERT_EQUAL(asked, COUNT(v) - 1);
    tl_python_sort(v, 0, by_value, &asked);
    tl_python_sort(v, 1, by_value, &asked);
    CU_ASSERT_EQUAL(asked, COUNT(v) - 1);
}

static const unit_test tests[] = {
    TEST(the_outcome_is_pythons),
    TEST(what_is_in_order_is_looked_at_once),
};

int main(void)
{
    return unit_main("list sort", tests, COUNT(tests));
}
