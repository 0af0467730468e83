/* SPDX-License-Identifier: MIT
 *
 * What the functions of images share.
 */
#ifndef FN_FN_IMAGE_H
#define FN_FN_IMAGE_H

#include "expr/vm.h"
#include "image/image.h"

enum { IMAGE_BOX_MAX = 1 << 30 /* largest number in a box */ };

/* Reads a box, [y, x, height, width]; false: it is none. */
bool image_box_read(const struct val *list, struct image_box *box);
/* Fails the element with what the decoder said, and how to mend it. */
enum status image_fault(struct expr_vm *vm, const char *name, const struct err *e);

#endif
