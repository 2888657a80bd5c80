#pragma once
// The part of an NFS server (version 2) above its file system. There is one queue of requests, from
// which nfsds take requests. A reply is sent when the request's changes are on the disk.
//
//   client --request--> [queue] --> nfsd fiber: RPC, Vfs calls, fsync --reply--> client
//
// Version 2 requires that the data, inode and indirect blocks of a write, and the entry and inodes
// of a create or remove, are in stable storage before the reply (RFC 1094, 2.2.7 and 1.3; Peacock,
// Kamaraju and Agrawal 1998, section 1). Like the Solaris server, this server calls fsync for the
// file and the directory.
//
// Write gathering (Juszczak 1994, "Improving the Write Performance of an NFS Server") is optional.
// The first nfsd that writes to a file waits a short time for further writes to the same file, then
// calls fsync once and replies to all of these writes. The paper's server does not gather writes.
//
// Handles are paths that begin with an inode (vfs.h), like those that fh_to_vp gives the kernel's
// nfsd.

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
  std::string object;     ///< handle of the file, link or directory
  std::string directory;  ///< handle of the directory that contains `name`
  std::string name;
  std::uint64_t offset = 0;          ///< read, write
  std::uint32_t bytes = 0;           ///< read
  std::vector<std::byte> data = {};  ///< write
  std::uint32_t mode = 0644;         ///< create, set_attributes
  std::uint64_t tag = 0;             ///< the client chooses this number, and the reply contains it
  os::TimeNs arrived_at = 0;         ///< set by submit()
};

/// A reply: an errno, or 0 and the bytes read. The bytes are valid only during the call.
struct NfsReply {
  int error = 0;
  std::span<const std::byte> data = {};
};

struct NfsFrontOptions {
  /// Number of nfsd threads. The paper does not give this number. In Solaris 2.5.1 the init script
  /// starts 16 nfsds, and LADDIS servers use more, so our number is an assumption, which a
  /// counterfactual varies.
  std::size_t nfsds = 64;
  /// CPU time of a request and its reply in RPC, XDR, UDP and the driver, without file system
  /// calls.
  os::TimeNs request_cpu_ns = 0;
  bool gathers = false;
  /// Time for which an nfsd waits for further writes. Juszczak's server waits 8 ms on Ethernet and
  /// 5 ms on FDDI (from memory, not verified).
  os::TimeNs gather_ns = 8 * model::kMillisecondNs;
  /// Maximum queue length. Further requests are dropped, as if a socket buffer were full. The
  /// client must count dropped requests.
  std::size_t queue_max = 1 << 16;
};

struct NfsCounters {
  std::uint64_t replies = 0, errors = 0, dropped = 0;
  std::uint64_t commits = 0;  ///< number of fsync() calls after writes and changes of attributes
  /// Number of writes answered by an nfsd other than the one that executed them.
  std::uint64_t gathered = 0;
  std::size_t queued_most = 0;
  std::size_t busy_most = 0;  ///< maximum number of active nfsds
};

class NfsFront {
 public:
  using Client = std::function<void(const NfsRequest&, const NfsReply&)>;

  /// Executor, file system and client must outlive this object. `client` runs on the fiber of an
  /// nfsd and must not block.
  NfsFront(os::Executor& executor, Vfs& vfs, const NfsFrontOptions& options, Client client);
  NfsFront(const NfsFront&) = delete;
  NfsFront& operator=(const NfsFront&) = delete;

  /// Starts the nfsds as users of the executor. The nfsds end after close(). The executor ends when
  /// all nfsds have ended, or when it is halted.
  void start();
  /// Queues a request. May be called on a fiber or in a handler, and never blocks. Returns false if
  /// the queue is full.
  bool submit(NfsRequest request);
  /// Accepts no further requests. The nfsds end when the queue is empty.
  void close();
  /// Like close(), but drops the requests in the queue.
  void abort();

  const NfsCounters& counters() const { return counters_; }
  std::size_t waiting() const { return queue_.size() + busy_; }

 private:
  struct Gathering {
    std::vector<NfsRequest> written;  ///< requests whose data has been written to the file
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
