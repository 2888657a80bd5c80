#pragma once
// The part of an NFS server (version 2) that is above its file system: requests in one queue, nfsds
// that take them from it, a reply when what the request has changed is on the disk.
//
//   client --request--> [queue] --> nfsd fiber: RPC, the Vfs' calls, fsync of what was changed --reply--> client
//
// Version 2 knows no other way: data, inode and indirect blocks of a write, entry and inodes of a
// create or remove, are in stable storage before the reply (RFC 1094, 2.2.7 and 1.3; Peacock,
// Kamaraju and Agrawal 1998, section 1). Solaris' server asks for that by VOP_FSYNC of the file and
// of the directory, and so does this one.
//
// Write gathering (Juszczak 1994, "Improving the Write Performance of an NFS Server"), a switch: an
// nfsd that has put a write's data into the file leaves the reply to the first one that did so,
// which waits a little for others, makes the file stable once, and replies to all. The server of
// the paper has none.
//
// Handles are paths that begin with an inode (vfs.h), as the kernel's nfsd gets them from fh_to_vp.

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "fs-adapters/substrate/os/executor.h"
#include "fs-adapters/vfs.h"
#include "harness/workload/timed/laddis_mix.h"

namespace headcrash::experiment::peacock98 {

using NfsKind = timed::laddis_load::Kind;

struct NfsRequest {
  NfsKind kind = NfsKind::lookup;
  std::string object;     ///< what it is about: the handle of a file, link or directory
  std::string directory;  ///< lookup, create, remove: its handle; the name is `name`
  std::string name;
  std::uint64_t offset = 0;          ///< read, write
  std::uint32_t bytes = 0;           ///< read
  std::vector<std::byte> data = {};  ///< write
  std::uint32_t mode = 0644;         ///< create, set_attributes
  std::uint64_t tag = 0;             ///< the client's, handed back
  os::TimeNs arrived_at = 0;         ///< set by submit()
};

/// What a client gets: 0 or an errno, and of a read its bytes (valid during the call).
struct NfsReply {
  int error = 0;
  std::span<const std::byte> data = {};
};

struct NfsFrontOptions {
  /// Threads. The paper does not print its number; Solaris' nfsd is started with 16 in 2.5.1's init
  /// script, servers under LADDIS with more: an assumption, moved in a counterfactual.
  std::size_t nfsds = 64;
  /// Of the processor: RPC, XDR, UDP and driver for a request and its reply, without the file
  /// system's own calls.
  os::TimeNs request_cpu_ns = 0;
  bool gathers = false;
  /// Juszczak's server waits 8 ms on an Ethernet, 5 on FDDI, from memory.
  os::TimeNs gather_ns = 8 * model::kMillisecondNs;
  /// That are queued. One more is dropped, as a socket's buffer would do; the client that counts it
  /// knows.
  std::size_t queue_max = 1 << 16;
};

struct NfsCounters {
  std::uint64_t replies = 0, errors = 0, dropped = 0;
  std::uint64_t commits = 0;   ///< fsyncs of a file that has been written
  std::uint64_t gathered = 0;  ///< writes whose reply another nfsd has sent
  std::size_t queued_most = 0;
  std::size_t busy_most = 0;  ///< nfsds at work
};

class NfsFront {
 public:
  using Client = std::function<void(const NfsRequest&, const NfsReply&)>;

  /// Executor, file system and client outlive it. `client` is called on an nfsd's fiber; it does
  /// not wait.
  NfsFront(os::Executor& executor, Vfs& vfs, const NfsFrontOptions& options, Client client);
  NfsFront(const NfsFront&) = delete;
  NfsFront& operator=(const NfsFront&) = delete;

  /// The nfsds, users of the executor, which ends when they have: after close(), or when the
  /// executor is halted.
  void start();
  /// From a fiber or a handler; does not wait. False: the queue is full.
  bool submit(NfsRequest request);
  /// No more requests will come: the nfsds end when the queue is empty.
  void close();
  /// As close(), and what is queued is forgotten.
  void abort();

  const NfsCounters& counters() const { return counters_; }
  std::size_t waiting() const { return queue_.size() + busy_; }

 private:
  struct Gathering {
    std::vector<NfsRequest> written;  ///< their data are in the file
  };
  void serve();
  void answer(NfsRequest request);
  void reply(const NfsRequest& request, const VfsResult<void>& done,
             std::span<const std::byte> data = {});
  VfsResult<void> execute(const NfsRequest& request);
  VfsResult<void> read(const NfsRequest& request);
  VfsResult<void> create(const NfsRequest& request);
  VfsResult<void> commit(const std::string& file);
  void write_and_commit(NfsRequest request);
  void gather(NfsRequest request);

  os::Executor& executor_;
  Vfs& vfs_;
  NfsFrontOptions options_;
  Client client_;
  os::WaitQueue idle_;
  std::deque<NfsRequest> queue_;
  bool closed_ = false;
  std::size_t busy_ = 0;
  std::map<std::string, Gathering> gatherings_;  ///< by handle
  std::deque<os::Account> accounts_;
  NfsCounters counters_;
};

}  // namespace headcrash::experiment::peacock98
