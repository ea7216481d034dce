/* line.c - the line of a phase, but for its duration: keys sorted, ", " between them and ": " before their values. */
#include "line.h"

#include "json.h"

enum { OWN = 4 };
static const char *const own[OWN] = { "duration_ms", "name", "rank", "step" };

_Static_assert(TLMPI_RECORD_MAX_METADATA == 32, "the words below say so");

/* The i-th key: first our own, which are in order, then those of metadata. */
static const char *key_at(const tl_record_said *said, size_t i)
{
    return i < OWN ? own[i] : said->metadata[i - OWN].key;
}

/* False where two keys are equal. */
static bool sort_keys(tl_record_said *said)
{
    for (size_t i = 0; i < OWN + said->nmetadata; i++) {
        size_t at = i;
        int compared = 1;
        for (; i >= OWN && at > 0; at--) {
            compared = tl_record_text_compare(key_at(said, i), key_at(said, said->order[at - 1]));
            if (compared >= 0)
                break;
            said->order[at] = said->order[at - 1];
        }
        if (compared == 0)
            return false;
        said->order[at] = (unsigned char)i;
    }
    return true;
}

const char *tl_record_line_fault(tl_record_said *said)
{
    tl_record_text nowhere = { .failed = true };
    if (said->name == NULL || said->name[0] == '\0')
        return "it has no name";
    if (said->step < 0 || said->step > INT32_MAX)
        return "a step is 0 to 2147483647";
    if (said->nmetadata > TLMPI_RECORD_MAX_METADATA)
        return "it has more than 32 metadata values";
    if (said->metadata == NULL && said->nmetadata > 0)
        return "it has no metadata, and is said to";
    for (size_t i = 0; i < said->nmetadata; i++) {
        const tlmpi_record_value *value = &said->metadata[i];
        if (value->key == NULL || value->type < TLMPI_RECORD_STRING || value->type > TLMPI_RECORD_JSON)
            return "a metadata value has no key, or no known type";
        if (value->type == TLMPI_RECORD_JSON && value->as.text != NULL && !tl_record_json_add(&nowhere, value->as.text))
            return "a metadata value is no JSON";
    }
    return sort_keys(said) ? NULL : "a metadata key is duration_ms, name, rank or step, or there twice";
}

static void add_value(tl_record_text *text, const tlmpi_record_value *value)
{
    if (value->type == TLMPI_RECORD_INT)
        tl_record_text_integer(text, value->as.integer);
    else if (value->type == TLMPI_RECORD_DOUBLE)
        tl_record_text_double(text, value->as.real);
    else if (value->type == TLMPI_RECORD_BOOL)
        tl_record_text_literal(text, value->as.integer != 0 ? "true" : "false");
    else if (value->as.text == NULL)
        tl_record_text_literal(text, "null");
    else if (value->type == TLMPI_RECORD_JSON)
        (void)tl_record_json_add(text, value->as.text);
    else
        tl_record_text_string(text, value->as.text);
}

void tl_record_line_add(tl_record_text *text, const tl_record_said *said, size_t *duration_at)
{
    for (size_t i = 0; i < OWN + said->nmetadata; i++) {
        tl_record_text_literal(text, i == 0 ? "{" : ", ");
        tl_record_text_string(text, key_at(said, said->order[i]));
        tl_record_text_literal(text, ": ");
        switch (said->order[i]) {
        case 0:
            *duration_at = text->n;
            break;
        case 1:
            tl_record_text_string(text, said->name);
            break;
        case 2:
            tl_record_text_integer(text, said->rank);
            break;
        case 3:
            tl_record_text_integer(text, said->step);
            break;
        default:
            add_value(text, &said->metadata[said->order[i] - OWN]);
        }
    }
    tl_record_text_literal(text, "}\n");
}
