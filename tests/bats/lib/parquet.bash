# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Files of Parquet and Arrow, made and read by pyarrow: lib/parquet.py says what it is asked.
pyarrow() {
	PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=${ARROW_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/dsvc/arrow} \
		python3 "$BATS_TEST_DIRNAME/lib/parquet.py" "$@"
}
