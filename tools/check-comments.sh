#!/bin/bash
# SPDX-License-Identifier: MIT
# Comments: none begins with a word that leans on the line
# above it, and each file that one names exists. Prints what breaks this; --check: fails.
set -u
cd "$(dirname "$0")/.." || exit
find lib cmd tests -name '*.[ch]' -not -path '*/corpus/*' -print0 | sort -z |
	xargs -0 perl -0777 -ne '
	our %known;
	BEGIN {
		$known{"cmocka.h"} = 1; # of a library
		for (split /\n/, `find lib cmd tests -name "*.[ch]"`) {
			$known{$_} = 1;
			$known{$1} = 1 if m,([^/]+)$,;
			$known{$1} = 1 if m,([^/]+/[^/]+)$,;
			$known{$1} = 1 if m,^lib/(.*)$,;
		}
	}
	my $at = 1;
	while (m{"(?:\\.|[^"\\\n])*"|\x27(?:\\.|[^\x27\\\n])*\x27|/\*(.*?)\*/|\n}gs) {
		my ($whole, $text) = ($&, $1);
		if (defined $text) {
			# The head of a file begins behind its licence; there a noun clause with What may stand.
			print "$ARGV:$at: begins with `$1`\n"
				if $text =~ /^\s*SPDX[^\n]*[\s*]+(who|whose|whom|of|as|theirs|the same)\b/i ||
				   $text =~ /^\s*(who|whose|whom|what|of|as|theirs|the same)\b/i;
			while ($text =~ m{(?<![\w/.*-])((?:[a-z]\w*/)*[a-z][a-z0-9_]*\.[ch])\b(?![\w*(])}g) {
				print "$ARGV:$at: there is no file $1\n" if !$known{$1};
			}
		}
		$at += ($whole =~ tr/\n//);
	}' > "${TMPDIR:-/tmp}/comments.$$"
cat "${TMPDIR:-/tmp}/comments.$$"
bad=$(wc -l < "${TMPDIR:-/tmp}/comments.$$")
rm -f "${TMPDIR:-/tmp}/comments.$$"
[[ ${1-} != --check || $bad -eq 0 ]]
