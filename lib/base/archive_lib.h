/* SPDX-License-Identifier: MIT
 *
 * libarchive (base/late.h), loaded with the first archive, or the first file that is compressed in another way than
 * by gzip or snappy. NULL: it cannot be had, and e says which package has it.
 */
#ifndef BASE_ARCHIVE_LIB_H
#define BASE_ARCHIVE_LIB_H

#include <archive.h>
#include <archive_entry.h>

#include "base/late.h"

#define ARCHIVE_LIB_FNS(F) \
	F(archive_error_string) F(archive_set_error) F(archive_filter_bytes) \
	F(archive_read_new) F(archive_read_free) F(archive_read_append_filter) F(archive_read_support_format_raw) \
	F(archive_read_support_format_empty) F(archive_read_support_format_tar) F(archive_read_open) \
	F(archive_read_next_header) F(archive_read_header_position) F(archive_read_data) F(archive_read_data_block) \
	F(archive_write_new) F(archive_write_free) F(archive_write_add_filter_zstd) F(archive_write_set_format_raw) \
	F(archive_write_set_format_pax_restricted) F(archive_write_set_bytes_per_block) \
	F(archive_write_set_bytes_in_last_block) F(archive_write_open) F(archive_write_header) F(archive_write_data) \
	F(archive_write_finish_entry) F(archive_write_close) \
	F(archive_entry_new) F(archive_entry_free) F(archive_entry_clear) F(archive_entry_size) \
	F(archive_entry_filetype) F(archive_entry_pathname) F(archive_entry_set_filetype) F(archive_entry_set_mtime) \
	F(archive_entry_set_pathname) F(archive_entry_set_perm) F(archive_entry_set_size)

struct archive_lib { ARCHIVE_LIB_FNS(LATE_FN) };

const struct archive_lib *archive_lib(struct err *e);

#endif
