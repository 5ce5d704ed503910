/* SPDX-License-Identifier: Apache-2.0 */
/* systemd.c - see systemd.h. */
#include "serve/http/systemd.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define FIRST_FD 3

int systemd_listener(void)
{
	const char *pid = getenv("LISTEN_PID"), *fds = getenv("LISTEN_FDS");
	bool ours = pid && fds && strtol(pid, NULL, 10) == (long)getpid() &&
	            strtol(fds, NULL, 10) >= 1;

	unsetenv("LISTEN_PID");
	unsetenv("LISTEN_FDS");
	unsetenv("LISTEN_FDNAMES");
	if (ours)
		fcntl(FIRST_FD, F_SETFD, FD_CLOEXEC);
	return ours ? FIRST_FD : -1;
}

void systemd_notify(const char *text)
{
	const char *path = getenv("NOTIFY_SOCKET");
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	size_t size = path ? strlen(path) : 0;
	int fd;

	if (!size || size >= sizeof to.sun_path)
		return;
	memcpy(to.sun_path, path, size);
	if (*path == '@')               /* an abstract name */
		to.sun_path[0] = '\0';
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return;
	/* nobody hears it: then nobody waits for it */
	(void)!sendto(fd, text, strlen(text), MSG_NOSIGNAL, (struct sockaddr *)&to,
	              (socklen_t)(offsetof(struct sockaddr_un, sun_path) + size));
	close(fd);
}

void systemd_alive(double now)
{
	static double said;
	const char *text = getenv("WATCHDOG_USEC"), *pid = getenv("WATCHDOG_PID");
	double every = text ? strtod(text, NULL) / 2e6 : 0;

	if (every <= 0 || (pid && strtol(pid, NULL, 10) != (long)getpid()) || now - said < every)
		return;
	said = now;
	systemd_notify("WATCHDOG=1");
}
