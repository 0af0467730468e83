#!/bin/bash
# SPDX-License-Identifier: MIT
# As many workers as the service can use: scale.sh MIN MAX [OPTION-OF-SBATCH...], in the folder of the jobs.
# Submits what is missing; those with nothing to do leave by themselves (--exit-when-idle in work.sbatch).
# It ends when the dispatcher does. INTERVAL: seconds between two looks.
min=$1 max=$2
shift 2
here=$(dirname "$0")
while want=$(dsvc-status -q -d @dsvc-up --wanted=workers); do
	have=$(squeue -h -r -u "$(id -un)" -n dsvc-work -t PD,R,CF -o x | wc -l)
	((want < min)) && want=$min
	((want > max)) && want=$max
	((want > have)) && sbatch -Q "$@" -a "1-$((want - have))" "$here/work.sbatch"
	sleep "${INTERVAL:-10}"
done
