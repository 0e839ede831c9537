/* A block-diagonal surface, forward and backward, one channel and one tile of rows at a time.

       h_0 = a(x·W_0 + b_0),   h_l = a(h_(l-1)·W_l + b_l) [+ h_(l-1)],   u(x) = c + sum over channels of h_last·v

   Channels do not meet before the last sum (pso.tex 5136-5200). So a thread takes one channel, and carries TILE rows of
   it through all layers while they are in its cache; nothing goes to memory but the z = h·W + b of every layer, which
   the backward pass reads again. (Keeping a(z) and a'(z) instead costs more in memory than the exponential they save.) All matrix products are one routine, `multiply`, over register blocks of GCC vectors;
   LANES floats make a vector: 16 for AVX-512, 8 for AVX2, 4 for NEON and SSE.

   Every height is computed by the same operations in the same order wherever its row stands in a batch, and however many
   threads there are: results do not depend on either. Gradients are summed by tile first, then over tiles.

   Flat weights:  W_0 [B, d, w], b_0 [B, w],  then W_l [B, w, w], b_l [B, w] of each inner layer,  v [B, w],  c.      */

#include <stdint.h>
#include <string.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#ifndef LANES
#define LANES 4
#endif
#define TILE 120 /* rows; a multiple of every register block's height */
#define INLINE static inline __attribute__((always_inline))
#ifdef __clang__
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif

typedef float vec __attribute__((vector_size(4 * LANES)));
typedef float anywhere __attribute__((vector_size(4 * LANES), aligned(4), may_alias));
typedef int32_t ivec __attribute__((vector_size(4 * LANES)));

enum { LEAKY_RELU, RELU, TANH, SILU };

typedef struct {
    int64_t rows, features, blocks, width, inner, activation, residual;
    double slope;
} Shape;

/* ---- vectors ---------------------------------------------------------------------------------------------------- */

INLINE vec load(const float *p) { return *(const anywhere *)p; }
INLINE void store(float *p, vec v) { *(anywhere *)p = v; }
INLINE vec all(float s) { return s - (vec){0}; }
INLINE vec choose(ivec where, vec yes, vec no) { return (vec)((where & (ivec)yes) | (~where & (ivec)no)); }

/* Past the cache: what is written is not read before the backward pass. */
INLINE void stream(float *p, vec v) {
#if LANES == 16 && defined(__AVX512F__)
    _mm512_stream_ps(p, (__m512)v);
#elif LANES == 8 && defined(__AVX__)
    _mm256_stream_ps(p, (__m256)v);
#else
    store(p, v);
#endif
}

INLINE float sum(vec v) {
    float total = 0.0f;
    for (int i = 0; i < LANES; ++i) total += v[i];
    return total;
}

/* e^x by 2^n·e^r, |r| <= log(2)/2, and a polynomial of degree 6; within 2 units in the last place, NaN stays NaN. */
INLINE vec exponential(vec x) {
    x = choose(x > 88.0f, all(88.0f), x);
    x = choose(x < -87.0f, all(-87.0f), x);
    const vec shifted = x * 1.44269504088896341f + 12582912.0f; /* rounds to an integer in the low bits */
    const vec n = shifted - 12582912.0f;
    vec r = x - n * 0.693359375f;
    r = r + n * 2.12194440e-4f;
    vec p = all(1.9875691500e-4f);
    p = p * r + 1.3981999507e-3f;
    p = p * r + 8.3334519073e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    p = p * r + 5.0000001201e-1f;
    p = p * r * r + r + 1.0f;
    return p * (vec)(((ivec)shifted + 127) << 23);
}

/* 1/v for v >= 1: an estimate and two of Newton's steps where there is one, which is twice as fast as a division. */
INLINE vec inverse(vec v) {
#if LANES == 16 && defined(__AVX512F__)
    vec r = (vec)_mm512_rcp14_ps((__m512)v);
    r = r * (2.0f - v * r);
    return r * (2.0f - v * r);
#else
    return 1.0f / v;
#endif
}

INLINE vec sigmoid(vec z) { return inverse(1.0f + exponential(-z)); }

INLINE vec hyperbolic_tangent(vec z) {
    const vec s = z * z; /* near zero by a polynomial, or the difference below would lose the small ones */
    vec p = all(-5.70498872745e-3f);
    p = p * s + 2.06390887954e-2f;
    p = p * s - 5.37397155531e-2f;
    p = p * s + 1.33314422036e-1f;
    p = p * s - 3.33332819422e-1f;
    const vec near = p * s * z + z, far = 1.0f - 2.0f * inverse(1.0f + exponential(2.0f * z));
    return choose((z < 0.625f) & (z > -0.625f), near, far);
}

/* a(z), and a'(z) where it takes an exponential too. */
INLINE vec activate(int activation, vec z, float slope, vec *derivative) {
    vec t;
    switch (activation) {
    case RELU: return choose(z < 0.0f, all(0.0f), z);
    case TANH: t = hyperbolic_tangent(z); *derivative = 1.0f - t * t; return t;
    case SILU: t = sigmoid(z); *derivative = t + z * t * (1.0f - t); return z * t;
    default: return choose(z > 0.0f, z, z * slope);
    }
}

INLINE int smooth(int activation) { return activation == TANH || activation == SILU; }

/* a'(z) from itself where it was kept, and from z otherwise. */
INLINE vec derivative(int activation, vec seen, float slope) {
    return smooth(activation) ? seen : choose(seen > 0.0f, all(1.0f), all(activation == RELU ? 0.0f : slope));
}

/* ---- matrix products -------------------------------------------------------------------------------------------- */

/* What is done with a block of a product, by the use it is put to. */
enum { FORWARD, BACKWARD, GRADIENT };

typedef struct {
    int use, activation;
    float slope;
    const float *bias;     /* FORWARD: added to every row */
    float *kept, *out;     /* FORWARD: z goes to kept, h to out; BACKWARD: ∂z goes to out; GRADIENT: sums go to out */
    const float *slopes;   /* BACKWARD: a'(z), or z where it follows at once */
    float *skip;           /* where layers are residual: FORWARD h_(l-1); BACKWARD ∂h, read and written */
    float *bias_gradient;  /* BACKWARD: sums of ∂z */
    long stride;           /* of every matrix above */
} Finish;

INLINE void finish(const Finish *f, int height, int vectors, vec acc[16][4], long i0, long j0) {
    vec sums[4];
    UNROLL for (int j = 0; j < vectors; ++j) sums[j] = (vec){0};
    UNROLL for (int i = 0; i < height; ++i) UNROLL for (int j = 0; j < vectors; ++j) {
        const long at = (i0 + i) * f->stride + j0 + j * LANES;
        if (f->use == FORWARD) {
            vec unused;
            vec h = activate(f->activation, acc[i][j], f->slope, &unused);
            if (f->kept) stream(f->kept + at, acc[i][j]);
            if (f->skip) h += load(f->skip + at);
            store(f->out + at, h);
        } else if (f->use == BACKWARD) {
            vec dh = acc[i][j];
            if (f->skip) {
                dh += load(f->skip + at);
                store(f->skip + at, dh);
            }
            const vec dz = dh * derivative(f->activation, load(f->slopes + at), f->slope);
            store(f->out + at, dz);
            sums[j] += dz;
        } else {
            store(f->out + at, load(f->out + at) + acc[i][j]);
        }
    }
    if (f->use == BACKWARD) UNROLL for (int j = 0; j < vectors; ++j) {
        float *b = f->bias_gradient + j0 + j * LANES;
        store(b, load(b) + sums[j]);
    }
}

/* A block of a·b: `height` rows by `vectors` vectors, held in registers along the whole depth. */
INLINE void block(const Finish *f, int height, int vectors, const float *a, long row, long step, const float *b, long ldb,
                  long depth, long i0, long j0) {
    vec acc[16][4];
    UNROLL for (int j = 0; j < vectors; ++j) {
        const vec start = f->use == FORWARD ? load(f->bias + j0 + j * LANES) : (vec){0};
        UNROLL for (int i = 0; i < height; ++i) acc[i][j] = start;
    }
    a += i0 * row;
    b += j0;
    for (long k = 0; k < depth; ++k, a += step, b += ldb) {
        vec right[4];
        UNROLL for (int j = 0; j < vectors; ++j) right[j] = load(b + j * LANES);
        UNROLL for (int i = 0; i < height; ++i) {
            const float left = a[i * row];
            UNROLL for (int j = 0; j < vectors; ++j) acc[i][j] += left * right[j];
        }
    }
    finish(f, height, vectors, acc, i0, j0);
}

INLINE void columns(const Finish *f, int height, int vectors, const float *a, long row, long step, const float *b,
                    long ldb, long depth, long m, long j0) {
    long i = 0;
    for (; i + height <= m; i += height) block(f, height, vectors, a, row, step, b, ldb, depth, i, j0);
    for (; i + 4 <= m; i += 4) block(f, 4, vectors, a, row, step, b, ldb, depth, i, j0);
    for (; i < m; ++i) block(f, 1, vectors, a, row, step, b, ldb, depth, i, j0);
}

#if LANES == 8 || defined(__SSE2__) && LANES == 4 /* 16 registers */
#define WIDEST 2
#define HEIGHT_1 10
#define HEIGHT_2 6
#else /* 32 registers */
#define WIDEST 4
#define HEIGHT_1 12
#define HEIGHT_2 12
#endif
#define HEIGHT_4 6

/* a (m, depth) with steps (row, step), times b (depth, n): n a multiple of LANES. */
INLINE void multiply(const Finish *f, const float *a, long row, long step, const float *b, long ldb, long depth, long m,
                     long n) {
    long j = 0;
#if WIDEST == 4
    for (; j + 4 * LANES <= n; j += 4 * LANES) columns(f, HEIGHT_4, 4, a, row, step, b, ldb, depth, m, j);
#endif
    for (; j + 2 * LANES <= n; j += 2 * LANES) columns(f, HEIGHT_2, 2, a, row, step, b, ldb, depth, m, j);
    for (; j < n; j += LANES) columns(f, HEIGHT_1, 1, a, row, step, b, ldb, depth, m, j);
}

/* A gradient is a sum over rows: hᵀ·∂z; its blocks suit a few rows of weights. */
INLINE void multiply_gradient(const Finish *f, const float *h, long ldh, const float *dz, long ldb, long depth, long m,
                              long n) {
    long j = 0;
#if WIDEST == 4
    for (; j + 2 * LANES <= n; j += 2 * LANES) columns(f, 8, 2, h, 1, ldh, dz, ldb, depth, m, j);
    for (; j < n; j += LANES) columns(f, 16, 1, h, 1, ldh, dz, ldb, depth, m, j);
#else
    for (; j + 2 * LANES <= n; j += 2 * LANES) columns(f, 6, 2, h, 1, ldh, dz, ldb, depth, m, j);
    for (; j < n; j += LANES) columns(f, 12, 1, h, 1, ldh, dz, ldb, depth, m, j);
#endif
}

/* ---- one channel ------------------------------------------------------------------------------------------------ */

/* A channel's weights with padded rows, and places for a tile, all in one thread's scratch. */
typedef struct {
    long padded, first, matrix, layers;       /* floats in a row, in W_0, in an inner W; layers of z */
    float *w0, *b0, *w, *b, *v;               /* weights; w and b hold all inner layers */
    float *g0, *gb0, *g, *gb, *gv;            /* their gradients, in the same order */
    float *transposed;                        /* inner weights */
    float *h, *slopes, *dz, *next, *dh;       /* of a tile: h and a'(z) of every layer; gradients */
} Channel;

INLINE long padded(long width) { return (width + LANES - 1) / LANES * LANES; }

static long lay_out(const Shape *s, float *at, Channel *c) {
    const long p = padded(s->width), tile = TILE * p;
    c->padded = p, c->first = s->features * p, c->matrix = s->width * p, c->layers = s->inner + 1;
    float *const start = at;
    float **const weights[] = {&c->w0, &c->b0, &c->w, &c->b, &c->v}, **const gradients[] = {&c->g0, &c->gb0, &c->g, &c->gb, &c->gv};
    const long sizes[] = {c->first, p, s->inner * c->matrix, s->inner * p, p};
    for (int i = 0; i < 5; ++i) *weights[i] = at, at += sizes[i];
    for (int i = 0; i < 5; ++i) *gradients[i] = at, at += sizes[i];
    c->transposed = at, at += s->inner * c->matrix;
    c->h = at, at += c->layers * tile;
    c->slopes = at, at += c->layers * tile;
    c->dz = at, at += tile;
    c->next = at, at += tile;
    c->dh = at, at += tile;
    return at - start;
}

typedef struct {
    int64_t w0, b0, inner, per_layer, v, c;
} Offsets;

static Offsets offsets(const Shape *s) {
    const int64_t wide = s->blocks * s->width;
    Offsets o = {0};
    o.b0 = s->features * wide;
    o.inner = o.b0 + wide;
    o.per_layer = s->width * wide + wide;
    o.v = o.inner + s->inner * o.per_layer;
    o.c = o.v + wide;
    return o;
}

/* Rows of w floats to rows of p and the other way. */
static void copy_rows(float *scratch, float *flat, long rows, long w, long p, int out) {
    for (long i = 0; i < rows; ++i) {
        if (out) {
            memcpy(flat + i * w, scratch + i * p, w * sizeof(float));
        } else {
            memcpy(scratch + i * p, flat + i * w, w * sizeof(float));
            memset(scratch + i * p + w, 0, (p - w) * sizeof(float));
        }
    }
}

/* Carry one channel's weights from the flat vector into scratch, or its gradients out of scratch. */
static void carry(const Shape *s, const Channel *c, float *flat, long channel, int out) {
    const Offsets o = offsets(s);
    const long w = s->width, p = c->padded;
    copy_rows(out ? c->g0 : c->w0, flat + o.w0 + channel * s->features * w, s->features, w, p, out);
    copy_rows(out ? c->gb0 : c->b0, flat + o.b0 + channel * w, 1, w, p, out);
    copy_rows(out ? c->gv : c->v, flat + o.v + channel * w, 1, w, p, out);
    for (int64_t l = 0; l < s->inner; ++l) {
        float *const layer = flat + o.inner + l * o.per_layer;
        copy_rows((out ? c->g : c->w) + l * c->matrix, layer + channel * w * w, w, w, p, out);
        copy_rows((out ? c->gb : c->b) + l * p, layer + s->blocks * w * w + channel * w, 1, w, p, out);
    }
}

static void transpose(const Shape *s, const Channel *c) {
    for (int64_t l = 0; l < s->inner; ++l) {
        const float *const w = c->w + l * c->matrix;
        float *const t = c->transposed + l * c->matrix;
        memset(t, 0, c->matrix * sizeof(float));
        for (long i = 0; i < s->width; ++i)
            for (long j = 0; j < s->width; ++j) t[j * c->padded + i] = w[i * c->padded + j];
    }
}

INLINE void forward_tile(const Shape *s, const Channel *c, int activation, const float *x, long rows, float *kept,
                         float *part) {
    const long p = c->padded, d = s->features;
    float *h = c->h;
    Finish f = {.use = FORWARD, .activation = activation, .slope = (float)s->slope, .stride = p};
    f.bias = c->b0, f.kept = kept, f.out = h, f.skip = NULL;
    multiply(&f, x, d, 1, c->w0, p, d, rows, p);
    for (int64_t l = 0; l < s->inner; ++l) {
        float *const before = h;
        h = h == c->h ? c->next : c->h;
        f.bias = c->b + l * p, f.kept = kept ? kept + (l + 1) * TILE * p : NULL;
        f.out = h, f.skip = s->residual ? before : NULL;
        multiply(&f, before, p, 1, c->w + l * c->matrix, p, s->width, rows, p);
    }
    for (long i = 0; i < rows; ++i) {
        vec dot = load(h + i * p) * load(c->v);
        for (long j = LANES; j < p; j += LANES) dot += load(h + i * p + j) * load(c->v + j);
        part[i] = sum(dot);
    }
}

INLINE void backward_tile(const Shape *s, const Channel *c, int activation, const float *x, long rows, const float *kept,
                          const float *force) {
    const long p = c->padded, d = s->features, tile = TILE * p;
    const float slope = (float)s->slope;
    for (long l = 0; l < c->layers; ++l) { /* h and a'(z) of every layer again */
        const float *const z = kept + l * tile, *const before = c->h + (l - 1) * tile;
        const int skip = s->residual && l > 0;
        for (long i = 0; i < rows * p; i += LANES) {
            vec rate = {0};
            const vec h = activate(activation, load(z + i), slope, &rate);
            store(c->h + l * tile + i, skip ? h + load(before + i) : h);
            if (smooth(activation)) store(c->slopes + l * tile + i, rate);
        }
    }
    const float *const slopes = smooth(activation) ? c->slopes : kept;
    const float *const last = c->h + (c->layers - 1) * tile, *const last_slopes = slopes + (c->layers - 1) * tile;
    float *const bias = c->layers > 1 ? c->gb + (c->layers - 2) * p : c->gb0;
    for (long j = 0; j < p; j += LANES) {
        vec gv = {0}, gb = {0};
        const vec v = load(c->v + j);
        for (long i = 0; i < rows; ++i) {
            const long at = i * p + j;
            const vec dh = force[i] * v, dz = dh * derivative(activation, load(last_slopes + at), slope);
            gv += force[i] * load(last + at);
            gb += dz;
            store(c->dz + at, dz);
            if (s->residual) store(c->dh + at, dh);
        }
        store(c->gv + j, load(c->gv + j) + gv);
        store(bias + j, load(bias + j) + gb);
    }
    float *dz = c->dz, *next = c->next;
    Finish sums = {.use = GRADIENT, .stride = p}, down = {.use = BACKWARD, .activation = activation, .slope = slope, .stride = p};
    for (int64_t l = s->inner - 1; l >= 0; --l) {
        sums.out = c->g + l * c->matrix;
        multiply_gradient(&sums, c->h + l * tile, p, dz, p, rows, s->width, p);
        down.slopes = slopes + l * tile, down.out = next, down.skip = s->residual ? c->dh : NULL;
        down.bias_gradient = l > 0 ? c->gb + (l - 1) * p : c->gb0;
        multiply(&down, dz, p, 1, c->transposed + l * c->matrix, p, s->width, rows, p);
        float *const spare = dz;
        dz = next, next = spare;
    }
    sums.out = c->g0;
    multiply_gradient(&sums, x, d, dz, p, rows, d, p);
}

/* One copy of the code for every activation, so that no branch is left in the loops. */
#define COPY(name, activation, TILE_FUNCTION, KEPT, LAST)                                                        \
    static void name(const Shape *s, const Channel *c, const float *x, long rows, KEPT *kept, LAST *last) {      \
        TILE_FUNCTION(s, c, activation, x, rows, kept, last);                                                    \
    }
#define COPIES(name, TILE_FUNCTION, KEPT, LAST)                     \
    COPY(name##_leaky_relu, LEAKY_RELU, TILE_FUNCTION, KEPT, LAST)  \
    COPY(name##_relu, RELU, TILE_FUNCTION, KEPT, LAST)              \
    COPY(name##_tanh, TANH, TILE_FUNCTION, KEPT, LAST)              \
    COPY(name##_silu, SILU, TILE_FUNCTION, KEPT, LAST)
COPIES(forward, forward_tile, float, float)
COPIES(backward, backward_tile, const float, const float)

typedef void (*Forward)(const Shape *, const Channel *, const float *, long, float *, float *);
typedef void (*Backward)(const Shape *, const Channel *, const float *, long, const float *, const float *);
static const Forward forwards[] = {forward_leaky_relu, forward_relu, forward_tanh, forward_silu};
static const Backward backwards[] = {backward_leaky_relu, backward_relu, backward_tanh, backward_silu};

/* ---- all channels ----------------------------------------------------------------------------------------------- */

INLINE long tiles(const Shape *s) { return (s->rows + TILE - 1) / TILE; }

/* Floats of scratch that one thread needs; floats to keep between forward and backward. */
int64_t eq_scratch(const Shape *s) {
    Channel c;
    return (lay_out(s, NULL, &c) + 15) / 16 * 16;
}

int64_t eq_kept(const Shape *s) {
    return s->blocks * tiles(s) * (s->inner + 1) * TILE * padded(s->width);
}

typedef struct Task Task;
struct Task {
    const Shape *shape;
    const float *x, *theta, *force;
    float *kept, *parts, *gradient, *scratch;
    void (*channel)(const Task *, const Channel *, int64_t channel);
    int64_t next, threads; /* channels given out, threads that have come */
};

/* Of whichever OpenMP the process has: both compilers' libraries export it, so either compiler's code runs on either. */
extern void GOMP_parallel(void (*work)(void *), void *data, unsigned threads, unsigned flags) __attribute__((weak));

static void take_channels(void *data) {
    Task *const task = data;
    const int64_t thread = __atomic_fetch_add(&task->threads, 1, __ATOMIC_RELAXED);
    Channel c;
    lay_out(task->shape, task->scratch + thread * eq_scratch(task->shape), &c);
    for (int64_t i; (i = __atomic_fetch_add(&task->next, 1, __ATOMIC_RELAXED)) < task->shape->blocks;) {
        carry(task->shape, &c, (float *)task->theta, i, 0);
        task->channel(task, &c, i);
    }
}

static void all_channels(Task *task, int threads) {
    if (threads > 1 && GOMP_parallel) GOMP_parallel(take_channels, task, threads, 0);
    else take_channels(task);
}

static void channel_forward(const Task *task, const Channel *c, int64_t channel) {
    const Shape *const s = task->shape;
    const int64_t each = eq_kept(s) / s->blocks / tiles(s);
    for (int64_t t = 0; t < tiles(s); ++t) {
        const int64_t first = t * TILE, rows = s->rows - first < TILE ? s->rows - first : TILE;
        forwards[s->activation](s, c, task->x + first * s->features, rows,
                                task->kept ? task->kept + (channel * tiles(s) + t) * each : NULL,
                                task->parts + channel * s->rows + first);
    }
#if defined(__x86_64__)
    _mm_sfence(); /* what was streamed is there before another thread reads it */
#endif
}

static void channel_backward(const Task *task, const Channel *c, int64_t channel) {
    const Shape *const s = task->shape;
    const int64_t each = eq_kept(s) / s->blocks / tiles(s);
    transpose(s, c);
    memset(c->g0, 0, (c->transposed - c->g0) * sizeof(float));
    for (int64_t t = 0; t < tiles(s); ++t) {
        const int64_t first = t * TILE, rows = s->rows - first < TILE ? s->rows - first : TILE;
        backwards[s->activation](s, c, task->x + first * s->features, rows,
                                 task->kept + (channel * tiles(s) + t) * each, task->force + first);
    }
    carry(s, c, task->gradient, channel, 1);
}

/* Heights u (n,) of rows x (n, d). kept may be null; parts is (blocks, n). */
void eq_forward(const Shape *s, const float *x, const float *theta, float *u, float *kept, float *parts, float *scratch,
                int threads) {
    Task task = {.shape = s, .x = x, .theta = theta, .kept = kept, .parts = parts, .scratch = scratch};
    task.channel = channel_forward;
    all_channels(&task, threads);
    const float constant = theta[offsets(s).c];
    for (int64_t i = 0; i < s->rows; ++i) u[i] = constant;
    for (int64_t channel = 0; channel < s->blocks; ++channel)
        for (int64_t i = 0; i < s->rows; ++i) u[i] += parts[channel * s->rows + i];
}

/* The gradient of Σ force·u in the flat weights, from what the forward pass kept. */
void eq_backward(const Shape *s, const float *x, const float *theta, const float *force, const float *kept, float *gradient,
                 float *scratch, int threads) {
    Task task = {.shape = s, .x = x, .theta = theta, .force = force, .kept = (float *)kept, .scratch = scratch};
    task.gradient = gradient, task.channel = channel_backward;
    all_channels(&task, threads);
    double constant = 0.0;
    for (int64_t i = 0; i < s->rows; ++i) constant += force[i];
    gradient[offsets(s).c] = (float)constant;
}
