
# Completes a pipeline in quotes, the first operand or the argument of -e: asks the program
# which words may stand at its end. Fails if there are none.
_dsvc_spec() # PROGRAM TEXT
{
	local head=${2%"${2##*[[:space:]|();]}"} quote=${COMP_WORDS[COMP_CWORD]:0:1} word
	[[ $quote == [\'\"] ]] || return
	((COMP_CWORD == 1)) || [[ ${COMP_WORDS[COMP_CWORD-1]} == [-=]* || ${COMP_WORDS[COMP_CWORD-2]} == [-=]* ]] || return
	while IFS=$'\t' read -r word _; do
		# A list that is only shown (63 is ?) has the words alone.
		((COMP_TYPE == 63)) || word=$head$word
		COMPREPLY+=("$word")
	done < <("$1" --print-words "$quote$2" 2>/dev/null)
	# After a single answer readline would close the quote.
	((${#COMPREPLY[@]} != 1)) || COMPREPLY+=("${COMPREPLY[0]}...")
	((${#COMPREPLY[@]}))
}

# Completes the name of a job or a dataset of the service, of a context, or of a parameter of the
# pipeline on the line. Names are quoted, for others may have chosen them.
_dsvc_names() # job|dataset|context|param PROGRAM WORD
{
	local ask=("${2%dsvc-*}dsvc-status" --connect-timeout 200ms --timeout 3s "--names=${1}s") words i name
	case $1 in
	param) ask=("$2" --print-params "$COMP_LINE") && compopt -o nospace ;;
	context) ask=("${2%dsvc-*}dsvc-context" --names) ;;
	*)
		read -ra words <<<"${COMP_LINE:0:COMP_POINT}"
		for ((i = 0; i < ${#words[@]}; i++)); do
			case ${words[i]} in
			-d | -c | --dispatcher | --context) ask+=("${words[i]}" "${words[++i]}") ;;
			-[dc]* | --dispatcher=* | --context=*) ask+=("${words[i]}") ;;
			esac
		done
		;;
	esac
	while IFS=$'\t' read -r name _; do
		[[ $name != "$3"* ]] || COMPREPLY+=("$([[ $1 == param ]] && echo "$name" || printf %q "$name")")
	done < <("${ask[@]}" 2>/dev/null)
}

# The front door: a verb, and then what dsvc-VERB takes.
_dsvc()
{
	local cur=${COMP_WORDS[COMP_CWORD]} verb=${COMP_WORDS[1]}
	COMPREPLY=()
	if ((COMP_CWORD == 1)); then
		mapfile -t COMPREPLY < <(compgen -W "$("$1" --list 2>/dev/null) help --list -h --help -V --version" -- "$cur")
	elif [[ $verb == help ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$("$1" --list 2>/dev/null) -k" -- "$cur")
	elif declare -F "_dsvc_${verb//-/_}" >/dev/null; then
		COMP_WORDS=("dsvc-$verb" "${COMP_WORDS[@]:2}")
		((COMP_CWORD--))
		"_dsvc_${verb//-/_}" "dsvc-$verb" "$2" "$3"
	fi
}
complete -F _dsvc dsvc
