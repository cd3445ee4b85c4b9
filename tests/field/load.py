# SPDX-License-Identifier: GPL-3.0-or-later
# Clients of a server, at a rate that does not depend on how fast it answers:
#   load.py redis PORT RATE CLIENTS SEED COMMAND WEIGHT [COMMAND WEIGHT...]
#   load.py http PORT RATE CLIENTS SEED PATH WEIGHT [PATH WEIGHT...]
# RATE: requests a second, of all clients together; 40,60,20 changes between these every ten seconds;
# "every 0.5": all clients ask at once, each half second.
# "#" in a command or path is a number below 1000. On SIGUSR1, and when SIGTERM ends it, it prints how
# many it sent since the last time, the median of how long they took and the slowest, in microseconds.
import http.client
import os
import random
import signal
import socket
import statistics
import sys
import threading
import time


class Redis:
    def __init__(self, where):
        self.socket = socket.create_connection(("127.0.0.1", int(where)))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.file = self.socket.makefile("rb")

    def ask(self, command):
        words = [word.encode() for word in command.split()]
        self.socket.sendall(
            b"*%d\r\n" % len(words)
            + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in words)
        )
        self.answer()

    def answer(self):
        line = self.file.readline()
        if line[:1] == b"*":
            for _ in range(int(line[1:])):
                self.answer()
        elif line[:1] == b"$" and line[1:2] != b"-":
            self.file.read(int(line[1:]) + 2)
        elif line[:1] == b"-" and b"already in progress" in line:
            pass
        elif line[:1] in (b"-", b""):
            raise SystemExit("load: %s" % line.decode().strip())


class Http:
    def __init__(self, where):
        self.connection = http.client.HTTPConnection("127.0.0.1", int(where))

    def ask(self, path):
        self.connection.request("GET", path)
        self.connection.getresponse().read()


def at_rates(rates, randomly):
    begin = due = time.monotonic()
    while True:
        due += randomly.expovariate(rates[int((due - begin) / 10) % len(rates)])
        yield due


def at_once(every):
    due = time.monotonic() // every * every
    while True:
        due += every
        yield due


def client(kind, where, dues, randomly, asked, weights, times):
    connection = {"redis": Redis, "http": Http}[kind](where)
    for due in dues:
        time.sleep(max(0, due - time.monotonic()))
        what = randomly.choices(asked, weights)[0]
        what = what.replace("#", str(randomly.randrange(1000)))
        sent = time.monotonic()
        connection.ask(what)
        times.append(time.monotonic() - sent)


def main(kind, where, rate, clients, seed, *mix):
    n, times = int(clients), []
    asked, weights = mix[0::2], [float(weight) for weight in mix[1::2]]

    def tell(*_):
        taken = times[:]
        del times[: len(taken)]
        if taken:
            print(
                len(taken),
                round(statistics.median(taken) * 1e6),
                round(max(taken) * 1e6),
                flush=True,
            )

    def end(*_):
        tell()
        os._exit(0)

    signal.signal(signal.SIGUSR1, tell)
    signal.signal(signal.SIGTERM, end)
    for i in range(n):
        randomly = random.Random(int(seed) * 1000 + i)
        if rate.startswith("every "):
            dues = at_once(float(rate.split()[1]))
        else:
            dues = at_rates([float(each) / n for each in rate.split(",")], randomly)
        threading.Thread(
            target=client,
            args=(kind, where, dues, randomly, asked, weights, times),
            daemon=True,
        ).start()
    while True:
        time.sleep(3600)


main(*sys.argv[1:])
