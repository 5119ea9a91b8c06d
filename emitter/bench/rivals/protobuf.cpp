// Protocol Buffers, C++: one message used again and again, with a length before each, as streams of them need.
#include "event.pb.h"
#include "rival.h"
#include "timing.h"

static void emit(uint64_t events) {
  bench::Event event;
  event.set_type(1);
  for (uint64_t i = 0; i < events; i++) {
    event.set_tick(read_tick());
    event.set_count(static_cast<int32_t>(i));
    event.set_value(static_cast<float>(i));
    uint8_t *room = rival_room();
    room[0] = static_cast<uint8_t>(event.ByteSizeLong()); // below 128: one byte
    rival_wrote(static_cast<size_t>(event.SerializeWithCachedSizesToArray(room + 1) - room));
  }
}

int main(int argc, char **argv) {
  rival measured = {};
  measured.emit = emit;
  measured.bytes = rival_bytes;
  measured.burst = 50000;
  return rival_main(argc, argv, &measured);
}
