/* Notes allocations of 64 KiB or more, whoever makes them: preloaded, it stands before malloc and its relatives. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <sys/mman.h>

static long largest, count;

static void note(size_t size) {
    if (size < 65536) return;
    __atomic_fetch_add(&count, 1, __ATOMIC_RELAXED);
    if ((long)size > largest) largest = size;
}

void eq_reset(void) { largest = count = 0; }
long eq_largest(void) { return largest; }
long eq_count(void) { return count; }

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t),
    *__libc_memalign(size_t, size_t);

void *malloc(size_t size) { return note(size), __libc_malloc(size); }
void *calloc(size_t n, size_t size) { return note(n * size), __libc_calloc(n, size); }
void *realloc(void *p, size_t size) { return note(size), __libc_realloc(p, size); }
void *memalign(size_t alignment, size_t size) { return note(size), __libc_memalign(alignment, size); }
void *aligned_alloc(size_t alignment, size_t size) { return note(size), __libc_memalign(alignment, size); }
int posix_memalign(void **p, size_t alignment, size_t size) {
    note(size);
    *p = __libc_memalign(alignment, size);
    return *p ? 0 : 12;
}
void *mmap(void *p, size_t size, int protection, int flags, int file, off_t at) {
    static void *(*real)(void *, size_t, int, int, int, off_t);
    if (!real) real = (void *(*)(void *, size_t, int, int, int, off_t))dlsym(RTLD_NEXT, "mmap");
    note(size);
    return real(p, size, protection, flags, file, at);
}
