/* The program's allocator, for a sink that is loaded with RTLD_DEEPBIND (base/library.h). Its libraries would find
 * libc's, while libc itself allocates with one that the program contains or preloads: what one allocates the other may
 * free. Without that flag nobody finds these functions. */
#include <dlfcn.h>
#include <stddef.h>
#include <stdlib.h>

#define FORWARD(type, name, parameters, arguments)                                                                     \
  __attribute__((visibility("default"))) type name parameters {                                                        \
    static type(*real) parameters;                                                                                     \
    if (__atomic_load_n(&real, __ATOMIC_RELAXED) == NULL) __atomic_store_n(&real, find(#name), __ATOMIC_RELAXED);      \
    return real arguments;                                                                                             \
  }

int posix_memalign(void **memory, size_t alignment, size_t bytes);
void *memalign(size_t alignment, size_t bytes);
size_t malloc_usable_size(void *memory);

static void *find(const char *name) {
  return dlsym(dlopen(NULL, RTLD_LAZY), name);
}

FORWARD(void *, malloc, (size_t bytes), (bytes))
FORWARD(void *, calloc, (size_t count, size_t bytes), (count, bytes))
FORWARD(void *, realloc, (void *memory, size_t bytes), (memory, bytes))
FORWARD(void *, reallocarray, (void *memory, size_t count, size_t bytes), (memory, count, bytes))
FORWARD(void, free, (void *memory), (memory))
FORWARD(int, posix_memalign, (void **memory, size_t alignment, size_t bytes), (memory, alignment, bytes))
FORWARD(void *, aligned_alloc, (size_t alignment, size_t bytes), (alignment, bytes))
FORWARD(void *, memalign, (size_t alignment, size_t bytes), (alignment, bytes))
FORWARD(size_t, malloc_usable_size, (void *memory), (memory))
