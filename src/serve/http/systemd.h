/* SPDX-License-Identifier: Apache-2.0 */
/*
 * systemd.h - what a service manager and its service tell each other, by their plain
 * protocols: a socket that is handed over (LISTEN_FDS), "ready" and "I live" (NOTIFY_SOCKET,
 * WATCHDOG_USEC).  Without these variables nothing happens.
 */
#ifndef SERVE_HTTP_SYSTEMD_H
#define SERVE_HTTP_SYSTEMD_H

/* The listening socket that we were given, or -1.  The variables are removed: children have no
 * part in it. */
int systemd_listener(void);
/* "READY=1", "STOPPING=1". */
void systemd_notify(const char *text);
/* To be called now and then; says that we live when it is time to. */
void systemd_alive(double now);

#endif
