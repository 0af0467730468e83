
# Completes a pipeline in quotes, the first operand or the argument of -e: asks the program
# which words may stand at its end. Fails if there are none.
_dsvc_spec()
{
	local text=$compstate[quote]$PREFIX line
	local -a answers shown
	[[ $compstate[quote] == [\'\"] ]] || return
	((CURRENT == 2)) || [[ $words[CURRENT-1] == -* || $words[CURRENT-2] == -* || $words[CURRENT] == -* ]] || return
	for line in ${(f)"$(_call_program words $words[1] --print-words ${(qq)text} 2>/dev/null)"}; do
		answers+=("${line%%$'\t'*}")
		shown+=("${line/$'\t'/ -- }")
	done
	(($#answers)) && compset -P '*[[:space:]|();]'
	compadd -Q -S '' -l -d shown -a answers
}
