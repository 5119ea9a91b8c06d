// A span per request, as an application would have it: batches to a collector by OTLP over HTTP. The queue is longer
// than the default of 2,048 spans, which a hundred thousand requests per second fill in 20 ms. At the end one line on
// standard error says how many spans were exported.
#include "events.h"

#include <opentelemetry/exporters/otlp/otlp_http_exporter_factory.h>
#include <opentelemetry/exporters/otlp/otlp_http_exporter_options.h>
#include <opentelemetry/sdk/trace/batch_span_processor_factory.h>
#include <opentelemetry/sdk/trace/batch_span_processor_options.h>
#include <opentelemetry/sdk/trace/exporter.h>
#include <opentelemetry/sdk/trace/recordable.h>
#include <opentelemetry/sdk/trace/tracer_provider.h>
#include <opentelemetry/sdk/trace/tracer_provider_factory.h>
#include <opentelemetry/trace/tracer.h>

#include <array>
#include <chrono>
#include <cstdio>

namespace {

namespace api = opentelemetry::trace;
namespace otlp = opentelemetry::exporter::otlp;
namespace sdk = opentelemetry::sdk;
using opentelemetry::nostd::shared_ptr;
using opentelemetry::nostd::string_view;

constexpr size_t kQueue = 65536;
constexpr size_t kConnections = 4096;

// Counts spans that arrive.
class Counting final : public sdk::trace::SpanExporter {
public:
  Counting(std::unique_ptr<sdk::trace::SpanExporter> next, unsigned long &exported)
      : next_(std::move(next)), exported_(exported) {}

  std::unique_ptr<sdk::trace::Recordable> MakeRecordable() noexcept override { return next_->MakeRecordable(); }

  sdk::common::ExportResult
  Export(const opentelemetry::nostd::span<std::unique_ptr<sdk::trace::Recordable>> &spans) noexcept override {
    size_t count = spans.size();
    sdk::common::ExportResult result = next_->Export(spans);
    if (result == sdk::common::ExportResult::kSuccess) exported_ += count;
    return result;
  }

  bool ForceFlush(std::chrono::microseconds timeout) noexcept override { return next_->ForceFlush(timeout); }
  bool Shutdown(std::chrono::microseconds timeout) noexcept override { return next_->Shutdown(timeout); }

private:
  std::unique_ptr<sdk::trace::SpanExporter> next_;
  unsigned long &exported_;
};

class Tracing {
public:
  Tracing() {
    sdk::trace::BatchSpanProcessorOptions options;
    options.max_queue_size = kQueue;
    options.schedule_delay_millis = std::chrono::milliseconds(1000);
    std::unique_ptr<sdk::trace::SpanExporter> exporter(
        new Counting(otlp::OtlpHttpExporterFactory::Create(otlp::OtlpHttpExporterOptions()), exported_));
    provider_ = sdk::trace::TracerProviderFactory::Create(
        sdk::trace::BatchSpanProcessorFactory::Create(std::move(exporter), options));
    tracer_ = provider_->GetTracer("memcached");
  }

  ~Tracing() {
    provider_->Shutdown();
    std::fprintf(stderr, "request-otel: %lu spans exported\n", exported_);
  }

  void Begin(int connection, const char *command, uint32_t key_bytes) {
    auto span = tracer_->StartSpan("memcached.request");
    span->SetAttribute("connection", connection);
    span->SetAttribute("command", string_view(command));
    span->SetAttribute("key_bytes", key_bytes);
    open_.at(static_cast<size_t>(connection)) = span;
  }

  void End(int connection, const char *status, uint32_t reply_bytes) {
    auto &span = open_.at(static_cast<size_t>(connection));
    span->SetAttribute("status", string_view(status));
    span->SetAttribute("reply_bytes", reply_bytes);
    span->End();
    span = shared_ptr<api::Span>();
  }

private:
  unsigned long exported_ = 0;
  std::unique_ptr<sdk::trace::TracerProvider> provider_;
  shared_ptr<api::Tracer> tracer_;
  std::array<shared_ptr<api::Span>, kConnections> open_; // a connection has one request at a time
};

Tracing &tracing() {
  static Tracing the_tracing;
  return the_tracing;
}

} // namespace

void emit_request_begin(int connection, const char *command, uint32_t key_bytes) {
  tracing().Begin(connection, command, key_bytes);
}

void emit_request_end(int connection, const char *status, uint32_t reply_bytes) {
  tracing().End(connection, status, reply_bytes);
}
