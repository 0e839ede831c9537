/* The kernel over odd shapes, with every buffer exactly as large as the kernel asks for: for the sanitizers. */

#include <stdio.h>
#include <stdlib.h>
#include KERNEL

static float *room(int64_t count) {
    float *p = aligned_alloc(64, (count * sizeof(float) + 63) / 64 * 64);
    for (int64_t i = 0; i < count; ++i) p[i] = (float)(i * 2654435761u % 1000) / 1000.0f - 0.5f;
    return p;
}

static float *exact(int64_t count) { /* malloc: the sanitizer sees the very last byte */
    float *p = malloc(count * sizeof(float));
    for (int64_t i = 0; i < count; ++i) p[i] = (float)(i * 40503u % 997) / 997.0f - 0.5f;
    return p;
}

int main(void) {
    const int64_t rows[] = {1, 5, 119, 120, 121, 250}, widths[] = {1, 3, 15, 16, 17, 33, 64, 80}, inner[] = {0, 1, 3};
    int passed = 0;
    for (int r = 0; r < 6; ++r) for (int w = 0; w < 8; ++w) for (int l = 0; l < 3; ++l) for (int a = 0; a < 4; ++a) {
        Shape s = {rows[r], 1 + (r * 5 + w) % 7, 1 + w % 3, widths[w], inner[l], a, (r + w + a) % 2, 0.2};
        const int64_t weights = offsets(&s).c + 1;
        float *x = exact(s.rows * s.features), *theta = exact(weights), *u = exact(s.rows), *force = exact(s.rows),
              *parts = exact(s.blocks * s.rows), *gradient = exact(weights), *kept = room(eq_kept(&s)),
              *scratch = room(eq_scratch(&s));
        eq_forward(&s, x, theta, u, NULL, parts, scratch, 1);
        const float first = u[0];
        eq_forward(&s, x, theta, u, kept, parts, scratch, 1);
        eq_backward(&s, x, theta, force, kept, gradient, scratch, 1);
        if (first != u[0]) return 2;
        for (int64_t i = 0; i < weights; ++i) if (!(gradient[i] > -1e30f && gradient[i] < 1e30f)) return 3;
        free(x), free(theta), free(u), free(force), free(parts), free(gradient), free(kept), free(scratch);
        ++passed;
    }
    printf("%d shapes passed\n", passed);
    return 0;
}
