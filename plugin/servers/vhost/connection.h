#pragma once
// A client's connection: messages with their descriptors in, replies out.

#include <optional>
#include <span>
#include <vector>

#include "plugin/base/descriptor.h"
#include "plugin/servers/vhost/message.h"

namespace headcrash::vhost {

struct Received {
  Header header;
  Payload payload;
  std::vector<base::Descriptor> files;
};

class Connection {
 public:
  /// `stop`: an eventfd that ends waiting when it can be read. Neither is closed.
  Connection(int socket, int stop) : socket_(socket), stop_(stop) {}

  /// Waits for the next message; none: the client has gone, or it is time to stop. Error: what it
  /// sent cannot be a message, or comes with too many descriptors.
  Result<std::optional<Received>> receive() const;

  /// Waits for nobody. Error: the client does not read its replies. That it has gone is seen by
  /// receive().
  Result<void> answer(Verb verb, std::span<const std::byte> payload) const;
  template <typename T>
  Result<void> answer_value(Verb verb, const T& value) const {
    return answer(verb, std::as_bytes(std::span(&value, 1)));
  }

  int socket() const { return socket_; }
  int stop() const { return stop_; }

 private:
  enum class Bytes : std::uint8_t { all, none };
  Result<Bytes> receive_bytes(std::span<std::byte> into,
                              std::vector<base::Descriptor>& files) const;

  int socket_, stop_;
};

}  // namespace headcrash::vhost
