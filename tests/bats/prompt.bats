#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Pressing <TAB> at the prompt of bash, zsh and fish: each runs in a terminal (tmux) and
# finds the completions where `make install` puts them.

load lib/dsvc

setup() {
	dsvc_setup
	export HOME=$BATS_TEST_TMPDIR/home ZDOTDIR=$BATS_TEST_TMPDIR/home INPUTRC=/dev/null
	export XDG_CONFIG_HOME=$HOME/config XDG_CACHE_HOME=$HOME/cache XDG_STATE_HOME=$HOME/state
	export XDG_DATA_HOME=$HOME/share XDG_DATA_DIRS=$HOME/share:/usr/local/share:/usr/share
	unset BASH_ENV ENV TMUX
	local from=$BATS_TEST_DIRNAME/../../completions name
	mkdir -p "$XDG_CONFIG_HOME/fish" "$XDG_DATA_HOME/fish/vendor_completions.d" \
		"$XDG_DATA_HOME/bash-completion/completions" "$BATS_TEST_TMPDIR/cwd/data"
	for name in "$B"/bin/dsvc*; do
		ln -s "$from/dsvc.bash" "$XDG_DATA_HOME/bash-completion/completions/${name##*/}"
		ln -s "$from/dsvc.fish" "$XDG_DATA_HOME/fish/vendor_completions.d/${name##*/}.fish"
	done
	cat >"$HOME/.bashrc" <<-END
		. /usr/share/bash-completion/bash_completion
		PS1='> '
	END
	cat >"$HOME/.zshrc" <<-END
		fpath=($from \$fpath)
		autoload -Uz compinit && compinit -u
		PS1='> '
	END
	cat >"$XDG_CONFIG_HOME/fish/config.fish" <<-END
		set -g fish_greeting
		set -g fish_autosuggestion_enabled 0
		function fish_prompt; echo '> '; end
	END
	cd "$BATS_TEST_TMPDIR/cwd" || return
	touch spec.dsvc
	echo '{"status": 200, "ms": 3}' >log.ndjson
	printf 'param rows: int = 3\nparam wide = 2\nrange @rows | map x * @wide\n' >params.dsvc
}

# A service that has the job `train` and the dataset `web-hits`, and the context `lab`.
with_service() {
	service
	dsvc-register -q --id web-hits 'range 4' >/dev/null
	dsvc-read -t none -J train web-hits
	dsvc-context set lab "$endpoint"
}

teardown() {
	screen kill-server || :
	dsvc_teardown
}

screen() { tmux -L dsvc "$@" 3>&-; }

prompt() { # SHELL
	export TMUX_TMPDIR=$sockets
	screen -f /dev/null new-session -d -x 150 -y 50 "$@"
	until_true 100s line_is '>'
}

# The command line: the last line on the screen with a prompt.
line() { screen capture-pane -p | grep '^>' | tail -n 1; }
line_is() { [[ $(line) == "$1" ]]; }
shows() { [[ $(screen capture-pane -p) == *"$1"* ]]; }

# Types TEXT, presses the KEYs and <TAB>, then types ~ to show where the cursor is. Without
# a ~ in RESULT it is at the end.
tab() { # TEXT RESULT [KEY]...
	local result=$2 program=${program-dsvc-}
	[[ $result == *\~* ]] || result+='~'
	screen send-keys -l "$program$1"
	screen send-keys "${@:3}" Tab
	screen send-keys -l '~'
	until_true 100s line_is "> $program$result" || {
		screen capture-pane -p >&2
		return 1
	}
	screen send-keys C-c
	until_true 100s line_is '>'
}

in_every_shell() {
	tab "run 'lin" "run 'lines "
	tab 'run "lin' 'run "lines '
	tab "run 'range 10 | ma" "run 'range 10 | map "
	tab "run 'range 10 | batch 4 drop" "run 'range 10 | batch 4 drop_remainder="
	tab "run 'csv - types=a" "run 'csv - types=auto "
	tab "run 'zip (range 3) (coun" "run 'zip (range 3) (counter "
	tab "run 'lines spe" "run 'lines spec.dsvc "
	tab "run 'lines da" "run 'lines data/"
	tab "run -n 5 'lin" "run -n 5 'lines "
	tab "run -e 'lin" "run -e 'lines "
	tab "read -e 'range 10 | distribute ord" "read -e 'range 10 | distribute order="
	tab "read 'lin" "read 'lines "
	tab "register 'range 10 | ma" "register 'range 10 | map "
	tab 'run "range 10 | map \"a b\" + \$x | filt' 'run "range 10 | map \"a b\" + \$x | filter '
	tab "run 'lines a\\tb | filt" "run 'lines a\\tb | filter "
	tab "run lines 'spe" "run lines 'spec.dsvc' "
	tab "run --fmt 'spe" "run --fmt 'spec.dsvc' "
	# Fields of the elements, from the type or from the first of them, and parameters.
	tab "run 'range 3 | map {wide: x, high: 1} | filter .wi" "run 'range 3 | map {wide: x, high: 1} | filter .wide "
	tab "run 'ndjson log.ndjson | take 5 | sort .st" "run 'ndjson log.ndjson | take 5 | sort .status "
	tab "run 'lines log.ndjson | map parse_json(x) | map str(.m" "run 'lines log.ndjson | map parse_json(x) | map str(.ms"
	tab "run 'param rows = 3; range @ro" "run 'param rows = 3; range @rows "
	# Words without quotes, options and their values.
	tab 'run interl' 'run interleave '
	tab 'run range 3 then shu' 'run range 3 then shuffle '
	tab 'run lines spe' 'run lines spec.dsvc '
	tab 'run -t cs' 'run -t csv '
	tab 'run --try -f spe' 'run --try -f spec.dsvc '
	# Names: of parameters, jobs, datasets and contexts.
	tab 'run -f params.dsvc -s ro' 'run -f params.dsvc -s rows='
	tab 'run -f params.dsvc -s rows=2 --set w' 'run -f params.dsvc -s rows=2 --set wide='
	tab "run -e 'param cols = 1; range @cols' -s co" "run -e 'param cols = 1; range @cols' -s cols="
	tab 'read -J tra' 'read -J train '
	tab 'read web-h' 'read web-hits '
	tab 'why tra' 'why train '
	tab 'tap tra' 'tap train '
	tab 'forget tra' 'forget train '
	tab 'forget --dataset web' 'forget --dataset web-hits '
	tab 'status --audit tra' 'status --audit train '
	tab 'status -c la' 'status -c lab '
	tab 'why -c lab tra' 'why -c lab train '
	# By way of the front door.
	local program='dsvc '
	tab 'why tra' 'why train '
	tab 'regi' 'register '
	tab 'help exec' 'help exec-test '
	tab "run 'range 10 | ma" "run 'range 10 | map "
	tab "read -e 'lin" "read -e 'lines "
	tab 'run range 3 then shu' 'run range 3 then shuffle '
	tab 'run -t cs' 'run -t csv '
}

all_answers() { # TAB...
	screen send-keys -l "dsvc-run 'range 10 | re"
	screen send-keys "$@"
	local word
	for word in rebatch reduce rename repeat resample; do
		until_true 100s shows "$word"
	done
	line_is "> dsvc-run 'range 10 | re"
}

@test "bash" {
	with_service
	prompt bash --rcfile "$HOME/.bashrc" -i
	in_every_shell
	tab 'run --tim' 'run --timeout '
	tab 'run "range $n | filt' 'run "range $n | filter '
	tab "run --expression='lin" "run --expression='lines "
	tab "run 'range 10 | ma'" "run 'range 10 | map ~'" Left
	all_answers Tab Tab
}

@test "zsh" {
	with_service
	prompt zsh -i
	in_every_shell
	tab 'run --tim' 'run --timeout='
	# "$n" is not tried here: on <TAB> zsh itself replaces it by its value.
	tab "run 'range 10 | ma'" "run 'range 10 | map ~'" Left
	all_answers Tab
}

@test "fish" {
	with_service
	prompt fish -i
	in_every_shell
	tab 'run --tim' 'run --timeout '
	tab 'run "range $n | filt' 'run "range $n | filter '
	tab "run --expression='lin" "run --expression='lines "
	tab "run -e'lin" "run -e'lines "
	# fish moves the cursor to the end of the word.
	tab "run 'range 10 | ma'" "run 'range 10 | map '~" Left
	all_answers Tab
}
