"""Compressors, including legal streams that the usual encoders never write."""

import struct


def lz4(data):
    import lz4.block

    return lz4.block.compress(data, store_size=False)


def zstd(data):
    import zstandard

    return zstandard.ZstdCompressor(level=3).compress(data)


def zstd_without_size_with_checksum(data):
    import zstandard

    return zstandard.ZstdCompressor(level=19, write_content_size=False, write_checksum=True).compress(data)


def lz4_literals(data):
    """One LZ4 sequence that is all literals."""
    length = len(data)
    if length < 15:
        return bytes([length << 4]) + data
    return b"\xf0" + b"\xff" * ((length - 15) // 255) + bytes([(length - 15) % 255]) + data


def zstd_frame(blocks, content_size=None, dictionary=None):
    """A frame from (kind, size, data) blocks: kind 0 is raw, 1 is one byte repeated size times."""
    single_segment = content_size is not None
    descriptor = (0x80 | 0x20 if single_segment else 0) | (0x01 if dictionary else 0)
    frame = bytearray(struct.pack("<IB", 0xFD2FB528, descriptor))
    if not single_segment:
        frame += b"\x58"  # a window of 2 MiB
    if dictionary:
        frame += bytes([dictionary])
    if single_segment:
        frame += struct.pack("<I", content_size)
    for index, (kind, size, data) in enumerate(blocks):
        last = index == len(blocks) - 1
        frame += struct.pack("<I", size << 3 | kind << 1 | last)[:3] + data
    return bytes(frame)


def zstd_raw_blocks(data):
    """A frame of two blocks as they are."""
    half = len(data) // 2
    return zstd_frame([(0, half, data[:half]), (0, len(data) - half, data[half:])], len(data))
