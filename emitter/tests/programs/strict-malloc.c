/* An allocator for LD_PRELOAD that aborts when it is to free what another one has allocated. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MARK UINT64_C(0x6c69666c696e6521)

void *__libc_malloc(size_t bytes);
void __libc_free(void *memory);
void *memalign(size_t alignment, size_t bytes);
size_t malloc_usable_size(void *memory);

typedef struct head {
  void *from;
  size_t bytes;
  uint64_t mark, pad;
} head;

static head *head_of(void *memory) {
  head *of = (head *)memory - 1;
  static const char text[] = "strict-malloc: memory of another allocator\n";
  if (of->mark == MARK) return of;
  if (write(2, text, sizeof text - 1) > 0) abort();
  abort();
}

void *memalign(size_t alignment, size_t bytes) {
  if (alignment < sizeof(head)) alignment = sizeof(head);
  uint8_t *from = __libc_malloc(bytes + 2 * alignment);
  if (from == NULL) return NULL;
  head *of = (head *)(((uintptr_t)from + 2 * alignment - 1) / alignment * alignment) - 1;
  *of = (head){from, bytes, MARK, 0};
  return of + 1;
}

void *malloc(size_t bytes) {
  return memalign(sizeof(head), bytes);
}

void free(void *memory) {
  if (memory == NULL) return;
  head *of = head_of(memory);
  of->mark = 0;
  __libc_free(of->from);
}

void *calloc(size_t count, size_t bytes) {
  if (bytes != 0 && count > SIZE_MAX / 2 / bytes) return NULL;
  void *memory = malloc(count * bytes);
  return memory != NULL ? memset(memory, 0, count * bytes) : NULL;
}

void *realloc(void *memory, size_t bytes) {
  void *moved = malloc(bytes);
  if (memory == NULL || moved == NULL) return moved;
  size_t before = head_of(memory)->bytes;
  memcpy(moved, memory, before < bytes ? before : bytes);
  free(memory);
  return moved;
}

void *reallocarray(void *memory, size_t count, size_t bytes) {
  return realloc(memory, count * bytes);
}

int posix_memalign(void **memory, size_t alignment, size_t bytes) {
  *memory = memalign(alignment, bytes);
  return *memory != NULL ? 0 : ENOMEM;
}

void *aligned_alloc(size_t alignment, size_t bytes) {
  return memalign(alignment, bytes);
}

size_t malloc_usable_size(void *memory) {
  return memory != NULL ? head_of(memory)->bytes : 0;
}
