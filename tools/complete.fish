
# Whether the word is in quotes, and the first operand or the argument of an option.
function __dsvc_in_spec
	set -l before (commandline -opc)
	string match -qr '^(--[a-z-]+=|-[a-z])?[\'"]' -- (commandline -ct)
	and begin
		test (count $before) = 1
		or string match -q -- '-*' $before[-1] $before[-2] (commandline -ct)
	end
end

# Asks the program which words may stand at the end of a pipeline; offers files if there are
# none. fish closes the quote after a word that is chosen from a list, unless it ends in = or /.
function __dsvc_spec
	set -l typed (commandline -ct | string replace -r '^(--[a-z-]+=|-[a-z])' '' | string replace -r '^([\'"])(.*)\1$' '$1$2')
	set -l quote (string sub -l 1 -- $typed)
	set -l text (string unescape -- $typed$quote)
	set -l answers ($argv[1] --print-words "$typed" 2>/dev/null)
	if test (count $text) = 1 -a (count $answers) -gt 0
		printf '%s\n' (string replace -r '[^\s|();]*$' '' -- $text)$answers
	else
		__fish_complete_path "$text"
	end
end

# The front door: a verb, and then what dsvc-VERB takes.
function __dsvc_verb
	complete -C "dsvc-"(string replace -r '^\s*\S*dsvc\s+' '' -- (commandline -cp))
end
complete -c dsvc -f -n __fish_use_subcommand -a '(dsvc --list; echo help)'
complete -c dsvc -f -n __fish_use_subcommand -l list -d 'print the verbs there are, one a line'
complete -c dsvc -f -n '__fish_seen_subcommand_from help' -a '(dsvc --list)'
complete -c dsvc -f -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from help' -a '(__dsvc_verb)'
