#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every command run wrongly: the message says what, where and what to do next, the
# exit status is that of its kind, and nothing is printed where results go.
. "$SRC/tests/lib/e2e.sh"
mkdir empty damaged; echo text >notes.txt; echo text >damaged/freshet.db; printf '\0\1junk' >junk.bin
$f world w.cdxj --sites 3 --dirs 2 --steps 8; $f init repo 2>/dev/null; $f -C repo import w.cdxj >/dev/null 2>&1
bad=0
try() {  # status, pattern of the message, arguments
	local want=$1 pattern=$2 rc=0; shift 2
	"$f" "$@" >out 2>err </dev/null || rc=$?
	if [ $rc != "$want" ] || ! grep -qE "^freshet: .*$pattern" err; then
		echo "freshet $*: exit $rc (not $want), said: $(cat err)"; bad=1
	fi
	if [ -s out ]; then echo "freshet $*: printed $(head -1 out)"; bad=1; fi
}
try 2 "no command 'repaly'; did you mean replay\?" repaly
try 2 "no command 'zzzzzz'; .freshet help. lists" zzzzzz
try 2 "replay: unknown option --polcy; did you mean --policy\?" replay w.cdxj --polcy random
try 2 "replay: unknown option --zzzzzz; --help lists" replay w.cdxj --zzzzzz
try 2 "replay: wants TRACE.*replay --help" replay
try 2 "status: wants no arguments .-C DIR names a repository.;" status x
try 2 "replay: --seeds wants a value: N" replay w.cdxj --seeds
try 2 "replay: --seeds: 'x' is not a number" replay w.cdxj --seeds x
try 2 "replay: --seeds: 0 is outside 1 .. 1000" replay w.cdxj --seeds 0
try 2 "world: --sites: 0 is outside 1 .. 10000000" world x.cdxj --sites 0
try 2 "--budget: '200%' is neither a number from 1 on nor a share up to 100%" replay w.cdxj --budget 200%
try 2 "--cycle: 'x' is not a duration such as 12h or 2w" replay w.cdxj --cycle x
try 2 "no whole cycle of 2w lies between 2030-01-01 and .*the history goes from 2022" replay w.cdxj --start 2030-01-01
try 2 "max-age: shorter than one cycle" -C repo plan --every 1d --max-age 12h
try 2 "max-age: shorter than one cycle" -C repo explain http://x.example/ --every 1d --max-age 12h
try 2 "no policy 'tied'; did you mean tide\?" replay w.cdxj --policy tied
try 2 "no parameter 'x'; there are " replay w.cdxj --policy tide:x=1
try 2 "by: 'x' is none of link.dir.cluster" replay w.cdxj --policy neighbour:by=x
try 2 "figures has its own --site-share: leave it out" replay w.cdxj --figures paper1 --site-share 10%
try 2 "logged estimates from visits that were made: --by-site" replay repo --logged --by-site
try 2 "logged estimates from visits that were made: --budget" replay repo --logged --budget 5%
try 2 "search: --csv has no place for it" replay w.cdxj --csv --search
for c in show diff explain; do try 2 "'/a' is no URL of a page: empty host" -C repo $c /a; done
try 2 "by-site: --csv has no place for it" replay w.cdxj --csv --by-site
for o in "queries notes.txt" "words notes.txt" "n-queries 3" "k 3" "relevant 3" "text-weight 1" "map-divisor found"; do
	try 2 "replay: --${o% *} goes with --search" replay w.cdxj --$o
done
try 2 "replay: --svg goes with --figures" replay w.cdxj --svg x
try 2 "replay: --confidence goes with --logged" replay w.cdxj --confidence 0.9
try 2 "logged estimates from visits that were made: --detect" replay repo --logged --detect text
for o in "sort rate" accessibility "policy site" "every 2d"; do try 2 "status: --${o% *} goes with --sites" -C repo status --$o; done
try 2 "log: --skipped goes with --cycle" -C repo log --skipped
for o in folds most; do try 2 "cluster: --$o goes with --choose-k" -C repo cluster --$o 3; done
for b in 1.5 0.02; do try 2 "--budget: '$b' is neither a number from 1 on nor a share" replay w.cdxj --budget $b; done
try 2 "--budget: '0.5' is neither a number" -C repo plan --budget 0.5
try 2 "notes.txt: is a file here: .freshet import." -C repo add notes.txt
try 2 "'http://u:\*\*\*@x/' is no URL of a page: user info" -C repo add http://u:secret@x/
try 2 "detector \"x\": it is one of bytes, text, tags, near:BITS" replay w.cdxj --detect x
try 2 "notes.txt: looks like a URL list, which has no captures; give a CDX" replay notes.txt
try 3 "missing.cdxj: cannot open: No such file" replay missing.cdxj
try 3 "empty: is a folder without .warc, .cdx or .cdxj files; name the files in it" replay empty
try 5 "damaged/freshet.db: file is not a database" replay damaged
for c in replay rank cluster; do
	try 3 "report: nowhere/r.html: cannot be written: No such file" $c w.cdxj --report nowhere/r.html
	try 3 "report: empty: is a folder; name a file" $c w.cdxj --report empty
done
try 3 "report: nowhere/r.html: cannot be written" report repo --out nowhere/r.html
try 3 "report: nowhere/r.html: cannot be written" -C repo cycle --report nowhere/r.html
try 3 "nowhere/x: cannot be written" -C repo rank --pagerank nowhere/x
try 3 "nowhere/x: cannot be written" -C repo rank --save nowhere/x
try 3 "notes.txt: line 1: two words are wanted, from and to" rank notes.txt
for c in plan cycle status log report rank cluster get; do
	try 5 "no repository here; -C DIR names one, .freshet init DIR. makes one" -C empty $c
done
try 3 "notes.txt: is a file; name a folder" init notes.txt
try 3 "nowhere/x: no folder can be made there" init nowhere/x
try 2 "freshet -C repo set contact mailto" -C repo cycle
try 3 "ca-file: missing: No such file" -C repo cycle --contact a@example.org --ca-file missing
try 2 "x is not a network; write it as" -C repo cycle --contact a@example.org --allow-net x
try 2 "x is not a network; write it as" -C repo set allow-net 10.0.0.0/8,x
try 2 "contact: holds control bytes" -C repo set contact $'x\r\nCookie: y'
try 2 "allow-net: names no network" -C repo set allow-net ,
try 2 "ignore: not a rule at" -C repo cycle --contact a@example.org --ignore '###'
try 2 "not in this repository; .freshet add." -C repo show http://nosuch.example/
try 2 "cycle 9: the repository has had 0; .freshet log." -C repo log --cycle 9
try 2 "export: 'x' is none of pages" -C repo export x
for kind in pages cdxj warc; do try 2 "export $kind: --since goes with changed, visits and atom" -C repo export $kind -o x --since last; done
try 2 "export visits: --extended goes with cdxj" -C repo export visits --extended
try 2 "no setting 'x'; .freshet get --all. lists" -C repo set x 1
try 2 "no setting 'contat'; did you mean contact\?" -C repo set contat x
try 2 "no setting 'polcy'; did you mean policy\?" -C repo get polcy
try 2 "delay: '-1' is not a duration" -C repo set delay -1
try 2 "no command 'repl'; did you mean replay\?" repl
try 2 "no command 'repo', but a repository: freshet -C repo COMMAND" repo status
try 2 "no option -c comes before a command .-C DIR names the repository." -c repo status
try 2 "no option --budget comes before a command; those of a command come behind" --budget 3 cycle
try 2 "no command 'zzzzzz'" --repository=repo zzzzzz
try 2 "no policy 'randm'; did you mean random\?" replay w.cdxj --policy tide,randm
try 2 "target: 180% is outside 0 .. 1" -C repo live --target 180%
try 2 "'explore' is not key=value" replay w.cdxj --policy tide:batch=0.1,explore
try 2 "no policy 'x'" -C repo set policy x
try 2 "detector \"x\"" -C repo set detect x
try 2 "'ftp://x' is no URL of a page: scheme is neither http nor https" -C repo add ftp://x
try 3 "empty: is a folder without .warc, .cdx or .cdxj files" -C repo import empty
try 3 "words: missing: No such file" -C repo import w.cdxj --words missing
try 2 "no policy 'cluser'; did you mean cluster\?" policies cluser
try 2 "no command 'repaly'; did you mean replay\?" help repaly
try 2 "no record has the digest that this detector compares; try --detect bytes" replay w.cdxj --detect near:3
try 2 "csv or --json: results come in one of them" replay w.cdxj --csv --json
try 2 "--delay: '2x' is not a duration such as 250ms" -C repo cycle --delay 2x
try 2 "--delay: 2h is outside 0 .. 3600 seconds" -C repo cycle --delay 2h
try 2 "every: '100ms' is less than a second" -C repo set every 100ms
try 3 "notes.txt: no line of it is an outcome; .freshet tell --help." -C repo tell notes.txt
[ -z "$($f -C repo get)" ] || { echo "a wrong setting was kept: $($f -C repo get)"; bad=1; }
"$f" -C repo import junk.bin >out 2>err && bad=1
grep -q 'nothing in it could be read' err || { echo "import junk.bin said: $(cat err)"; bad=1; }
exit $bad
