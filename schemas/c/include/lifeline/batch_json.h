/* JSON representation of a batch: FORMAT.md, section 13. */
#ifndef LIFELINE_BATCH_JSON_H
#define LIFELINE_BATCH_JSON_H

#include <stdio.h>

#include <lifeline/batch.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Prints one object on one line, without a line end. The batch must come from llb_read. For errors check ferror. */
void llb_json_print(const llb_batch *batch, FILE *out);

/* Prints a rejection as {"rejected":"<code>","offset":N,"message":"..."} on one line, without a line end. */
void llb_json_print_rejection(const llb_rejection *rejection, FILE *out);

/* Builds a batch for llb_write from one JSON object, of which it keeps no reference. Returns NULL with LLB_BAD_JSON,
 * with the offset of a syntax error or 0, or with another code if a record cannot be built. */
llb_batch *llb_json_parse(const char *text, size_t size, llb_rejection *rejection);

#ifdef __cplusplus
}
#endif

#endif
