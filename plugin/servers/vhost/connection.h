#pragma once
// A client's connection, which receives messages with descriptors and sends replies.

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
  /// `stop` is an eventfd. When it becomes readable, waits are aborted. The connection closes
  /// neither descriptor.
  Connection(int socket, int stop) : socket_(socket), stop_(stop) {}

  /// Waits for the next message. Returns nullopt if the client has disconnected or `stop` is
  /// readable. Fails if the message is invalid or has too many descriptors.
  Result<std::optional<Received>> receive() const;

  /// Sends a reply without waiting. Fails if the client does not read its replies. A disconnected
  /// client is not an error here; receive() detects it.
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
