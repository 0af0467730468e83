/* SPDX-License-Identifier: MIT
 *
 * Operators of what holds several values (text, bytes, lists, records, tensors),
 * and the making of lists and records.
 */
#ifndef RUN_SEQ_H
#define RUN_SEQ_H

#include "expr/vm.h"

enum status seq_in(struct expr_vm *vm, struct val *d, const struct val *a, const struct val *b);
enum status seq_cat(struct expr_vm *vm, struct val *d, const struct val *a, const struct val *b);
enum status seq_index(struct expr_vm *vm, struct val *d, const struct val *a, const struct val *b);
enum status seq_slice(struct expr_vm *vm, struct val *d, const struct val *a, const struct val *b,
		      const struct val *c);
enum status seq_list(struct expr_vm *vm, struct val *d, const struct val *items, uint32_t n);
enum status seq_record(struct expr_vm *vm, struct val *d, const struct shape *shape,
		       const struct val *items);
enum status seq_made(struct expr_vm *vm, struct val *d, struct vm_loop *loop, bool sorted);

/* Number of characters in UTF-8 text; a byte that is not part of one counts as one. */
size_t seq_chars(const uint8_t *p, size_t n);
/* The beginning of the k-th character, or the end. */
const uint8_t *seq_char(const uint8_t *p, const uint8_t *end, size_t k);

#endif
