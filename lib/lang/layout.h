/* SPDX-License-Identifier: MIT
 *
 * A spec in the usual layout, with its comments.
 *
 *	param n: int = 10
 *
 *	let web = | filter .status > 499 | map .path    # short, and on one line: stays so
 *
 *	ndjson @log
 *	  | web
 *	  | batch @n
 *
 * Statements begin in the first column, at most one empty line stands between
 * them. A pipeline that was on several lines, or is too long for one, has one
 * operator a line. Runs of blanks become one, $name becomes @name. Comments stay
 * beside what they stood beside, word for word.
 *
 * What comes out means the same: it is read again, and its tree compared. Laying
 * it out again changes nothing.
 */
#ifndef LANG_LAYOUT_H
#define LANG_LAYOUT_H

#include "lang/spec.h"

enum { LAYOUT_WIDTH = 80 };

/* Appends the spec laid out; src must be a text or a file, not words. *before, unless NULL,
 * gets the original spec appended. */
enum status spec_layout(const struct spec_src *src, struct buf *before, struct buf *out,
			struct err *e);

#endif
