
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
