# SPDX-License-Identifier: Apache-2.0
"""The peers of bench_cluster: scikit-learn on the rows that bench_cluster wrote.

usage: bench_cluster.py FOLDER METHOD K   (FOLDER/rows.* in, FOLDER/labels out)
Prints CPU seconds of fit() and the peak resident memory in bytes.
"""
import os, resource, sys
import numpy as np
from sklearn.cluster import BisectingKMeans, MiniBatchKMeans

folder, method, k = sys.argv[1], sys.argv[2], int(sys.argv[3])
n, dim, dense = np.fromfile(os.path.join(folder, "rows.shape"), dtype=np.int64)
if dense:
    rows = np.fromfile(os.path.join(folder, "rows.dense"), dtype=np.float32).reshape(n, dim)
else:
    from scipy.sparse import csr_matrix
    start = np.fromfile(os.path.join(folder, "rows.start"), dtype=np.int64)
    term = np.fromfile(os.path.join(folder, "rows.term"), dtype=np.int32)
    weight = np.fromfile(os.path.join(folder, "rows.weight"), dtype=np.float32)
    rows = csr_matrix((weight, term, start.astype(np.int32)), shape=(n, dim))

if method == "bisecting":
    model = BisectingKMeans(n_clusters=k, random_state=1)
else:
    model = MiniBatchKMeans(n_clusters=k, random_state=1, n_init=3)


def cpu():
    r = resource.getrusage(resource.RUSAGE_SELF)
    return r.ru_utime + r.ru_stime


before = cpu()
labels = model.fit(rows).labels_
spent = cpu() - before
np.asarray(labels, dtype=np.uint32).tofile(os.path.join(folder, "labels"))
print(spent, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)
