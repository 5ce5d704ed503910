#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# TLS as libcurl users expect it, against nginx with certificates made here: HTTP/2 is
# spoken where the server offers it, HTTP/1.1 where not; an unknown maker, another
# host's name and an expired certificate are refused; CA settings by option and by
# environment; through a proxy by CONNECT, names being the proxy's to resolve.
. "$SRC/tests/lib/e2e.sh"
unset http_proxy https_proxy all_proxy ALL_PROXY HTTPS_PROXY SSL_CERT_FILE SSL_CERT_DIR CURL_CA_BUNDLE || true

# our own maker of certificates, and one for 127.0.0.1 and 127.0.0.3 only
key="-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes"
openssl req -x509 $key -days 2 -subj "/CN=test maker" -keyout ca.key -out ca.pem 2> /dev/null
cat > ca.cnf <<'CNF'
[ca]
default_ca = a
[a]
database = index.txt
new_certs_dir = .
serial = serial
default_md = sha256
policy = p
copy_extensions = copy
unique_subject = no
[p]
commonName = supplied
CNF
: > index.txt; echo 01 > serial
certificate() { # name from to
	openssl req -new $key -subj "/CN=$1" -addext subjectAltName=IP:127.0.0.1,IP:127.0.0.3,DNS:www.example.org -keyout "$1.key" -out "$1.csr" 2> /dev/null
	openssl ca -batch -config ca.cnf -cert ca.pem -keyfile ca.key -in "$1.csr" -out "$1.pem" -startdate "$2" -enddate "$3" -notext 2> /dev/null
}
certificate good 20200101000000Z 20491231235959Z
certificate old 20200101000000Z 20200201000000Z

# three free ports, not of those that the system deals out to whoever asks meanwhile
read -r two one late < <(python3 -c '
import random, socket
free = []
while len(free) < 3:
    s, n = socket.socket(), random.randrange(10000, 30000)
    try: s.bind(("0.0.0.0", n)); free.append((s, n))
    except OSError: pass
print(*[n for s, n in free])')
mkdir -p www logs
for i in 1 2 3 4 5; do echo "<title>page $i</title>" > www/$i.html; done
cat > nginx.conf <<CNF
$([ "$(id -u)" != 0 ] || echo 'user root;') daemon off; worker_processes 1; pid nginx.pid; error_log logs/error.log;
events { worker_connections 64; }
http {
	log_format proto '\$server_protocol \$connection \$uri';
	client_body_temp_path t1; proxy_temp_path t2; fastcgi_temp_path t3; uwsgi_temp_path t4; scgi_temp_path t5;
	default_type text/html; root www;
	ssl_certificate good.pem; ssl_certificate_key good.key;
	server { listen 0.0.0.0:$two ssl http2; access_log logs/two proto; }
	server { listen 0.0.0.0:$one ssl; access_log logs/one proto; }
	server { listen 0.0.0.0:$late ssl http2; access_log logs/late proto; ssl_certificate old.pem; ssl_certificate_key old.key; }
}
CNF
PATH=$PATH:/usr/sbin nginx -p "$TMP" -c "$TMP/nginx.conf" -e logs/error.log & server=$!
trap 'kill $server' EXIT
for i in $(seq 100); do python3 -c "import socket; socket.create_connection(('127.0.0.1',$two))" 2> /dev/null && break; sleep 0.1; done

repository() { # name url...
	"$FRESHET" init "$1" 2> /dev/null
	"$FRESHET" -C "$1" set contact mailto:test@example.org > /dev/null
	name=$1; shift
	printf '%s\n' "$@" > urls
	"$FRESHET" -C "$name" import urls > /dev/null
}
run() { "$FRESHET" -C "$1" cycle --budget 100% --delay 0 --allow-net 127.0.0.0/8 --json "${@:2}"; }

# nobody vouches for the maker: nothing is fetched, not even robots.txt
repository a https://127.0.0.1:$two/{1,2,3,4,5}.html
expect 4 run a
is 'r["reasons"]' "{'tls': 5}"
[ ! -s logs/two ]

# the maker is trusted: HTTP/2, by the server's own log, over one connection
expect 0 run a --ca-file ca.pem
is 'r["new"]' 5
[ "$(grep -c '^HTTP/2.0 ' logs/two)" = 6 ] # robots.txt and five pages
[ "$(cut -d' ' -f2 logs/two | sort -u | wc -l)" = 1 ]
# the archive speaks HTTP/1.1, as everybody reads it
gzip -dc a/warc/*.warc.gz > warc
[ "$(grep -ac '^HTTP/1.1 200 ' warc)" = 5 ]
[ "$(grep -ac '^GET /[1-5].html HTTP/1.1' warc)" = 5 ]
! grep -a '^HTTP/2' warc || exit 1

# a server that speaks only HTTP/1.1; the maker named by the environment, three ways
repository b https://127.0.0.1:$one/1.html
expect 0 env SSL_CERT_FILE="$TMP/ca.pem" bash -c "$(declare -f run); FRESHET='$FRESHET'; run b"
is 'r["new"]' 1
[ "$(grep -c '^HTTP/1.1 ' logs/one)" = 2 ]
expect 0 env CURL_CA_BUNDLE="$TMP/ca.pem" bash -c "$(declare -f run); FRESHET='$FRESHET'; run b"
is 'r["same"]' 1
mkdir certs; cp ca.pem certs/; openssl rehash certs
expect 0 env SSL_CERT_DIR="$TMP/certs" bash -c "$(declare -f run); FRESHET='$FRESHET'; run b"
is 'r["same"]' 1
"$FRESHET" -C b set ca-file "$TMP/ca.pem"
expect 0 run b
is 'r["same"]' 1

# the certificate is another host's; it is too old
repository c https://127.0.0.2:$two/1.html https://127.0.0.3:$two/1.html https://127.0.0.1:$late/1.html
expect 0 run c --ca-file ca.pem
is 'r["new"]' 1
is 'r["reasons"]' "{'tls': 2}"
[ ! -s logs/late ]

# a proxy that knows one host: asked by CONNECT, the certificate still checked by us
cat > proxy.py <<'PY'
import os, socket, socketserver, sys, threading
class H(socketserver.BaseRequestHandler):
    def handle(self):
        head = b""
        while b"\r\n\r\n" not in head: head += self.request.recv(4096)
        with open("connects", "a") as f: f.write(head.split(b"\r\n")[0].decode() + "\n")
        to = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
        self.request.sendall(b"HTTP/1.1 200 ok\r\n\r\n")
        def copy(a, b):
            try:
                while (d := a.recv(65536)): b.sendall(d)
                b.shutdown(socket.SHUT_WR)
            except OSError: pass
        t = threading.Thread(target=copy, args=(to, self.request), daemon=True); t.start()
        copy(self.request, to); t.join()
class S(socketserver.ThreadingMixIn, socketserver.TCPServer): daemon_threads = True
s = S(("127.0.0.1", 0), H)
open("proxy.new", "w").write(str(s.server_address[1])); os.rename("proxy.new", "proxy.port")
s.serve_forever()
PY
python3 proxy.py $two 2> /dev/null & proxy=$!
trap 'kill $server $proxy' EXIT
for i in $(seq 100); do [ -s proxy.port ] && break; sleep 0.1; done
: > logs/two
repository d https://www.example.org/1.html https://other.example.org/2.html https://10.1.2.3/3.html
expect 0 run d --ca-file ca.pem --proxy http://127.0.0.1:$(cat proxy.port)
is 'r["new"]' 1
is 'r["reasons"]' "{'gate': 1, 'tls': 1}" # a private address; another host's certificate
grep -q '^CONNECT www.example.org:443 ' connects
! grep '10.1.2.3' connects || exit 1
grep -q '^HTTP/2.0 .*/1.html' logs/two
# the same by the environment
expect 0 env HTTPS_PROXY=http://127.0.0.1:$(cat proxy.port) bash -c "$(declare -f run); FRESHET='$FRESHET'; run d --ca-file ca.pem"
is 'r["same"]' 1
# a proxy that is named needs no --allow-net, and opens nothing but itself
expect 0 "$FRESHET" -C d cycle --budget 100% --delay 0 --json --ca-file ca.pem --proxy http://127.0.0.1:$(cat proxy.port)
is 'r["same"]' 1
is 'r["reasons"]' "{'gate': 1, 'tls': 1}"
echo ok
