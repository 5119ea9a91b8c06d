#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "internal.h"

const char *llb_code_name(llb_code code) {
  static const char *const names[] = {
      [LLB_OK] = "ok",
      [LLB_TRUNCATED] = "truncated",
      [LLB_BAD_MAGIC] = "bad_magic",
      [LLB_BAD_VERSION] = "bad_version",
      [LLB_BAD_FLAG] = "bad_flag",
      [LLB_TOO_LARGE] = "too_large",
      [LLB_BAD_LENGTH] = "bad_length",
      [LLB_BAD_CRC] = "bad_crc",
      [LLB_BAD_CALIBRATION] = "bad_calibration",
      [LLB_BAD_COUNT] = "bad_count",
      [LLB_BAD_TEXT] = "bad_text",
      [LLB_BAD_DESCRIPTOR] = "bad_descriptor",
      [LLB_BAD_COMPRESSION] = "bad_compression",
      [LLB_UNKNOWN_TYPE] = "unknown_type",
      [LLB_BAD_RECORD] = "bad_record",
      [LLB_BAD_JSON] = "bad_json",
      [LLB_NO_MEMORY] = "no_memory",
  };
  return names[code];
}

bool llb_reject(llb_rejection *rejection, llb_code code, size_t offset, const char *format, ...) {
  rejection->code = code;
  rejection->offset = offset;
  va_list args;
  va_start(args, format);
  vsnprintf(rejection->message, sizeof rejection->message, format, args);
  va_end(args);
  return false;
}

/* Arena of a batch's many small arrays and texts, which are freed together. */
struct arena_block {
  struct arena_block *next;
  _Alignas(max_align_t) unsigned char memory[];
};

llb_batch *llb_batch_new(void) {
  llb_batch *batch = calloc(1, sizeof *batch);
  if (!batch) return NULL;
  batch->priv = calloc(1, sizeof *batch->priv);
  if (!batch->priv) {
    free(batch);
    return NULL;
  }
  return batch;
}

void *llb_batch_alloc(llb_batch *batch, size_t size) {
  if (size > SIZE_MAX - sizeof(struct arena_block) - 1) return NULL;
  struct arena_block *block = calloc(1, sizeof *block + size + 1); /* one byte more: distinct even when empty */
  if (!block) return NULL;
  block->next = batch->priv->blocks;
  batch->priv->blocks = block;
  return block->memory;
}

void llb_batch_free(llb_batch *batch) {
  if (!batch) return;
  for (struct arena_block *block = batch->priv->blocks, *next; block; block = next) {
    next = block->next;
    free(block);
  }
  free(batch->priv);
  free(batch);
}

bool llb_index_types(llb_batch *batch) {
  size_t most = 0;
  for (size_t i = 0; i < batch->type_count; i++)
    if (batch->types[i].number > most) most = batch->types[i].number;
  uint16_t *index = llb_batch_alloc(batch, (most + 1) * sizeof *index);
  if (!index) return false;
  for (size_t i = 0; i < batch->type_count; i++)
    index[batch->types[i].number] = (uint16_t)(i + 1);
  batch->priv->type_index = index;
  batch->priv->type_index_len = most + 1;
  return true;
}

const llb_event_type *llb_type_by_number(const llb_batch *batch, uint16_t number) {
  if (number >= batch->priv->type_index_len || !batch->priv->type_index[number]) return NULL;
  return &batch->types[batch->priv->type_index[number] - 1];
}
