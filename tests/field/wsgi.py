# SPDX-License-Identifier: GPL-3.0-or-later
# An application for gunicorn: each request works for a few milliseconds; /slow waits for another service,
# as long as its name says in milliseconds: /slow/200.
import time


def application(environ, start_response):
    words = environ["PATH_INFO"].split("/")
    if words[1] == "slow":
        time.sleep(int(words[2]) / 1000)
    body = str(sum(i * i for i in range(40000))).encode()
    start_response("200 OK", [("Content-Length", str(len(body)))])
    return [body]
