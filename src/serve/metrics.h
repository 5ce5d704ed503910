/* SPDX-License-Identifier: Apache-2.0 */
/* metrics.h - GET /metrics: figures of the service and its repository, for Prometheus. */
#ifndef SERVE_METRICS_H
#define SERVE_METRICS_H

#include "serve/serve_inner.h"

route_run route_metrics;

#endif
