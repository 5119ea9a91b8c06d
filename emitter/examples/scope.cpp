// C++: an object whose life is the operation that is measured, so that the end is emitted on every way out, also by an
// exception.
//
//   LIFELINE_URL=file:///tmp/scope.llb ./lifeline-scope && lifeline-cat --format bp /tmp/scope.llb
#include <lifeline/lifeline.h>

#include <iostream>
#include <stdexcept>
#include <string>

LL_EVENT(query_start, "example.query.start", LL_INFO, (u64, id, ""), (string, text, ""));
LL_EVENT(query_end, "example.query.end", LL_INFO, (u64, id, ""), (u64, rows, ""), (bool, ok, ""));

class Query {
public:
  Query(uint64_t id, const std::string &text) : id_(id) { ll_emit(query_start, id_, text.c_str()); }
  ~Query() { ll_emit(query_end, id_, rows_, finished_); }
  Query(const Query &) = delete;
  Query &operator=(const Query &) = delete;

  void run(uint64_t rows) {
    if (rows > 100) throw std::length_error("too many rows");
    rows_ = rows;
    finished_ = true;
  }

private:
  uint64_t id_;
  uint64_t rows_ = 0;
  bool finished_ = false;
};

int main() {
  for (uint64_t id = 1; id <= 3; id++) {
    try {
      Query query(id, "rows of table " + std::to_string(id));
      query.run(id * 50);
    } catch (const std::length_error &error) {
      std::cout << "query " << id << ": " << error.what() << "\n";
    }
  }
  return 0;
}
