/* A batch's meaning as JSON: FORMAT.md, section 13. */
#ifndef LIFELINE_BATCH_JSON_H
#define LIFELINE_BATCH_JSON_H

#include <stdio.h>

#include <lifeline/batch.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Prints one object on one line, without the line's end. The batch must come from llb_read. Errors are the stream's:
 * ask ferror. */
void llb_json_print(const llb_batch *batch, FILE *out);

/* Prints a rejection as {"rejected":"<code>","offset":N,"message":"..."} on one line, without the line's end. */
void llb_json_print_rejection(const llb_rejection *rejection, FILE *out);

/* Builds a batch for llb_write from one JSON object. Nothing of the text is kept. Returns NULL with LLB_BAD_JSON, whose
 * offset is where the text is broken or 0, or with another code if a record cannot be made. */
llb_batch *llb_json_parse(const char *text, size_t size, llb_rejection *rejection);

#ifdef __cplusplus
}
#endif

#endif
