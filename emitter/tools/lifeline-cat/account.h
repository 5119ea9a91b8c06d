/* What there should be, and what there is: by (incarnation, route), from the sequences and counters of all batches.
 *
 * Takes some 40 bytes of memory for each batch, so that a repeat can be told from a conflict however late it comes.
 */
#ifndef LIFELINE_CAT_ACCOUNT_H
#define LIFELINE_CAT_ACCOUNT_H

#include <lifeline/batch.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef struct account account;

typedef enum verdict {
  VERDICT_NEW,
  VERDICT_REPEAT,   /* the same bytes were here before: absorb it */
  VERDICT_CONFLICT, /* the same sequence was here before, with other bytes: reject it */
  VERDICT_NO_MEMORY,
} verdict;

account *account_open(void);
void account_close(account *books);

verdict account_add(account *books, const llb_batch *batch);

/* A stretch of bytes that was no batch. */
void account_damage(account *books, uint64_t bytes);

/* True when nothing is missing, damaged or in conflict. */
bool account_is_whole(const account *books);

/* One line for all, and one for each emitter of which something is missing, repeated, dropped or unknown. */
void account_print(const account *books, FILE *to);
void account_print_json(const account *books, FILE *to);

#endif
