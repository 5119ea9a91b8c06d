// spdlog, asynchronous: a queue that holds a burst, one thread that formats and writes to a file on tmpfs; who finds
// the queue full waits. BENCH_SPDLOG_FILE names the file.
#include "rival.h"

#include <spdlog/async.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/spdlog.h>

#include <cstdio>
#include <cstdlib>
#include <sys/stat.h>

namespace {

constexpr uint64_t kBurst = 50000;
constexpr size_t kQueue = 65536;
std::shared_ptr<spdlog::logger> logger;
uint64_t emitted;
const char *path;

void emit(uint64_t events) {
  for (uint64_t i = 0; i < events; i++)
    logger->info("MY_INT={} MY_FLOAT={}", static_cast<int32_t>(i), static_cast<float>(i));
  emitted += events;
}

void drain() {
  while (spdlog::thread_pool()->queue_size() > 0)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

void finish() {
  logger.reset();
  spdlog::shutdown();
}

double bytes() {
  struct stat status = {};
  return stat(path, &status) == 0 ? static_cast<double>(status.st_size) / static_cast<double>(emitted) : 0;
}

} // namespace

int main(int argc, char **argv) {
  path = std::getenv("BENCH_SPDLOG_FILE");
  if (path == nullptr) {
    std::fputs("bench-rival-spdlog: BENCH_SPDLOG_FILE must name a file\n", stderr);
    return 2;
  }
  spdlog::init_thread_pool(kQueue, 1);
  logger = spdlog::create_async<spdlog::sinks::basic_file_sink_mt>("MY_EVENT", path, true);
  rival measured = {};
  measured.emit = emit;
  measured.drain = drain;
  measured.bytes = bytes;
  measured.burst = kBurst;
  measured.finish = finish;
  return rival_main(argc, argv, &measured);
}
