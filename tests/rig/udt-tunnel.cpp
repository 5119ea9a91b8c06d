/* Carries TCP connections over UDT, a transport on UDP (Gu and Grossman, 2007), as an application does that uses it in
 * place of TCP.
 *
 *   program -> TCP, loopback -> [connect] == UDT, over the link == [listen] -> TCP, loopback -> program
 *
 * Sockets have small buffers, so that a program soon feels what the transport does. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <udt/udt.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace {

const char HELP[] =
    "Carries TCP connections over UDT.\n"
    "\n"
    "Usage: udt-tunnel listen ADDRESS:PORT TCP_PORT      from UDT to 127.0.0.1:TCP_PORT\n"
    "       udt-tunnel connect ADDRESS:PORT TCP_PORT     from 127.0.0.1:TCP_PORT to UDT\n"
    "\n"
    "A TCP connection becomes a UDT connection. Prints `ready`; ends with its input. Exit status: 0, 1 after\n"
    "an error, 2 for a mistake in the command line.\n";

const int SOCKET_BYTES = 256 << 10;
const int UDT_BYTES = 12 << 20; /* a window of 100 ms at a gigabit */

[[noreturn]] void die(int status, const std::string &what) {
  fprintf(stderr, "udt-tunnel: %s\n", what.c_str());
  _exit(status);
}

sockaddr_in address_of(const std::string &text) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  size_t colon = text.rfind(':');
  char *rest = nullptr;
  long port = colon == std::string::npos ? 0 : strtol(text.c_str() + colon + 1, &rest, 10);
  if (port < 1 || port > 65535 || *rest != 0 ||
      inet_pton(AF_INET, text.substr(0, colon).c_str(), &address.sin_addr) != 1)
    die(2, "'" + text + "' is not ADDRESS:PORT");
  address.sin_port = htons(static_cast<uint16_t>(port));
  return address;
}

const sockaddr *plain(const sockaddr_in &address) {
  return reinterpret_cast<const sockaddr *>(&address);
}

UDTSOCKET udt_socket() {
  UDTSOCKET made = UDT::socket(AF_INET, SOCK_STREAM, 0);
  int bytes = UDT_BYTES;
  for (UDT::SOCKOPT buffer : {UDT_SNDBUF, UDT_RCVBUF, UDP_SNDBUF, UDP_RCVBUF})
    UDT::setsockopt(made, 0, buffer, &bytes, sizeof bytes);
  return made;
}

int tcp_socket() {
  int made = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  int bytes = SOCKET_BYTES;
  setsockopt(made, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
  setsockopt(made, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
  return made;
}

void to_udt(int from, UDTSOCKET to) {
  std::vector<char> data(SOCKET_BYTES);
  for (ssize_t got; (got = read(from, data.data(), data.size())) > 0;) {
    for (ssize_t sent = 0, now; sent < got; sent += now) {
      now = UDT::send(to, data.data() + sent, static_cast<int>(got - sent), 0);
      if (now == UDT::ERROR) return;
    }
  }
}

void from_udt(UDTSOCKET from, int to) {
  std::vector<char> data(SOCKET_BYTES);
  for (int got; (got = UDT::recv(from, data.data(), static_cast<int>(data.size()), 0)) > 0;) {
    for (ssize_t sent = 0, now; sent < got; sent += now) {
      now = write(to, data.data() + sent, static_cast<size_t>(got - sent));
      if (now < 0) return;
    }
  }
}

/* UDT knows no half-closed connection: the end of one direction ends both. */
void join(int tcp, UDTSOCKET udt) {
  std::thread back([=] {
    from_udt(udt, tcp);
    shutdown(tcp, SHUT_RDWR);
  });
  to_udt(tcp, udt);
  UDT::close(udt);
  shutdown(tcp, SHUT_RDWR);
  back.join();
  close(tcp);
}

void serve_udt(UDTSOCKET listener, const sockaddr_in &to) {
  for (;;) {
    UDTSOCKET udt = UDT::accept(listener, nullptr, nullptr);
    if (udt == UDT::INVALID_SOCK) return;
    int tcp = tcp_socket();
    if (connect(tcp, plain(to), sizeof to) != 0) {
      close(tcp);
      UDT::close(udt);
      continue;
    }
    std::thread(join, tcp, udt).detach();
  }
}

void serve_tcp(int listener, const sockaddr_in &to) {
  for (;;) {
    int tcp = accept(listener, nullptr, nullptr);
    if (tcp < 0) continue;
    UDTSOCKET udt = udt_socket();
    if (UDT::connect(udt, plain(to), sizeof to) == UDT::ERROR) {
      close(tcp);
      UDT::close(udt);
      continue;
    }
    std::thread(join, tcp, udt).detach();
  }
}

} // namespace

int main(int argc, char **argv) {
  std::string verb = argc > 1 ? argv[1] : "";
  if (verb == "--help" || verb == "-h") return fputs(HELP, stdout), 0;
  if (argc != 4 || (verb != "listen" && verb != "connect"))
    die(2, "listen or connect, ADDRESS:PORT and TCP_PORT are expected");
  sockaddr_in far = address_of(argv[2]), near = address_of(std::string("127.0.0.1:") + argv[3]);
  signal(SIGPIPE, SIG_IGN);
  UDT::startup();
  if (verb == "listen") {
    UDTSOCKET listener = udt_socket();
    if (UDT::bind(listener, plain(far), sizeof far) == UDT::ERROR || UDT::listen(listener, 16) == UDT::ERROR)
      die(1, std::string(argv[2]) + ": " + UDT::getlasterror().getErrorMessage());
    std::thread(serve_udt, listener, near).detach();
  } else {
    int listener = tcp_socket(), on = 1;
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(listener, plain(near), sizeof near) != 0 || listen(listener, 16) != 0)
      die(1, std::string("127.0.0.1:") + argv[3] + ": " + strerror(errno));
    std::thread(serve_tcp, listener, far).detach();
  }
  puts("ready");
  fflush(stdout);
  while (getchar() != EOF)
    continue;
  _exit(0);
}
