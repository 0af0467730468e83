
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

# The names of jobs or datasets of the service, of contexts, or of parameters of the pipeline on the line.
function __dsvc_names # job|dataset|context|param PROGRAM
	set -l ask dsvc-status --connect-timeout 200ms --timeout 3s --names=$argv[1]s
	set -l before (commandline -opc)
	switch $argv[1]
		case param
			set ask $argv[2] --print-params (commandline -p | string collect)
		case context
			set ask dsvc-context --names
		case '*'
			for i in (seq (count $before))
				switch $before[$i]
					case -d -c --dispatcher --context
						set -a ask $before[$i] $before[(math $i + 1)]
					case '-d*' '-c*' '--dispatcher=*' '--context=*'
						set -a ask $before[$i]
				end
			end
	end
	$ask 2>/dev/null
end

# The front door: a verb, and then what dsvc-VERB takes.
function __dsvc_verb
	complete -C "dsvc-"(string replace -r '^\s*\S*dsvc\s+' '' -- (commandline -cp))
end
complete -c dsvc -f -n __fish_use_subcommand -a '(dsvc --list; echo help)'
complete -c dsvc -f -n __fish_use_subcommand -l list -d 'print the verbs there are, one a line'
complete -c dsvc -f -n '__fish_seen_subcommand_from help' -a '(dsvc --list)'
complete -c dsvc -f -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from help' -a '(__dsvc_verb)'
