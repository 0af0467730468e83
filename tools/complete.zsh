
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

# The name of a job or a dataset of the service, of a context, or of a parameter of the pipeline
# on the line.
_dsvc_names() # job|dataset|context|param [OPTION OF compadd]...
{
	local kind=$1 dir=${words[1]%dsvc-*} line
	local -a ask names shown
	shift
	ask=(${dir}dsvc-status --connect-timeout 200ms --timeout 3s --names=${kind}s)
	case $kind in
	param) ask=($words[1] --print-params "$BUFFER") ;;
	context) ask=(${dir}dsvc-context --names) ;;
	*)
		local -i i
		for ((i = 2; i < CURRENT; i++)); do
			case $words[i] in
			-d | -c | --dispatcher | --context) ask+=(${(Q)words[i]} ${(Q)words[++i]}) ;;
			-[dc]* | --dispatcher=* | --context=*) ask+=(${(Q)words[i]}) ;;
			esac
		done
		;;
	esac
	for line in ${(f)"$($ask 2>/dev/null)"}; do
		names+=("${line%%$'\t'*}")
		shown+=("${line/$'\t'/ -- }")
	done
	compadd "$@" -l -d shown -a names
}
_dsvc_jobs() { _dsvc_names job; }
_dsvc_datasets() { _dsvc_names dataset; }
_dsvc_contexts() { _dsvc_names context; }
_dsvc_params() { _dsvc_names param -S ''; }

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
