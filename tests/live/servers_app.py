# SPDX-License-Identifier: GPL-3.0-or-later
# An application as any other, for test_servers_chain.sh: asks PostgreSQL as many times as the path says.
#   servers_app.py serve HTTP_PORT POSTGRES_PORT
#   servers_app.py load HTTP_PORT REQUESTS   (four clients; request i asks i modulo 3 times)
import http.client
import http.server
import sys
import threading


def serve(port, postgres_port):
    import psycopg2

    database = psycopg2.connect(
        host="127.0.0.1", port=postgres_port, user="postgres", dbname="postgres"
    )
    database.autocommit = True

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            total = 0
            for i in range(int(self.path.strip("/"))):
                with database.cursor() as cursor:
                    cursor.execute("SELECT %s + 1", (i,))
                    total += cursor.fetchone()[0]
            body = str(total).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *arguments):
            pass

    server = http.server.HTTPServer(("127.0.0.1", port), Handler)
    print("ready", flush=True)
    server.serve_forever()


def load(port, n):
    def client(mine):
        connection = http.client.HTTPConnection("127.0.0.1", port)
        for i in mine:
            connection.request("GET", "/%d" % (i % 3))
            answer = connection.getresponse()
            if answer.status != 200:
                raise SystemExit("status %d" % answer.status)
            answer.read()
        connection.close()

    threads = [
        threading.Thread(target=client, args=(range(k, n, 4),)) for k in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


if __name__ == "__main__":
    {"serve": serve, "load": load}[sys.argv[1]](int(sys.argv[2]), int(sys.argv[3]))
