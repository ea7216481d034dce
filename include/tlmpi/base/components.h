/* components.h - connected components of n elements: a union-find forest.
 *
 * up[n]: the caller sets up[i] = i.  The root of a component is its lowest element.
 */
#ifndef TLMPI_BASE_COMPONENTS_H
#define TLMPI_BASE_COMPONENTS_H

#include <stdint.h>

/* Returns the root of x's component, and shortens the path to the root. */
static inline uint32_t tl_component_of(uint32_t *up, uint32_t x)
{
    while (up[x] != x)
        x = up[x] = up[up[x]];
    return x;
}

/* Unites the components of a and b; returns the root. */
static inline uint32_t tl_components_join(uint32_t *up, uint32_t a, uint32_t b)
{
    a = tl_component_of(up, a);
    b = tl_component_of(up, b);
    return up[a > b ? a : b] = a > b ? b : a;
}

#endif
