/* Completeness of the batches by (incarnation, route), from the sequences and counters of all batches.
 *
 * Uses about 40 bytes of memory per batch to distinguish repeats from conflicts, however late they arrive.
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
  VERDICT_REPEAT,   /* duplicate with the same bytes: drop it */
  VERDICT_CONFLICT, /* duplicate sequence with other bytes: reject it */
  VERDICT_NO_MEMORY,
} verdict;

account *account_open(void);
void account_close(account *books);

verdict account_add(account *books, const llb_batch *batch);

/* Counts a range of bytes that is no batch. */
void account_damage(account *books, uint64_t bytes);

/* True if nothing is missing, damaged or in conflict. */
bool account_is_whole(const account *books);

/* Print the totals and the emitters: as text, only those with missing, repeated, conflicting or dropped data, or
 * without a final batch. */
void account_print(const account *books, FILE *to);
void account_print_json(const account *books, FILE *to);

#endif
