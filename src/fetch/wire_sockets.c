/* SPDX-License-Identifier: Apache-2.0 */
/* wire_sockets.c - which sockets of a lane epoll watches, and when libcurl wants to be called. */
#include "fetch/wire_inner.h"

#include <curl/curl.h>
#include <errno.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#define STRAY_MAX (1 << 30)     /* bytes: more than any socket holds */

/* libcurl wants a socket watched from the start to the end of every exchange.  We leave
 * open sockets in epoll instead, and remove one only if it reports an event while no
 * exchange uses it: its peer has closed it. */
static int on_socket(CURL *easy, curl_socket_t fd, int what, void *arg, void *known)
{
	struct lane *w = arg;
	struct epoll_event e = { .data.fd = fd };
	struct lane_socket *s = (size_t)fd < w->sockets.n ? &w->sockets.v[fd] : NULL;

	(void)easy;
	(void)known;
	if (s && !s->is_ours)
		s = NULL;
	if (what == CURL_POLL_REMOVE) {
		if (s)
			s->wanted = 0;
		else
			epoll_ctl(w->epoll, EPOLL_CTL_DEL, fd, &e);
		return 0;
	}
	e.events = (what & CURL_POLL_IN ? (uint32_t)EPOLLIN : 0) |
		(what & CURL_POLL_OUT ? (uint32_t)EPOLLOUT : 0);
	if (s) {
		s->wanted = e.events;
		if (s->watched == e.events)
			return 0;
		s->watched = e.events;
	}
	if (epoll_ctl(w->epoll, EPOLL_CTL_ADD, fd, &e) < 0 && errno == EEXIST)
		epoll_ctl(w->epoll, EPOLL_CTL_MOD, fd, &e);
	return 0;
}

bool wire_sockets_stray(struct lane *w, int fd)
{
	struct lane_socket *s = (size_t)fd < w->sockets.n ? &w->sockets.v[fd] : NULL;
	struct epoll_event e = { .data.fd = fd };

	if (!s || !s->is_ours || s->wanted)
		return false;
	epoll_ctl(w->epoll, EPOLL_CTL_DEL, fd, &e);
	s->watched = 0;
	if (s->is_plain && !w->n_paused) {      /* a paused transfer does not wait for events, either */
		shutdown(fd, SHUT_RDWR);
		(void)!recv(fd, NULL, STRAY_MAX, MSG_TRUNC | MSG_DONTWAIT); /* dropped */
	}
	return true;
}

static int on_timer(CURLM *multi, long ms, void *arg)
{
	struct lane *w = arg;

	(void)multi;
	w->timer = ms < 0 ? -1 : wire_now() + (double)ms / 1000;
	return 0;
}

void wire_sockets_init(struct lane *w)
{
	curl_multi_setopt(w->multi, CURLMOPT_SOCKETFUNCTION, on_socket);
	curl_multi_setopt(w->multi, CURLMOPT_SOCKETDATA, w);
	curl_multi_setopt(w->multi, CURLMOPT_TIMERFUNCTION, on_timer);
	curl_multi_setopt(w->multi, CURLMOPT_TIMERDATA, w);
}
