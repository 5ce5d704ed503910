/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The address gate: every network of PEERS 5.2 at its first and last address
 * and just outside, every IPv6 wrapping of each, the allow list, literals.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <cmocka.h>

#include "fetch/gate.h"

static struct sockaddr_storage sa_of(const char *text)
{
	struct sockaddr_storage sa = { 0 };

	if (strchr(text, ':')) {
		sa.ss_family = AF_INET6;
		assert_int_equal(inet_pton(AF_INET6, text,
		                 &((struct sockaddr_in6 *)&sa)->sin6_addr), 1);
	} else {
		sa.ss_family = AF_INET;
		assert_int_equal(inet_pton(AF_INET, text,
		                 &((struct sockaddr_in *)&sa)->sin_addr), 1);
	}
	return sa;
}

static bool open_to(const struct gate *g, const char *text)
{
	struct sockaddr_storage sa = sa_of(text);

	return gate_refuses(g, (struct sockaddr *)&sa) == NULL;
}

/* The networks as PEERS 5.2 writes them: first, last, before, after; "" where
 * the neighbour is closed as well or does not exist. */
static const char *const nets_v4[][4] = {
	{ "0.0.0.0", "0.255.255.255", "", "1.0.0.0" },
	{ "10.0.0.0", "10.255.255.255", "9.255.255.255", "11.0.0.0" },
	{ "100.64.0.0", "100.127.255.255", "100.63.255.255", "100.128.0.0" },
	{ "127.0.0.0", "127.255.255.255", "126.255.255.255", "128.0.0.0" },
	{ "169.254.0.0", "169.254.255.255", "169.253.255.255", "169.255.0.0" },
	{ "172.16.0.0", "172.31.255.255", "172.15.255.255", "172.32.0.0" },
	{ "192.0.0.0", "192.0.0.255", "191.255.255.255", "192.0.1.0" },
	{ "192.0.2.0", "192.0.2.255", "192.0.1.255", "192.0.3.0" },
	{ "192.88.99.0", "192.88.99.255", "192.88.98.255", "192.88.100.0" },
	{ "192.168.0.0", "192.168.255.255", "192.167.255.255", "192.169.0.0" },
	{ "198.18.0.0", "198.19.255.255", "198.17.255.255", "198.20.0.0" },
	{ "198.51.100.0", "198.51.100.255", "198.51.99.255", "198.51.101.0" },
	{ "203.0.113.0", "203.0.113.255", "203.0.112.255", "203.0.114.0" },
	{ "224.0.0.0", "239.255.255.255", "223.255.255.255", "" },
	{ "240.0.0.0", "255.255.255.255", "", "" },
};

static void test_v4_networks_and_neighbours(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof nets_v4 / sizeof *nets_v4; i++) {
		for (int j = 0; j < 4; j++) {
			if (!nets_v4[i][j][0])
				continue;
			if (open_to(NULL, nets_v4[i][j]) != (j >= 2))
				fail_msg("%s", nets_v4[i][j]);
		}
	}
	assert_false(open_to(NULL, "169.254.169.254"));
	assert_true(open_to(NULL, "8.8.8.8"));
	assert_true(open_to(NULL, "93.184.216.34"));
}

/* Each wrapping of each address is as open as the address. */
static void test_v6_wrappings(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof nets_v4 / sizeof *nets_v4; i++) {
		for (int j = 0; j < 4; j++) {
			unsigned a, b, c, d;
			char t[5][64];

			if (!nets_v4[i][j][0])
				continue;
			assert_int_equal(sscanf(nets_v4[i][j], "%u.%u.%u.%u", &a, &b, &c, &d), 4);
			snprintf(t[0], 64, "::ffff:%u.%u.%u.%u", a, b, c, d);
			snprintf(t[1], 64, "64:ff9b::%u.%u.%u.%u", a, b, c, d);
			snprintf(t[2], 64, "2002:%02x%02x:%02x%02x::1", a, b, c, d);
			snprintf(t[3], 64, "2001:0:%02x%02x:%02x%02x:0:1:f7f7:f7f7", a, b, c, d);
			snprintf(t[4], 64, "2001:0:808:808:0:1:%02x%02x:%02x%02x",
			         255 - a, 255 - b, 255 - c, 255 - d);
			for (int k = 0; k < 5; k++)
				if (open_to(NULL, t[k]) != (j >= 2))
					fail_msg("%s of %s", t[k], nets_v4[i][j]);
			snprintf(t[0], 64, "2a00:1450::200:5efe:%u.%u.%u.%u", a, b, c, d);
			assert_int_equal(open_to(NULL, t[0]), j >= 2);
			/* IPv4-compatible and local-use NAT64 are never open */
			snprintf(t[0], 64, "::%02x%02x:%02x%02x", a, b, c, d);
			snprintf(t[1], 64, "64:ff9b:1::%u.%u.%u.%u", a, b, c, d);
			assert_false(open_to(NULL, t[0]));
			assert_false(open_to(NULL, t[1]));
		}
	}
}

static void test_v6_networks(void **state)
{
	static const char *const closed[] = {
		"::", "::1", "::2", "fc00::", "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
		"fe80::", "fe80::1", "febf:ffff::1", "fec0::1", "ff00::", "ff02::1",
		"ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "2001:db8::",
		"2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", "3fff::", "3fff:fff:ffff::1",
		"100::1", "2001:2::1", "2001:10::1", "2001:20::1", "5f00::1", "3ffe::1",
		"64:ff9b:1::1", "64:ff9b:1:ffff::1", "4000::1", "1fff::1", "8000::1",
	};
	static const char *const opened[] = {
		"2001:4860:4860::8888", "2606:4700::1111", "2a00:1450:4001::1",
		"2001:200::1", "2001:db7:ffff::1", "2001:db9::1", "2620:fe::fe",
		"64:ff9b::808:808", "2400::1",
	};

	(void)state;
	for (size_t i = 0; i < sizeof closed / sizeof *closed; i++)
		if (open_to(NULL, closed[i]))
			fail_msg("%s is open", closed[i]);
	for (size_t i = 0; i < sizeof opened / sizeof *opened; i++)
		if (!open_to(NULL, opened[i]))
			fail_msg("%s is closed", opened[i]);
}

static void test_other_families(void **state)
{
	struct sockaddr_storage sa = { .ss_family = AF_UNIX };

	(void)state;
	assert_non_null(gate_refuses(NULL, (struct sockaddr *)&sa));
	sa.ss_family = AF_UNSPEC;
	assert_non_null(gate_refuses(NULL, (struct sockaddr *)&sa));
}

static void test_allow_list(void **state)
{
	static const char *const bad[] = {
		"", "/", "10.0.0.0/", "10.0.0.0/33", "10.0.0.1/8", "10.0.0.0/8x",
		"10.0.0.0/-1", "10.0.0.0/ 8", "10.0.0/8", "fd00::/129", "fd00::1/8",
		"localhost", "10.0.0.0/8/8", "0x7f.0.0.1/32", "[::1]/128",
	};
	struct gate g = { 0 };
	struct err err;

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		if (gate_allow(&g, bad[i], &err) != E_USAGE)
			fail_msg("accepted: %s", bad[i]);
	assert_int_equal(g.n_nets, 0);
	assert_int_equal(gate_allow(&g, "127.0.0.0/9", &err), 0);
	assert_int_equal(gate_allow(&g, "::1", &err), 0);
	assert_int_equal(gate_allow(&g, "fd12:3450::/28", &err), 0);
	assert_true(open_to(&g, "127.127.255.255"));
	assert_false(open_to(&g, "127.128.0.0"));
	assert_true(open_to(&g, "::ffff:127.0.0.1"));
	assert_false(open_to(&g, "64:ff9b::127.0.0.1"));   /* a wrapping stays closed */
	assert_false(open_to(&g, "2002:7f00:1::1"));
	assert_true(open_to(&g, "::1"));
	assert_false(open_to(&g, "::2"));
	assert_true(open_to(&g, "fd12:345f::1"));
	assert_false(open_to(&g, "fd12:3460::1"));
	assert_true(open_to(&g, "8.8.8.8"));
	assert_false(open_to(&g, "10.0.0.1"));
	gate_release(&g);
	assert_int_equal(gate_allow(&g, "0.0.0.0/0", &err), 0);
	assert_true(open_to(&g, "10.0.0.1"));
	assert_false(open_to(&g, "fd00::1"));
	gate_release(&g);
}

static void test_literals_and_names(void **state)
{
	static const char *const refused[] = {
		"127.0.0.1", "127.1", "0x7f.1", "0x7f000001", "2130706433", "017700000001",
		"127.0.0.1.", "[::1]", "::1", "[::ffff:10.0.0.1]", "[fe80::1%25eth0]",
		"169.254.169.254", "localhost", "LocalHost.", "a.b.localhost", "0", "10.1",
	};
	static const char *const passed[] = {
		"example.org", "notlocalhost", "localhost.example.org", "8.8.8.8",
		"[2606:4700::1111]", "127.0.0.1.example.org", "1.2.3.4.5",
	};
	struct sockaddr_storage sa;
	char text[GATE_TEXT], name[300];

	(void)state;
	for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
		if (!gate_refuses_name(NULL, refused[i]))
			fail_msg("passed: %s", refused[i]);
	for (size_t i = 0; i < sizeof passed / sizeof *passed; i++)
		if (gate_refuses_name(NULL, passed[i]))
			fail_msg("refused: %s", passed[i]);
	assert_true(gate_literal("0x7f.1", &sa));
	assert_string_equal(gate_text((struct sockaddr *)&sa, text), "127.0.0.1");
	assert_true(gate_literal("[2606:4700::1]", &sa));
	assert_string_equal(gate_text((struct sockaddr *)&sa, text), "2606:4700::1");
	assert_false(gate_literal("example.org", &sa));
	memset(name, '1', sizeof name - 1);             /* longer than any address */
	name[sizeof name - 1] = '\0';
	assert_false(gate_literal(name, &sa));
	assert_false(gate_literal("", &sa));
	assert_false(gate_literal(".", &sa));
	assert_false(gate_literal("", &sa));
	assert_false(gate_literal(".", &sa));
	assert_false(gate_literal("[]", &sa));
}

/* The list of the fetch standard, typed in again as ranges. */
static void test_ports(void **state)
{
	static const uint16_t ranges[][2] = { { 1, 1 }, { 7, 7 }, { 9, 9 }, { 11, 11 },
		{ 13, 13 }, { 15, 15 }, { 17, 17 }, { 19, 23 }, { 25, 25 }, { 37, 37 },
		{ 42, 43 }, { 53, 53 }, { 69, 69 }, { 77, 77 }, { 79, 79 }, { 87, 87 },
		{ 95, 95 }, { 101, 104 }, { 109, 111 }, { 113, 113 }, { 115, 115 },
		{ 117, 117 }, { 119, 119 }, { 123, 123 }, { 135, 135 }, { 137, 137 },
		{ 139, 139 }, { 143, 143 }, { 161, 161 }, { 179, 179 }, { 389, 389 },
		{ 427, 427 }, { 465, 465 }, { 512, 515 }, { 526, 526 }, { 530, 532 },
		{ 540, 540 }, { 548, 548 }, { 554, 554 }, { 556, 556 }, { 563, 563 },
		{ 587, 587 }, { 601, 601 }, { 636, 636 }, { 989, 990 }, { 993, 993 },
		{ 995, 995 }, { 1719, 1720 }, { 1723, 1723 }, { 2049, 2049 },
		{ 3659, 3659 }, { 4045, 4045 }, { 4190, 4190 }, { 5060, 5061 },
		{ 6000, 6000 }, { 6566, 6566 }, { 6665, 6669 }, { 6679, 6679 },
		{ 6697, 6697 }, { 10080, 10080 } };
	unsigned refused = 0;

	(void)state;
	for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
		for (unsigned port = ranges[i][0]; port <= ranges[i][1]; port++) {
			assert_true(gate_refuses_port(port));
			refused++;
		}
	for (unsigned port = 1; port <= 65535; port++)
		refused -= gate_refuses_port(port);
	assert_int_equal(refused, 0);
	assert_false(gate_refuses_port(80) || gate_refuses_port(443) || gate_refuses_port(8080));
}

/* Equal text in the second column: one party. */
static void test_parties(void **state)
{
	static const char *const same[][2] = {
		{ "192.0.2.1", "192.0.2.1" }, { "::ffff:192.0.2.1", "192.0.2.1" },
		{ "64:ff9b::c000:201", "192.0.2.1" }, { "2002:c000:201::1", "192.0.2.1" },
		{ "2002:c000:201:5::1", "192.0.2.1" }, { "64:ff9b::c000:202", "192.0.2.2" },
		{ "2001:db8:1:2::1", "a" }, { "2001:db8:1:2:ffff::1", "a" },
		{ "2001:db8:1:3::1", "b" }, { "::1", "here" }, { "192.0.2.2", "192.0.2.2" },
	};
	const size_t n = sizeof same / sizeof *same;

	(void)state;
	for (size_t i = 0; i < n * n; i++) {
		const char *const *x = same[i / n], *const *y = same[i % n];
		struct sockaddr_storage sx, sy;
		uint8_t px[GATE_PARTY], py[GATE_PARTY];
		size_t nx, ny;

		assert_true(gate_literal(x[0], &sx) && gate_literal(y[0], &sy));
		nx = gate_party((struct sockaddr *)&sx, px);
		ny = gate_party((struct sockaddr *)&sy, py);
		assert_true(nx && ny);
		if ((nx == ny && !memcmp(px, py, nx)) != !strcmp(x[1], y[1]))
			fail_msg("%s and %s", x[0], y[0]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_v4_networks_and_neighbours),
		cmocka_unit_test(test_v6_wrappings),
		cmocka_unit_test(test_v6_networks),
		cmocka_unit_test(test_other_families),
		cmocka_unit_test(test_allow_list),
		cmocka_unit_test(test_ports),
		cmocka_unit_test(test_parties),
		cmocka_unit_test(test_literals_and_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
