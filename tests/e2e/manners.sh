#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Plain only.
# Manners at a terminal: colour, paging, and completion as the shells themselves do it.
. "$SRC/tests/lib/e2e.sh"
export FRESHET_PAGER=
unset NO_COLOR PAGER

# what a program says when all its streams are a terminal
cat >at_terminal.py <<'P'
import os, pty, sys
pid, fd = pty.fork()
if pid == 0:
    os.execvp(sys.argv[1], sys.argv[1:])
said = b""
try:
    while chunk := os.read(fd, 65536):
        said += chunk
except OSError:                                 # the other side is closed
    pass
os.write(1, said.replace(b"\r\n", b"\n"))
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
P
terminal() { python3 at_terminal.py env TERM="${TERMINAL-xterm}" "$@"; }
colored() { grep -q $'\033\\[[0-9;]*m' "$1"; }

$f init r >/dev/null; printf 'http://a.example/%d\n' 1 2 3 >urls; $f -C r import urls >/dev/null
plain=$($f -C r plan --policy oldest --budget 2); [ -n "$plain" ]
terminal $f -C r plan --policy oldest --budget 2 >said; colored said || fail "no colour on a terminal"
[ "$(sed 's/\x1b\[[0-9;]*[mK]//g; s/.*\r//' said)" = "$plain" ] || fail "colour changes the table"
$f -C r plan --policy oldest --budget 2 --color always >said; colored said || fail "--color always"
$f -C r plan --policy oldest --budget 2 >said; if colored said; then fail "colour in a pipe"; fi
terminal NO_COLOR=1 $f -C r plan --policy oldest >said; if colored said; then fail NO_COLOR; fi
terminal NO_COLOR= $f -C r plan --policy oldest >said; colored said || fail "an empty NO_COLOR counts"
terminal NO_COLOR=1 $f -C r plan --policy oldest --color always >said; colored said || fail "--color over NO_COLOR"
TERMINAL=dumb terminal $f -C r plan --policy oldest >said; if colored said; then fail "colour on a dumb terminal"; fi
terminal $f -C r plan --policy oldest --color never >said; if colored said; then fail "--color never"; fi
rc=0; terminal $f nonsense >said || rc=$?; [ $rc = 2 ] || fail "status $rc"; colored said || fail "errors are coloured"

# paging: all of it goes through the pager, its end is waited for
terminal FRESHET_PAGER='sed s/^/paged:/; sleep 0.2; echo read' $f policies >said
grep -q '^paged:.*tide' said || fail "not paged"; tail -n 1 said | grep -qx read || fail "the pager was not waited for"
if grep -v -e '^paged:' -e '^read$' said | grep .; then fail "a part was not paged"; fi
terminal PAGER='sed s/^/other:/' env -u FRESHET_PAGER $f policies | grep -q '^other:' || fail PAGER
terminal FRESHET_PAGER='sed s/^/paged:/' $f policies --no-pager >said; if grep paged: said; then fail "--no-pager"; fi
FRESHET_PAGER='sed s/^/paged:/' $f policies >said; if grep paged: said; then fail "paged in a pipe"; fi
terminal FRESHET_PAGER='head -n 1' $f policies >said || :     # a person who has seen enough
[ "$(wc -l <said)" = 1 ] || fail "a pager that ends early"
rc=0; terminal FRESHET_PAGER='cat >/dev/null' $f -C nowhere status >said || rc=$?
[ $rc = 3 ] || [ $rc = 5 ] || fail "the status of a paged command is its own ($rc)"

# completion, by fish and by zsh themselves
export HOME=$PWD/home; mkdir -p "$HOME"
$f help --completion --shell fish >freshet.fish
complete_fish() { fish --private -c "source freshet.fish; complete -C '$1'" 2>/dev/null | cut -f1 | tr '\n' ' '; }
[ "$(complete_fish 'freshet repl')" = "replay " ] || fail "fish: a command"
[ "$(complete_fish 'freshet replay --policy t')" = "thompson tide " ] || fail "fish: a policy"
[ "$(complete_fish 'freshet replay --goal ')" = "alive changed " ] || fail "fish: choices"
[ "$(complete_fish 'freshet -C x set bud')" = "budget " ] || fail "fish: a setting"
[ "$(complete_fish 'freshet replay --polic')" = '--policy ' ] && [ -z "$(complete_fish 'freshet help --polic')" ] || fail "fish: options of one command"

$f help --completion --shell zsh >_freshet
cat >complete.zsh <<'Z'
zmodload zsh/zpty
zpty z zsh -f -i
say() { zpty -w z "$1"; }
say "PS1=; fpath=($PWD \$fpath); autoload -Uz compinit; compinit -D -u"
say "zstyle ':completion:*' verbose no; LISTMAX=10000"
say 'done-listing() { compadd() { [[ ${@[1,(i)(-|--)]} = *-(O|A|D)\ * ]] && { builtin compadd "$@"; return }; typeset -a hits; builtin compadd -A hits "$@"; for h in $hits; do print -r -- "HIT $h" >>'$PWD'/hits; done; builtin compadd "$@" } }; done-listing'
say "bindkey '^I' complete-word; echo RE''ADY"
zpty -r -m z seen '*READY*'
for text in "$@"; do
	: >$PWD/hits
	zpty -w -n z "$text"$'\t'
	repeat 200; do [[ -s $PWD/hits ]] && break; sleep 0.05; done
	sleep 0.3
	zpty -w -n z $'\C-u'
	print -r -- "$(sort -u $PWD/hits | cut -c5- | tr '\n' ' ')"
done
zpty -d z
Z
timeout 30 zsh -f complete.zsh 'freshet repl' 'freshet replay --policy t' 'freshet replay --goal ' 'freshet -C x set bud' >zsh.said 2>zsh.err </dev/null || :
printf '%s\n' 'replay ' 'thompson tide ' 'alive changed ' 'budget ' >zsh.want
cmp -s zsh.said zsh.want || fail "zsh: $(cat zsh.said zsh.err)"
