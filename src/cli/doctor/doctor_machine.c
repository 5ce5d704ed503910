/* SPDX-License-Identifier: Apache-2.0 */
/* doctor_machine.c - what does not depend on a repository; see doctor.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/when.h"
#include "cli/doctor/doctor.h"
#include "cli/frame/confine.h"
#include "fetch/versions.h"

#define FILES_WANTED 512                /* open files: 128 connections, archives, tables */
#define BUILT INT64_C(1767225600)       /* 2026-01-01: no clock that is right is before it */

static void check_versions(struct doctor *d)
{
	char libraries[200];

	doctor_find(d, "versions", VERDICT_GOOD, "freshet " FRESHET_VERSION ", %s",
	            fetch_versions(libraries, sizeof libraries));
	if (!fetch_has_tls())
		doctor_find(d, "versions", VERDICT_WRONG, "libcurl has no TLS|https pages cannot be "
		            "fetched: install libcurl4 with OpenSSL");
}

static void check_clock(struct doctor *d)
{
	char now[21];

	when_iso(d->now, now);
	if (d->now < BUILT)
		doctor_find(d, "clock", VERDICT_WRONG, "the clock says %s|set it (timedatectl "
		            "set-ntp true): visits get its time, and certificates are checked by it",
		            now);
	else
		doctor_find(d, "clock", VERDICT_GOOD, "%s", now);
}

static void check_limits(struct doctor *d)
{
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &files))
		return;
	if (files.rlim_cur < FILES_WANTED)
		doctor_find(d, "limits", VERDICT_ADVICE, "%llu files may be open at a time|raise it "
		            "(ulimit -n %d), or set fewer connections",
		            (unsigned long long)files.rlim_cur, FILES_WANTED);
	else
		doctor_find(d, "limits", VERDICT_GOOD, "%llu files may be open at a time",
		            (unsigned long long)files.rlim_cur);
}

static void check_certificates(struct doctor *d)
{
	const char *file = getenv("SSL_CERT_FILE");

	if (!file || !*file)
		file = fetch_certificates();
	if (access(file, R_OK))
		doctor_find(d, "certificates", VERDICT_WRONG, "%s cannot be read|install "
		            "ca-certificates: https pages fail without it", file);
	else
		doctor_find(d, "certificates", VERDICT_GOOD, "%s", file);
}

/* The kernel's tables of routes: a way out is one to everywhere that is not the loopback. */
static bool has_way_out(const char *table, bool six)
{
	FILE *f = fopen(table, "r");
	char line[512], name[64], to[64];
	bool found = false;

	while (f && !found && fgets(line, sizeof line, f)) {
		if (six) {
			char length[8];

			found = sscanf(line, "%63s %7s %*s %*s %*s %*s %*s %*s %*s %63s", to, length,
			               name) == 3 &&
			        !strcmp(length, "00") && !to[strspn(to, "0")] && strcmp(name, "lo");
		} else {
			found = sscanf(line, "%63s %63s", name, to) == 2 && !strcmp(to, "00000000") &&
			        strcmp(name, "lo");
		}
	}
	if (f)
		fclose(f);
	return found;
}

static void check_network(struct doctor *d)
{
	static const char *const names[] = { "http_proxy", "https_proxy", "HTTPS_PROXY",
	                                     "all_proxy", "ALL_PROXY" };
	bool four = has_way_out("/proc/net/route", false);
	bool six = has_way_out("/proc/net/ipv6_route", true);

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		const char *value = getenv(names[i]);
		char shown[200];

		if (value && *value)
			doctor_find(d, "network", VERDICT_GOOD, "requests go through the proxy %s of %s",
			            log_quote(value, strlen(value), shown, sizeof shown), names[i]);
	}
	if (!four && !six)
		doctor_find(d, "network", VERDICT_ADVICE, "this machine has no way out, neither by "
		            "IPv4 nor by IPv6|only hosts of the local network can be reached");
	else
		doctor_find(d, "network", VERDICT_GOOD, "a way out by %s",
		            four && six ? "IPv4 and IPv6" : four ? "IPv4" : "IPv6");
}

/* What is in force for this command, and so for others. */
static void check_sandbox(struct doctor *d)
{
	const struct confined *c = confine_state();
	const char *missing = confine_missing();

	if (c->off)
		doctor_find(d, "sandbox", VERDICT_ADVICE, "off, by --no-sandbox|" CONFINE_LOST);
	else if (missing)
		doctor_find(d, "sandbox", VERDICT_ADVICE, "in force:%s%s%s; missing: %s|a newer kernel, or "
		            "a container that allows it, has it", c->calls ? " system calls" : " nothing",
		            c->writing ? ", files" : "", c->cells ? ", readers in processes of their own" :
		            "", missing);
	else if (!c->calls || !c->writing || !c->cells)
		doctor_find(d, "sandbox", VERDICT_ADVICE, "could not be put in force|see the warning "
		            "above");
	else
		doctor_find(d, "sandbox", VERDICT_GOOD, "system calls (seccomp), files and programs "
		            "(Landlock %d), no new privileges, readers in processes of their own", c->abi);
}

void doctor_machine(struct doctor *d)
{
	check_versions(d);
	check_clock(d);
	check_limits(d);
	check_certificates(d);
	check_network(d);
	check_sandbox(d);
}
