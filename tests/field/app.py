# SPDX-License-Identifier: GPL-3.0-or-later
# An application as any other, behind a web server: app.py ADDRESS:PORT DELAY-FILE THREADS
# DELAY-FILE has nothing, or "MIN-SECONDS MAX-SECONDS": each request takes so much longer.
import http.server
import queue
import random
import sys
import threading
import time

where, delay, threads = sys.argv[1].split(":"), sys.argv[2], int(sys.argv[3])


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        with open(delay) as file:
            bounds = [float(word) for word in file.read().split()]
        if bounds:
            time.sleep(random.uniform(*bounds))
        body = str(sum(i * i for i in range(500))).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        pass


class Server(http.server.HTTPServer):
    request_queue_size = 128

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.waiting = queue.Queue()
        for _ in range(threads):
            threading.Thread(target=self.work, daemon=True).start()

    def process_request(self, *request):
        self.waiting.put(request)

    def work(self):
        while True:
            request = self.waiting.get()
            try:
                self.finish_request(*request)
            except OSError:
                pass
            self.shutdown_request(request[0])


server = Server((where[0], int(where[1])), Handler)
print("ready", flush=True)
server.serve_forever()
