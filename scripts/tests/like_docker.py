#!/usr/bin/env python3
"""Runs a command as `docker run --cap-drop ALL` does: with a filter of system calls that has the rules of Docker's default
profile (moby/profiles, seccomp/default.json) on x86-64, without capabilities, and with no-new-privileges.

    like_docker.py [--user UID] [--root FOLDER] [--folder FOLDER] COMMAND...

The profile is a list of permitted calls; this is the list of the others. Facts that the list encodes: clone(2) must not create
namespaces, clone3(2) fails with ENOSYS, personality(2) takes five values, and socket(2) neither AF_ALG nor AF_VSOCK. All other
refusals are EPERM.
"""
import ctypes
import errno
import os
import re
import struct
import sys

REFUSED = """_sysctl acct add_key afs_syscall bpf clock_settime create_module delete_module fanotify_init finit_module fsconfig fsmount
fsopen fspick get_kernel_syms get_mempolicy getpmsg init_module io_uring_enter io_uring_register io_uring_setup ioperm iopl
kcmp kexec_file_load kexec_load keyctl lookup_dcookie lsm_get_self_attr lsm_list_modules lsm_set_self_attr mbind migrate_pages
mount mount_setattr move_mount move_pages nfsservctl open_by_handle_at open_tree perf_event_open pidfd_getfd pivot_root
process_madvise putpmsg query_module quotactl quotactl_fd reboot request_key security set_mempolicy set_mempolicy_home_node
setdomainname sethostname setns settimeofday swapoff swapon syslog sysfs tuxcall umount2 unshare uselib userfaultfd ustat vhangup
vserver chroot""".split()
NAMESPACES = 0x7E020000  # the CLONE_NEW... flags
PERSONALITIES = (0, 8, 0x20000, 0x20008, 0xFFFFFFFF)
SOCKETS_REFUSED = (38, 40)  # AF_ALG, AF_VSOCK

LOAD, AND, EQUAL, ANY_BIT, ABOVE, RETURN = 0x20, 0x54, 0x15, 0x45, 0x35, 0x06  # classic BPF
ALLOW, ERRNO, KILL = 0x7FFF0000, 0x00050000, 0x80000000
NUMBER, ARCHITECTURE, FIRST_ARGUMENT = 0, 4, 16  # offsets in struct seccomp_data
X86_64, X32_BIT = 0xC000003E, 0x40000000


def numbers():
    for header in ("/usr/include/x86_64-linux-gnu/asm/unistd_64.h", "/usr/include/asm/unistd_64.h"):
        if os.path.exists(header):
            return {name: int(number) for name, number in re.findall(r"#define __NR_(\w+) (\d+)", open(header).read())}
    sys.exit("like_docker.py: asm/unistd_64.h is missing; apt-get install linux-libc-dev")


def program():
    known = numbers()
    refuse = ERRNO | errno.EPERM
    code = [(LOAD, 0, 0, ARCHITECTURE), (EQUAL, 1, 0, X86_64), (RETURN, 0, 0, KILL), (LOAD, 0, 0, NUMBER)]
    code += [(ABOVE, 0, 1, X32_BIT), (RETURN, 0, 0, refuse)]
    for name in REFUSED:
        if name in known:
            code += [(EQUAL, 0, 1, known[name]), (RETURN, 0, 0, refuse)]
    code += [(EQUAL, 0, 1, known["clone3"]), (RETURN, 0, 0, ERRNO | errno.ENOSYS)]
    code += [(EQUAL, 0, 3, known["clone"]), (LOAD, 0, 0, FIRST_ARGUMENT), (ANY_BIT, 0, 1, NAMESPACES), (RETURN, 0, 0, refuse)]
    code += [(LOAD, 0, 0, NUMBER), (EQUAL, 0, 2 + 2 * len(PERSONALITIES), known["personality"]), (LOAD, 0, 0, FIRST_ARGUMENT)]
    for value in PERSONALITIES:
        code += [(EQUAL, 0, 1, value), (RETURN, 0, 0, ALLOW)]
    code += [(RETURN, 0, 0, refuse)]
    code += [(LOAD, 0, 0, NUMBER), (EQUAL, 0, 1 + 2 * len(SOCKETS_REFUSED), known["socket"]), (LOAD, 0, 0, FIRST_ARGUMENT)]
    for value in SOCKETS_REFUSED:
        code += [(EQUAL, 0, 1, value), (RETURN, 0, 0, refuse)]
    return code + [(RETURN, 0, 0, ALLOW)]


def install(code):
    libc = ctypes.CDLL(None, use_errno=True)
    packed = b"".join(struct.pack("HBBI", *each) for each in code)
    buffer = ctypes.create_string_buffer(packed)
    header = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(code), ctypes.addressof(buffer)))
    for call in ((38, 1, 0, 0, 0), (22, 2, ctypes.addressof(header), 0, 0)):  # PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP
        if libc.prctl(call[0], *(ctypes.c_ulong(each) for each in call[1:])) != 0:
            sys.exit(f"like_docker.py: prctl: {os.strerror(ctypes.get_errno())}")


def main(words):
    options = {}
    while words and words[0] in ("--user", "--root", "--folder"):
        options[words[0]], words = words[1], words[2:]
    code = program()
    if "--root" in options:
        os.chroot(options["--root"])
    os.chdir(options.get("--folder", "/" if "--root" in options else "."))
    if "--user" in options:
        user = int(options["--user"])
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)  # also drops all capabilities
    if not words:
        sys.exit(__doc__)
    install(code)
    os.execvp(words[0], words)


if __name__ == "__main__":
    main(sys.argv[1:])
