"""Datagrams across a link: `datagrams.py echo`, and `datagrams.py send COUNT BYTES [wait]`, which prints the seconds from the first
one sent to the last one returned, how many returned, and with `wait` (for each one before the next) the shortest round trip."""

import socket
import sys
import time

from rig import RIGHT

PORT = 7007
SO_RCVBUFFORCE = 33  # the module has no name for it


def made():
    made_socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    made_socket.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 64 << 20)
    return made_socket


def echo():
    server = made()
    server.bind(("0.0.0.0", PORT))
    print("listening", flush=True)
    while True:
        server.sendto(*server.recvfrom(65536))


def send(count, size, wait):
    client = made()
    client.connect((RIGHT, PORT))
    client.settimeout(2)
    began, shortest, returned = time.monotonic(), float("inf"), 0
    last = began
    for number in range(2 * count):  # all of them, then all answers; or in turn
        try:
            if number < count:
                sent = time.monotonic()
                client.send(bytes(size))
            if wait if number < count else not wait:
                client.recv(65536)
                last = time.monotonic()
                returned += 1
                shortest = min(shortest, last - sent)
        except TimeoutError:
            if number >= count:
                break
    print(last - began, returned, shortest)


if sys.argv[1] == "echo":
    echo()
else:
    send(int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:] == ["wait"])
