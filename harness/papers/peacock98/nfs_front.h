#pragma once
// The part of an NFS server (version 2) above its file system: requests in one queue, nfsds that
// take them, and a reply when the changes of the request are on the disk.
//
//   client --request--> [queue] --> nfsd fiber: RPC, Vfs calls, fsync of the changes --reply-->
//   client
//
// Version 2 requires this: data, inode and indirect blocks of a write, and entry and inodes of a
// create or remove, are in stable storage before the reply (RFC 1094, 2.2.7 and 1.3; Peacock,
// Kamaraju and Agrawal 1998, section 1). The Solaris server does so by VOP_FSYNC of the file and
// the directory, as does this one.
//
// Write gathering (Juszczak 1994, "Improving the Write Performance of an NFS Server") is optional.
// An nfsd that has written to the file leaves the reply to the first one that did so, which waits a
// little for others, makes the file stable once, and replies to all. The paper's server has none.
//
// Handles are paths that begin with an inode (vfs.h), like those of the kernel's nfsd from
// fh_to_vp.

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
  std::string object;     ///< handle of the file, link or directory concerned
  std::string directory;  ///< handle; `name` is a name in it
  std::string name;
  std::uint64_t offset = 0;          ///< read, write
  std::uint32_t bytes = 0;           ///< read
  std::vector<std::byte> data = {};  ///< write
  std::uint32_t mode = 0644;         ///< create, set_attributes
  std::uint64_t tag = 0;             ///< the client's, returned in the reply
  os::TimeNs arrived_at = 0;         ///< set by submit()
};

/// A reply: 0 or an errno, and the bytes of a read (valid during the call).
struct NfsReply {
  int error = 0;
  std::span<const std::byte> data = {};
};

struct NfsFrontOptions {
  /// Number of threads. The paper does not print it. In Solaris 2.5.1 the init script starts nfsd
  /// with 16, and servers for LADDIS use more. This is an assumption, varied in a counterfactual.
  std::size_t nfsds = 64;
  /// CPU time of RPC, XDR, UDP and driver for a request and its reply, without the file system's
  /// calls.
  os::TimeNs request_cpu_ns = 0;
  bool gathers = false;
  /// Juszczak's server waits 8 ms on Ethernet and 5 ms on FDDI, from memory.
  os::TimeNs gather_ns = 8 * model::kMillisecondNs;
  /// Maximum queue length. Further requests are dropped, as with a full socket buffer; the client
  /// must count them.
  std::size_t queue_max = 1 << 16;
};

struct NfsCounters {
  std::uint64_t replies = 0, errors = 0, dropped = 0;
  std::uint64_t commits = 0;   ///< fsyncs of written files
  std::uint64_t gathered = 0;  ///< writes whose reply another nfsd has sent
  std::size_t queued_most = 0;
  std::size_t busy_most = 0;  ///< maximum number of active nfsds
};

class NfsFront {
 public:
  using Client = std::function<void(const NfsRequest&, const NfsReply&)>;

  /// Executor, file system and client must outlive this object. `client` is called on an nfsd's
  /// fiber and must not wait.
  NfsFront(os::Executor& executor, Vfs& vfs, const NfsFrontOptions& options, Client client);
  NfsFront(const NfsFront&) = delete;
  NfsFront& operator=(const NfsFront&) = delete;

  /// Starts the nfsds as users of the executor. The executor ends when they have: after close(), or
  /// when it is halted.
  void start();
  /// Callable from a fiber or a handler; does not wait. Returns false if the queue is full.
  bool submit(NfsRequest request);
  /// Announces that no more requests will come: the nfsds end when the queue is empty.
  void close();
  /// Does the same as close(), and drops queued requests.
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
