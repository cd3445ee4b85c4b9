#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
#
# A service as many are: HTTP on loopback, a thread a connection, and all it tells of its requests are
# messages of Python's logging, by two loggers. LTTng's agent takes them.
#
# logging_service.py WORK REQUESTS: serves, and asks itself from four clients, until WORK/end is there
# or REQUESTS were answered (0: no bound). WORK/access.log has one line a request: id kind user ms.
import http.client
import http.server
import itertools
import logging
import os
import random
import sys
import threading
import time

import lttngust  # noqa: F401: registers with the session daemons

work, most = sys.argv[1], int(sys.argv[2])
web = logging.getLogger("shop.web")
db = logging.getLogger("shop.db")
logging.getLogger().addHandler(logging.NullHandler())
for logger in (web, db):
    logger.setLevel(logging.DEBUG)
ids = itertools.count(1)
access = open(os.path.join(work, "access.log"), "w")
lock = threading.Lock()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        kind, user = self.path.strip("/").split("/")
        request = next(ids)
        begin = time.monotonic()
        web.info("request %d begins: %s", request, kind)
        db.debug("query of %s", kind)
        time.sleep(0.012 if kind == "buy" else 0.002)
        if kind == "buy":
            db.warning("slow query of %s", kind)
        ms = (time.monotonic() - begin) * 1e3
        web.info("request %d took %.3f ms for %s", request, ms, user)
        with lock:
            access.write(f"{request} {kind} {user} {ms:.3f}\n")
            access.flush()
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


def client(port, seed, share):
    choose = random.Random(seed)
    connection = http.client.HTTPConnection("127.0.0.1", port)
    for n in itertools.count():
        if (share and n >= share) or os.path.exists(os.path.join(work, "end")):
            return
        connection.request("GET", "/%s/%s" % (choose.choice(["buy", "look", "look"]),
                                              choose.choice(["alice", "bob"])))
        connection.getresponse().read()
        time.sleep(0.005)


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
threading.Thread(target=server.serve_forever, daemon=True).start()
# Whoever is to record is ready before the first request, where they are counted.
while most and not os.path.exists(os.path.join(work, "go")):
    time.sleep(0.05)
clients = [threading.Thread(target=client, args=(server.server_port, seed, most // 4))
           for seed in range(4)]
for thread in clients:
    thread.start()
for thread in clients:
    thread.join()
open(os.path.join(work, "done"), "w").close()
while not os.path.exists(os.path.join(work, "end")):
    time.sleep(0.05)
