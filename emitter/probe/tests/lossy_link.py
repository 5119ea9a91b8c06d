"""Two network namespaces with a link between them that loses packets on request: python3 lossy_link.py NAME

Makes the namespaces NAME-a (10.99.0.1) and NAME-b (10.99.0.2) and prints "ready". A line "loss N" of standard input
loses every Nth packet of more than 500 bytes, "loss 0" none; at the end of its input it removes both. Needs root and
/dev/net/tun.
"""

import fcntl
import os
import select
import struct
import subprocess
import sys

TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x400454CA, 1, 0x1000


def ip(*words):
    subprocess.run(["ip", *words], check=True)


def tun(namespace, address):
    fd = os.open("/dev/net/tun", os.O_RDWR)
    device = fcntl.ioctl(fd, TUNSETIFF, struct.pack("16sH22x", b"lltest%d", IFF_TUN | IFF_NO_PI))[:16].rstrip(b"\0").decode()
    ip("link", "set", device, "netns", namespace)
    ip("-n", namespace, "link", "set", "lo", "up")
    ip("-n", namespace, "addr", "add", f"{address}/24", "dev", device)
    ip("-n", namespace, "link", "set", device, "up")
    return fd


def relay(one, other):
    loss = large = 0
    while True:
        for ready in select.select([one, other, sys.stdin], [], [])[0]:
            if ready is sys.stdin:
                words = sys.stdin.readline().split()
                if not words:
                    return
                loss = int(words[1])
                continue
            packet = os.read(ready, 65536)
            large += len(packet) > 500
            if not (loss and len(packet) > 500 and large % loss == 0):
                os.write(other if ready == one else one, packet)


def main():
    spaces = [f"{sys.argv[1]}-{end}" for end in "ab"]
    made = []
    try:
        for space in spaces:
            ip("netns", "add", space)
            made.append(space)
        ends = [tun(space, f"10.99.0.{i + 1}") for i, space in enumerate(spaces)]
        print("ready", flush=True)
        relay(*ends)
    finally:
        for space in made:
            ip("netns", "delete", space)


if __name__ == "__main__":
    main()
