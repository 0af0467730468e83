
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

# The front door: a verb, and then what dsvc-VERB takes.
_dsvc-verb()
{
	local -a verbs
	if ((CURRENT == 2)) || [[ $words[2] == help ]]; then
		verbs=(${(f)"$(_call_program verbs $words[1] --list 2>/dev/null)"})
		((CURRENT > 2)) && verbs+=(-k)
		((CURRENT == 2)) && verbs+=(help)
		[[ $words[CURRENT] == -* ]] && verbs+=(--list -h --help -V --version)
		compadd -a verbs
	elif (($+functions[_dsvc-$words[2]])); then
		shift words
		((CURRENT--))
		words[1]=dsvc-$words[1]
		service=$words[1]
		"_$service"
	fi
}
