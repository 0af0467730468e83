/* SPDX-License-Identifier: MIT
 *
 * A program's table as completion for shells: --print-completion SHELL. The
 * pieces of all programs are put together by tools/gen.sh.
 */
#ifndef CLI_COMPLETE_H
#define CLI_COMPLETE_H

#include "base/buf.h"
#include "cli/program.h"

void complete_bash(struct buf *out, const struct program *p);
void complete_zsh(struct buf *out, const struct program *p);
void complete_fish(struct buf *out, const struct program *p);

#endif
