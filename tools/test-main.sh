#!/bin/bash
# SPDX-License-Identifier: MIT
# Prints a C file that runs the unit tests of FILE: every function
# `static void NAME(void **state)` in it is one. FILE may define, as names of
# functions, GROUP_SETUP and GROUP_TEARDOWN (once), EACH_SETUP and EACH_TEARDOWN
# (for every test), and GROUP_SETUP_2 (all of it a second time, set up otherwise).
set -eu
mapfile -t tests < <(sed -n '/^static void$/{n;s/^\([a-z_0-9A-Z]*\)(void \*\*[a-z]*)$/\1/p}' "$1")
((${#tests[@]})) || { echo "$1: no function \`static void NAME(void **state)\`" >&2; exit 1; }
echo "/* from $1, by tools/test-main.sh */"
printf '#include "%s"\n\n' "$1"
for name in GROUP_SETUP GROUP_TEARDOWN EACH_SETUP EACH_TEARDOWN; do
	printf '#ifndef %s\n#define %s NULL\n#endif\n' "$name" "$name"
done
printf '\nint\nmain(void)\n{\n\tconst struct CMUnitTest tests[] = {\n'
printf '\t\tcmocka_unit_test_setup_teardown(%s, EACH_SETUP, EACH_TEARDOWN),\n' "${tests[@]}"
cat <<'END'
	};
	int failed = cmocka_run_group_tests(tests, GROUP_SETUP, GROUP_TEARDOWN);

#ifdef GROUP_SETUP_2
	failed += cmocka_run_group_tests(tests, GROUP_SETUP_2, GROUP_TEARDOWN);
#endif
	return failed;
}
END
