"""Lets programs in a network namespace reach a server of this one: `relay.py NAMESPACE PORT` listens on 127.0.0.1:PORT there and hands
each connection on to 127.0.0.1:PORT here. Prints `ready`; ends with its input."""

import asyncio
import ctypes
import os
import socket
import sys


def listener(namespace, port):
    """A socket stays in the namespace in which it was made."""
    libc = ctypes.CDLL(None, use_errno=True)
    with open("/proc/self/ns/net", "rb") as here, open(f"/run/netns/{namespace}", "rb") as there:
        for space, make in ((there, lambda: socket.create_server(("127.0.0.1", port))), (here, lambda: None)):
            if libc.setns(space.fileno(), 0) != 0:
                raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), namespace)
            made = make() or made
    return made


async def pump(reader, writer):
    try:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    except OSError:
        pass  # one side is gone, and so is the other then
    finally:
        writer.close()


async def main(namespace, port):
    async def hand_on(reader, writer):
        try:
            reader_here, writer_here = await asyncio.open_connection("127.0.0.1", port)
        except OSError:
            writer.close()
            return
        await asyncio.gather(pump(reader, writer_here), pump(reader_here, writer))

    await asyncio.start_server(hand_on, sock=listener(namespace, port))
    print("ready", flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    os._exit(0)


asyncio.run(main(sys.argv[1], int(sys.argv[2])))
