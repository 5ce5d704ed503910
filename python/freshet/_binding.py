# SPDX-License-Identifier: Apache-2.0
"""The C library by ctypes: structs and calls of freshet.h, and nothing else.

Structs have the fields of freshet.h in the same order. The library checks the sizes that
we pass, so a library that is older than this file refuses what it does not know.
"""
import ctypes
import ctypes.util
import os
from ctypes import CFUNCTYPE, POINTER, c_char_p, c_double, c_int, c_int32, c_int64, c_size_t, \
    c_uint32, c_uint64, c_void_p

NAMES = ("libfreshet.so.0", "libfreshet.so")


def _sized(name, *fields):
    """A struct that begins with its size, as all of the library do."""
    def init(self, **values):
        ctypes.Structure.__init__(self, size=ctypes.sizeof(type(self)), **values)
    return type(name, (ctypes.Structure,),
                {"_fields_": [("size", c_size_t), *fields], "__init__": init})


PlanOptions = _sized(
    "PlanOptions", ("policy", c_char_p), ("budget", c_uint32), ("seed", c_uint64),
    ("now", c_int64), ("cycle_seconds", c_int64), ("aim", c_char_p), ("weight", c_char_p))
Page = _sized(
    "Page", ("url", c_char_p), ("score", c_double), ("probability", c_double),
    ("reason", c_char_p))
Explanation = _sized(
    "Explanation", ("url", c_char_p), ("asked", c_int), ("in_next_cycle", c_int),
    ("rank", c_uint64), ("of", c_uint64), ("cycles", c_uint32), ("budget", c_uint32),
    ("score", c_double), ("probability", c_double), ("reason", c_char_p),
    ("because", c_char_p), ("policy_says", c_char_p), ("visits", c_uint32),
    ("changes", c_uint32), ("last_visit", c_int64), ("failed_in_row", c_uint32),
    ("rests_until", c_int64))
CycleOptions = _sized(
    "CycleOptions", ("policy", c_char_p), ("budget", c_uint32), ("seed", c_uint64),
    ("cycle_seconds", c_int64), ("aim", c_char_p), ("weight", c_char_p), ("client", c_char_p),
    ("delay", c_double), ("anew", c_int))
AskOptions = _sized(
    "AskOptions", ("want", c_uint32), ("per_host", c_uint32), ("max_requests", c_uint32),
    ("lease_seconds", c_int64), ("agent", c_char_p))
Offer = _sized(
    "Offer", ("lease", c_char_p), ("url", c_char_p), ("etag", c_char_p),
    ("last_modified", c_char_p), ("last_visit", c_int64), ("not_before", c_int64),
    ("until", c_int64), ("max_requests", c_uint32), ("again", c_int), ("score", c_double),
    ("probability", c_double), ("reason", c_char_p), ("given", c_char_p), ("robots", c_char_p),
    ("robots_read", c_int64), ("crawl_delay", c_double))
Asked = _sized(
    "Asked", ("offers", POINTER(POINTER(Offer))), ("n", c_uint32), ("done", c_int),
    ("wait", c_int64), ("cycle", c_uint32), ("budget", c_uint32), ("spent", c_uint32))
Told = _sized(
    "Told", ("lease", c_char_p), ("url", c_char_p), ("outcome", c_int), ("status", c_int32),
    ("digest", c_char_p), ("etag", c_char_p), ("last_modified", c_char_p), ("links", c_char_p),
    ("cause", c_char_p), ("requests", c_uint32), ("time", c_int64), ("score", c_double),
    ("probability", c_double), ("add", c_int))
Change = _sized(
    "Change", ("cursor", c_char_p), ("url", c_char_p), ("kind", c_int), ("time", c_int64),
    ("cycle", c_uint32), ("status", c_int32), ("mime", c_char_p), ("title", c_char_p),
    ("digest", c_char_p), ("robots", c_char_p), ("file", c_char_p), ("offset", c_int64),
    ("length", c_int64))
ReplayOptions = _sized(
    "ReplayOptions", ("policy", c_char_p), ("budget_percent", c_double),
    ("cycle_seconds", c_int64), ("seed", c_uint64), ("aim", c_char_p))
Measures = _sized(
    "Measures", ("pages", c_uint32), ("cycles", c_uint32), ("budget", c_uint32),
    ("change_ratio", c_double), ("change_ratio_cycle", c_double),
    ("weighted_change_ratio", c_double), ("freshness", c_double), ("age_days", c_double),
    ("max_unvisited_days", c_double), ("freshness_time", c_double), ("age_time_days", c_double))

WARN = CFUNCTYPE(None, c_void_p, c_char_p)
PROGRESS = CFUNCTYPE(c_int, c_void_p, c_char_p, c_uint64, c_uint64)
Hooks = _sized("Hooks", ("arg", c_void_p), ("warn", WARN), ("progress", PROGRESS))
EACH_PAGE = CFUNCTYPE(c_int, c_void_p, POINTER(Page))
EACH_CHANGE = CFUNCTYPE(c_int, c_void_p, POINTER(Change))

CALLS = {       # name: arguments behind the handle
    "freshet_add": [c_char_p],
    "freshet_weigh": [c_char_p, c_double],
    "freshet_import": [c_char_p],
    "freshet_set": [c_char_p, c_char_p],
    "freshet_get": [c_char_p, POINTER(c_char_p)],
    "freshet_clock": [c_int64],
    "freshet_listen": [POINTER(Hooks)],
    "freshet_plan": [POINTER(PlanOptions), EACH_PAGE, c_void_p],
    "freshet_explain": [c_char_p, POINTER(PlanOptions), POINTER(Explanation)],
    "freshet_cycle_begin": [POINTER(CycleOptions)],
    "freshet_ask": [POINTER(AskOptions), POINTER(Asked)],
    "freshet_tell": [POINTER(Told)],
    "freshet_tell_all": [POINTER(POINTER(Told)), c_size_t],
    "freshet_release": [c_char_p],
    "freshet_cycle_end": [],
    "freshet_changes": [c_char_p, EACH_CHANGE, c_void_p],
    "freshet_export": [c_char_p, c_char_p],
    "freshet_replay": [POINTER(c_char_p), c_size_t, POINTER(ReplayOptions), POINTER(Measures)],
}


def _open_library():
    """libfreshet: the file that FRESHET_LIBRARY names, or the one that is installed."""
    named = os.environ.get("FRESHET_LIBRARY")
    found = ctypes.util.find_library("freshet")
    tried = []
    for name in [named] if named else [*NAMES, *([found] if found else [])]:
        try:
            return ctypes.CDLL(name)
        except OSError as e:
            tried.append(str(e))
    raise ImportError("libfreshet is not installed; FRESHET_LIBRARY=PATH names its file ("
                      + "; ".join(tried) + ")")


library = _open_library()
library.freshet_version.restype = c_char_p
library.freshet_error.argtypes, library.freshet_error.restype = [c_void_p], c_char_p
library.freshet_open.argtypes = library.freshet_create.argtypes = [POINTER(c_void_p), c_char_p]
library.freshet_close.argtypes, library.freshet_close.restype = [c_void_p], None
for _name, _arguments in CALLS.items():
    getattr(library, _name).argtypes = [c_void_p, *_arguments]
