/* MessagePack: an array of type, ticks, i32 and f32. */
#include "rival.h"
#include "timing.h"

#include <msgpack.h>

static void emit(uint64_t events) {
  msgpack_sbuffer buffer;
  msgpack_packer packer;
  for (uint64_t i = 0; i < events; i++) {
    buffer = (msgpack_sbuffer){.size = 0, .data = (char *)rival_room(), .alloc = RIVAL_EVENT_MAX};
    msgpack_packer_init(&packer, &buffer, msgpack_sbuffer_write);
    msgpack_pack_array(&packer, 4);
    msgpack_pack_uint8(&packer, 1);
    msgpack_pack_uint64(&packer, read_tick());
    msgpack_pack_int32(&packer, (int32_t)i);
    msgpack_pack_float(&packer, (float)i);
    rival_wrote(buffer.size);
  }
}

int main(int argc, char **argv) {
  return rival_main(argc, argv, &(rival){.emit = emit, .bytes = rival_bytes, .burst = 50000});
}
