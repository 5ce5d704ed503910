/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gate.c - tables of special-purpose networks; unwrapping of IPv4 addresses.
 *
 * Every address is turned into 16 bytes, IPv4 as ::ffff:a.b.c.d, and looked up
 * in two tables.  IPv4: closed if in the table.  IPv6: open only inside
 * 2000::/3 (all that IANA has ever handed out as global unicast) minus the
 * table.  Four wrappings carry an IPv4 address that some router or kernel on
 * the way will use: mapped, NAT64, 6to4 and Teredo; they are as open as what
 * they carry, and Teredo carries two.  ISATAP interface identifiers are judged
 * as well, since a router of the site may forward to the address inside.
 *
 * The allow list is asked about the address itself (and, for ::ffff:, about
 * the IPv4 address, which is the same destination); it never opens a wrapping.
 */
#include "fetch/gate.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#include "base/mem.h"

struct special { uint8_t addr[16]; uint8_t bits; const char *what; };

#define V4(a, b, c, d, n, what) \
	{ { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, a, b, c, d }, 96 + (n), what }

static const struct special closed_v4[] = {
	V4(0, 0, 0, 0, 8, "this network"),
	V4(10, 0, 0, 0, 8, "private network"),
	V4(100, 64, 0, 0, 10, "shared address space of providers"),
	V4(127, 0, 0, 0, 8, "loopback"),
	V4(169, 254, 0, 0, 16, "link-local and metadata services"),
	V4(172, 16, 0, 0, 12, "private network"),
	V4(192, 0, 0, 0, 24, "protocol assignments"),
	V4(192, 0, 2, 0, 24, "documentation"),
	V4(192, 88, 99, 0, 24, "6to4 relays"),
	V4(192, 168, 0, 0, 16, "private network"),
	V4(198, 18, 0, 0, 15, "benchmarking"),
	V4(198, 51, 100, 0, 24, "documentation"),
	V4(203, 0, 113, 0, 24, "documentation"),
	V4(224, 0, 0, 0, 4, "multicast"),
	V4(240, 0, 0, 0, 4, "reserved"),
};

/* Inside 2000::/3, or named for the message; the rest is closed anyway. */
static const struct special closed_v6[] = {
	{ { 0 }, 128, "unspecified" },
	{ { [15] = 1 }, 128, "loopback" },
	{ { 0 }, 96, "IPv4-compatible" },
	{ { 0x00, 0x64, 0xff, 0x9b, 0x00, 0x01 }, 48, "local-use NAT64" },
	{ { 0x01, 0x00 }, 64, "discard" },
	{ { 0x20, 0x01 }, 23, "protocol assignments" },
	{ { 0x20, 0x01, 0x0d, 0xb8 }, 32, "documentation" },
	{ { 0x3f, 0xff }, 20, "documentation" },
	{ { 0x3f, 0xfe }, 16, "6bone" },
	{ { 0x5f, 0x00 }, 16, "segment routing" },
	{ { 0xfc, 0x00 }, 7, "unique local" },
	{ { 0xfe, 0x80 }, 10, "link-local" },
	{ { 0xfe, 0xc0 }, 10, "site-local" },
	{ { 0xff, 0x00 }, 8, "multicast" },
};

static const uint8_t net_mapped[12] = { [10] = 0xff, [11] = 0xff };
static const uint8_t net_nat64[12] = { 0x00, 0x64, 0xff, 0x9b };
static const uint8_t net_6to4[2] = { 0x20, 0x02 };
static const uint8_t net_teredo[4] = { 0x20, 0x01, 0x00, 0x00 };

static bool in_net(const uint8_t a[16], const uint8_t net[16], unsigned bits)
{
	unsigned bytes = bits / 8, rest = bits % 8;

	if (memcmp(a, net, bytes))
		return false;
	return !rest || !((a[bytes] ^ net[bytes]) >> (8 - rest));
}

static const char *find_special(const struct special *t, size_t n, const uint8_t a[16])
{
	for (size_t i = 0; i < n; i++)
		if (in_net(a, t[i].addr, t[i].bits))
			return t[i].what;
	return NULL;
}

static const char *refuses_v4(const uint8_t v4[4])
{
	uint8_t a[16];

	memcpy(a, net_mapped, 12);
	memcpy(a + 12, v4, 4);
	return find_special(closed_v4, sizeof closed_v4 / sizeof *closed_v4, a);
}

/* Messages are constants, so each wrapping has its own. */
static const char *refuses_wrapped(const uint8_t v4[4], const char *what)
{
	return refuses_v4(v4) ? what : NULL;
}

static const char *refuses_v6(const uint8_t a[16])
{
	const char *why;

	if (!memcmp(a, net_nat64, 12))
		return refuses_wrapped(a + 12, "NAT64 of a special address");
	if (!memcmp(a, net_6to4, 2))
		return refuses_wrapped(a + 2, "6to4 of a special address");
	if (!memcmp(a, net_teredo, 4)) {
		uint8_t client[4];

		for (int i = 0; i < 4; i++)
			client[i] = a[12 + i] ^ 0xff;
		why = refuses_wrapped(a + 4, "Teredo with a special server");
		return why ? why : refuses_wrapped(client, "Teredo of a special address");
	}
	why = find_special(closed_v6, sizeof closed_v6 / sizeof *closed_v6, a);
	if (why)
		return why;
	if ((a[0] & 0xe0) != 0x20)
		return "not global unicast";
	/* ISATAP: ...:0:5efe:a.b.c.d or ...:200:5efe:a.b.c.d */
	if ((a[8] & 0xfd) == 0 && a[9] == 0 && a[10] == 0x5e && a[11] == 0xfe)
		return refuses_wrapped(a + 12, "ISATAP of a special address");
	return NULL;
}

static bool address_bytes(const struct sockaddr *sa, uint8_t out[16])
{
	if (sa->sa_family == AF_INET) {
		const struct sockaddr_in *s = (const void *)sa;

		memcpy(out, net_mapped, 12);
		memcpy(out + 12, &s->sin_addr, 4);
		return true;
	}
	if (sa->sa_family == AF_INET6) {
		const struct sockaddr_in6 *s = (const void *)sa;

		memcpy(out, &s->sin6_addr, 16);
		return true;
	}
	return false;
}

const char *gate_refuses(const struct gate *g, const struct sockaddr *sa)
{
	uint8_t a[16];

	if (!address_bytes(sa, a))
		return "not an internet address";
	for (size_t i = 0; g && i < g->n_nets; i++)
		if (in_net(a, g->nets[i].addr, g->nets[i].bits))
			return NULL;
	if (!memcmp(a, net_mapped, 12))
		return refuses_v4(a + 12);
	return refuses_v6(a);
}

int gate_allow(struct gate *g, const char *cidr, struct err *err)
{
	char text[64];
	struct gate_net net = { .bits = 128 };
	const char *slash = strchr(cidr, '/');
	size_t size = slash ? (size_t)(slash - cidr) : strlen(cidr);
	unsigned base = 0, bits, max;
	char end;

	if (size >= sizeof text)
		return err_set(err, E_USAGE, "not a network: %.60s", cidr);
	memcpy(text, cidr, size);
	text[size] = '\0';
	if (inet_pton(AF_INET, text, net.addr + 12) == 1) {
		memcpy(net.addr, net_mapped, 12);
		base = 96;
	} else if (inet_pton(AF_INET6, text, net.addr) != 1) {
		return err_set(err, E_USAGE, "%.60s is not a network; write it as "
		               "10.0.0.0/8 or fd00::/8", cidr);
	}
	max = 128 - base;
	if (slash) {
		if (slash[1] < '0' || slash[1] > '9' ||
		    sscanf(slash + 1, "%3u%c", &bits, &end) != 1 || bits > max)
			return err_set(err, E_USAGE, "%.60s: the part after / must be "
			               "0 to %u", cidr, max);
		net.bits = (uint8_t)(base + bits);
	}
	for (unsigned i = net.bits; i < 128; i++)
		if (net.addr[i / 8] & (0x80u >> (i % 8)))
			return err_set(err, E_USAGE, "%.60s has bits set behind its "
			               "prefix of %u", cidr, net.bits - base);
	if (g->n_nets == GATE_NETS_MAX)
		return err_set(err, E_LIMIT, "more than %d networks", GATE_NETS_MAX);
	mem_grow((void **)&g->nets, &g->cap, g->n_nets + 1, sizeof *g->nets);
	g->nets[g->n_nets++] = net;
	return 0;
}

void gate_release(struct gate *g)
{
	free(g->nets);
	*g = (struct gate){ 0 };
}

bool gate_literal(const char *host, struct sockaddr_storage *ret)
{
	struct sockaddr_in6 *s6 = (void *)ret;
	struct sockaddr_in *s4 = (void *)ret;
	size_t size = strlen(host);
	struct in_addr v4;
	char text[64];

	memset(ret, 0, sizeof *ret);
	if (size && host[size - 1] == '.' && strchr(host, ':') == NULL)
		size--;                         /* "127.0.0.1." is an address, too */
	if (size >= sizeof text || !size)
		return false;
	memcpy(text, host, size);
	text[size] = '\0';
	if (inet_aton(text, &v4)) {
		s4->sin_family = AF_INET;
		s4->sin_addr = v4;
		return true;
	}
	if (text[0] == '[' && text[size - 1] == ']') {
		memmove(text, text + 1, size - 2);
		text[size - 2] = '\0';
	}
	text[strcspn(text, "%")] = '\0';        /* a zone ("%eth0") does not matter */
	if (inet_pton(AF_INET6, text, &s6->sin6_addr) != 1)
		return false;
	s6->sin6_family = AF_INET6;
	return true;
}

const char *gate_refuses_name(const struct gate *g, const char *host)
{
	struct sockaddr_storage sa;
	size_t size = strlen(host);
	static const char local[] = "localhost";
	const size_t local_size = sizeof local - 1;

	if (gate_literal(host, &sa))
		return gate_refuses(g, (const struct sockaddr *)&sa);
	if (size && host[size - 1] == '.')
		size--;
	if (size >= local_size && !strncasecmp(host + size - local_size, local, local_size) &&
	    (size == local_size || host[size - local_size - 1] == '.'))
		return "the name of this machine";
	return NULL;
}

bool gate_refuses_port(unsigned port)
{
	static const uint16_t bad[] = {
		1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87,
		95, 101, 102, 103, 104, 109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139,
		143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526, 530, 531, 532, 540, 548,
		554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659,
		4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697,
		10080,
	};

	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		if (bad[i] == port)
			return true;
	return false;
}

size_t gate_party(const struct sockaddr *sa, uint8_t out[GATE_PARTY])
{
	uint8_t a[16];
	bool v4;

	if (!address_bytes(sa, a))
		return 0;
	v4 = !memcmp(a, net_mapped, 12) || !memcmp(a, net_nat64, 12);
	if (v4)
		memcpy(out, a + 12, 4);
	else if ((v4 = !memcmp(a, net_6to4, 2)))
		memcpy(out, a + 2, 4);
	else
		memcpy(out, a, 8);
	return v4 ? 4 : 8;
}

const char *gate_text(const struct sockaddr *sa, char out[GATE_TEXT])
{
	uint8_t a[16];

	out[0] = '\0';
	if (!address_bytes(sa, a))
		return out;
	if (sa->sa_family == AF_INET)
		inet_ntop(AF_INET, a + 12, out, GATE_TEXT);
	else
		inet_ntop(AF_INET6, a, out, GATE_TEXT);
	return out;
}
