"""What differs between operating systems: durable writes, file locks, processes, sockets and where they live.

The only file with code for Windows and macOS. Paths inside a database are ``kbdb.paths``; what writes files whole or
not at all, ``kbdb.store.files`` in a database and ``kbdb.setup.files`` elsewhere, is built on the helpers here.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import stat
import sys
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from kbdb.errors import StorageError

if TYPE_CHECKING:
    import socket
    import subprocess

StrPath = str | os.PathLike[str]

SYNCFS_FROM = 32
"""From this many files and folders on, one syncfs is cheaper than an fsync each."""

SOCKET_PATH_MAX = 103 if sys.platform == "darwin" else 107
"""Bytes of the longest path that a socket can have: the system's field for it has one more, for the end."""

DETACHED_PROCESS, CREATE_NEW_PROCESS_GROUP = 0x00000008, 0x00000200
CREATE_BREAKAWAY_FROM_JOB, CREATE_NO_WINDOW = 0x01000000, 0x08000000
DETACHED_FLAGS = DETACHED_PROCESS | CREATE_NEW_PROCESS_GROUP | CREATE_BREAKAWAY_FROM_JOB | CREATE_NO_WINDOW
"""How Windows starts a process that outlives its parent: no console, no Ctrl-C from there, outside the parent's job."""

NETWORK_TYPES = frozenset(
    {"9p", "afs", "autofs", "beegfs", "ceph", "coda", "glusterfs", "gpfs", "lustre", "ncpfs", "nfs", "nfs4", "pvfs2"}
    | {"afpfs", "cifs", "smb3", "smbfs", "vboxsf", "webdav", "davfs", "fuse.davfs", "fuse.glusterfs"}
    | {"fuse.rclone", "fuse.s3fs", "fuse.sshfs"}
)
"""File systems that another machine may write, or whose locks other machines may not see."""

DAEMON_NAME = "kbdb-worker"
"""What a daemon's process calls itself."""

_SOCKET_NAME = "kb-worker-{}.sock"
_LOG_NAME = "kbdb-{}.log"
_CONTEXT_LENGTH = 16
_LOCKED_BYTE = 1 << 30
_REPLACE_TRIES = 20
_REPLACE_PAUSE_S = 0.05
_UNSUPPORTED = {errno.EINVAL, errno.ENOTSUP, errno.EBADF}


def runtime_name() -> str:
    """The Python that runs this: ``cpython``, ``pypy``, ..."""
    return sys.implementation.name


def get_tmpdir() -> Path:
    """The system's folder for temporary files."""
    import tempfile

    return Path(tempfile.gettempdir())


def user_config_dir(home: Path, environ: Mapping[str, str], system: str = sys.platform) -> Path:
    """Where programs keep a user's settings: ``~/.config``, ``~/Library/Application Support`` or ``%APPDATA%``.

    Args:
        home: the user's folder.
        environ: the environment to look in.
        system: as ``sys.platform`` names it.
    """
    if system == "darwin":
        return home / "Library" / "Application Support"
    if system == "win32":
        given = environ.get("APPDATA", "")
        return Path(given) if given else home / "AppData" / "Roaming"
    return xdg_config_dir(home, environ)


def user_data_dir(home: Path, environ: Mapping[str, str], system: str = sys.platform) -> Path:
    """Where programs keep a user's data: ``~/.local/share``, ``~/Library/Application Support``, ``%LOCALAPPDATA%``.

    Args:
        home: the user's folder.
        environ: the environment to look in; ``$XDG_DATA_HOME`` counts where there is no other custom.
        system: as ``sys.platform`` names it.
    """
    if system == "darwin":
        return home / "Library" / "Application Support"
    if system == "win32":
        given = environ.get("LOCALAPPDATA", "")
        return Path(given) if given else home / "AppData" / "Local"
    given = environ.get("XDG_DATA_HOME", "")
    return Path(given) if os.path.isabs(given) else home / ".local" / "share"


def usable_cores() -> int:
    """How many processors this process may run on."""
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def xdg_config_dir(home: Path, environ: Mapping[str, str]) -> Path:
    """``$XDG_CONFIG_HOME``, else ``~/.config``; some programs use it on every system."""
    given = environ.get("XDG_CONFIG_HOME", "")
    return Path(given) if os.path.isabs(given) else home / ".config"


def is_process_alive(pid: int) -> bool:
    """Whether a process with this id runs now; ids get reused, so only a held lock proves that it is the one meant."""
    if pid <= 0:
        return False
    if sys.platform == "win32":
        return _is_windows_process_alive(pid)
    try:
        os.kill(pid, 0)
    except PermissionError:
        return True
    except (ProcessLookupError, OverflowError):
        return False
    return True


def process_name(pid: int) -> str:
    """What a running process calls itself, where that is cheap to know; else empty."""
    if sys.platform != "linux":
        return ""
    try:
        with open(f"/proc/{pid}/comm", encoding="utf-8", errors="replace") as file:
            return file.read().strip()
    except OSError:
        return ""


def resident_bytes() -> int:
    """Memory of this process that is in use now; on systems that do not tell, the most it ever was."""
    try:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return _peak_bytes()


def _peak_bytes() -> int:
    if sys.platform == "win32":
        return 0
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def peer_pid(connection: socket.socket) -> int:
    """The process at the other end of a Unix socket; 0 where the system does not tell."""
    if sys.platform != "linux":
        return 0
    import socket
    import struct

    found = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    return int(struct.unpack("3i", found)[0])


def context_id(root: Path) -> str:
    """The name a database goes by outside its folder: 16 hex digits of the SHA-256 of its real path."""
    import hashlib

    return hashlib.sha256(os.fsencode(os.path.realpath(root))).hexdigest()[:_CONTEXT_LENGTH]


def get_ipc_path(context: str) -> str:
    r"""Where the owner of the database with this context id listens: a socket, or ``\\.\pipe\...`` on Windows."""
    if sys.platform == "win32":
        return rf"\\.\pipe\kb-worker-{context}"
    return str(runtime_dir() / _SOCKET_NAME.format(context))


def write_lock_name(context: str) -> str:
    """The file name of the lock of one write operation on the database with this context id."""
    return f"kbdb-{context}.lock"


def log_name(context: str) -> str:
    """The file name of the log of the daemon of the database with this context id."""
    return _LOG_NAME.format(context)


def log_path(context: str) -> Path:
    """Where a daemon that is started here and now logs."""
    return runtime_dir() / log_name(context)


def is_log_name(name: str) -> bool:
    """Whether it is the file name of some daemon's log."""
    return re.fullmatch(_LOG_NAME.format(rf"[0-9a-f]{{{_CONTEXT_LENGTH}}}").replace(".", r"\."), name) is not None


def runtime_dir() -> Path:
    """The folder for sockets, pid files and write locks: ``$XDG_RUNTIME_DIR``, else one of the user's own, made 0700.

    One that vanished is made again. ``$XDG_RUNTIME_DIR`` is passed over where it is another user's or others can enter
    it, as any folder is whose path is too long for the sockets in it, the last resort being in ``/tmp``.

    Raises:
        StorageError: the folder under the temp dir cannot be made, or belongs to somebody else or is open to others.
    """
    given = os.environ.get("XDG_RUNTIME_DIR", "")
    if given and os.path.isabs(given) and _holds_sockets(given) and _is_ours_alone(given):
        return Path(given)
    if sys.platform == "win32":
        return get_tmpdir()
    name = f"kbdb-{os.getuid()}"
    path = get_tmpdir() / name
    return _private_folder(path if _holds_sockets(path) else Path("/tmp", name))


def _holds_sockets(folder: str | Path) -> bool:
    socket_path = os.path.join(folder, _SOCKET_NAME.format("0" * _CONTEXT_LENGTH))
    return sys.platform == "win32" or len(os.fsencode(socket_path)) <= SOCKET_PATH_MAX


def _is_ours_alone(folder: str) -> bool:
    """Whether it is a folder of this user that nobody else can enter; a link to one is as good."""
    try:
        return _is_private(os.stat(folder))
    except (OSError, ValueError):
        return False


def _is_private(found: os.stat_result) -> bool:
    if not stat.S_ISDIR(found.st_mode):
        return False
    # Windows keeps who may enter elsewhere.
    return sys.platform == "win32" or (found.st_uid == os.getuid() and not found.st_mode & 0o077)


def _private_folder(path: Path) -> Path:
    try:
        with contextlib.suppress(FileExistsError):
            path.mkdir(mode=0o700)
        found = path.lstat()
    except OSError as error:
        hint = "set XDG_RUNTIME_DIR to a folder of yours"
        raise StorageError(f"cannot use {path}: {error.strerror}", hint) from error
    if not _is_private(found):
        raise StorageError(
            f"{path} must be a folder of yours that nobody else can enter",
            f"remove it, or run: chmod 700 {path}",
        )
    return path


def lock_file(fd: int) -> bool:
    """Takes the exclusive lock of an open file without waiting; the system drops it when the process dies.

    Returns:
        False when another holder has it.
    """
    if sys.platform == "win32":
        import msvcrt

        os.lseek(fd, _LOCKED_BYTE, os.SEEK_SET)
        try:
            msvcrt.locking(fd, msvcrt.LK_NBLCK, 1)
        except OSError as error:
            if error.errno in (errno.EACCES, errno.EDEADLK):
                return False
            raise
        return True
    import fcntl

    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def unlock_file(fd: int) -> None:
    """Gives up the lock that ``lock_file`` took."""
    if sys.platform == "win32":
        import msvcrt

        os.lseek(fd, _LOCKED_BYTE, os.SEEK_SET)
        msvcrt.locking(fd, msvcrt.LK_UNLCK, 1)
        return
    import fcntl

    fcntl.flock(fd, fcntl.LOCK_UN)


def is_locked(path: Path) -> bool:
    """Whether somebody holds the exclusive lock of a file. For a moment nobody else can take it."""
    try:
        fd = os.open(path, os.O_RDWR if sys.platform == "win32" else os.O_RDONLY)
    except OSError:
        return False
    try:
        if sys.platform == "win32":
            return not lock_file(fd)
        import fcntl

        # Shared, so that several who ask at once do not take each other for the holder.
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        os.close(fd)
    return False


def lock_holder(path: str) -> int | None:
    """The process that holds the exclusive lock of a file, of whatever kind; None where that cannot be told."""
    if sys.platform != "linux":
        return None
    try:
        inode = str(os.stat(path).st_ino)
        with open("/proc/locks", encoding="ascii") as file:
            held = [line.split() for line in file]
    except (OSError, ValueError):
        return None
    # number: KIND ADVISORY WRITE pid major:minor:inode start end; who waits has an arrow behind the number. Some file
    # systems tell the device otherwise than stat does, so that the inode has to do.
    pids = {int(words[4]) for words in held if words[3:4] == ["WRITE"] and words[5].rpartition(":")[2] == inode}
    return pids.pop() if len(pids) == 1 and min(pids) > 0 else None


def peer_uid(connection: socket.socket) -> int | None:
    """The user at the other end of a Unix socket, or None where the system does not tell."""
    import socket
    import struct

    if sys.platform == "linux":
        found = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
        return int(struct.unpack("3i", found)[1])
    if sys.platform == "darwin":
        sol_local, local_peercred, size = 0, 1, 76
        return _xucred_uid(connection.getsockopt(sol_local, local_peercred, size))
    return None


def _xucred_uid(found: bytes) -> int:
    """The user in macOS's struct xucred: a version, then the user, then groups."""
    return int.from_bytes(found[4:8], sys.byteorder)


def python_environment() -> dict[str, str]:
    """Our environment, made so that a Python which starts in another folder finds this same kbdb."""
    found = []
    for path in filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep)):
        # A relative one leads nowhere once the current folder was removed.
        with contextlib.suppress(FileNotFoundError):
            found.append(os.path.abspath(path))
    parent = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    if os.path.basename(parent) not in ("site-packages", "dist-packages") and parent not in found:
        found.append(parent)
    return {**os.environ, "PYTHONPATH": os.pathsep.join(found)} if found else dict(os.environ)


def spawn_detached(
    argv: Sequence[str], log_fd: int | None, environ: Mapping[str, str] | None = None
) -> subprocess.Popen[bytes]:
    """Starts a process that outlives this one: a session of its own, in ``/``, with none of our files or terminals.

    Args:
        argv: the program and its arguments.
        log_fd: where its stderr goes; None for nowhere.
        environ: its environment; None for ours.
    """
    import subprocess

    def start(flags: int) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL if log_fd is None else log_fd,
            close_fds=True,
            cwd=os.path.abspath(os.sep),
            env=environ,
            start_new_session=True,
            creationflags=flags,
        )

    if sys.platform != "win32":
        return start(0)
    try:
        return start(DETACHED_FLAGS)
    except PermissionError:  # a job that lets nobody leave
        return start(DETACHED_FLAGS & ~CREATE_BREAKAWAY_FROM_JOB)


def is_network_file_system(path: Path) -> bool:
    """Whether a path lies where other machines may write and locks may not reach; False where it cannot be told."""
    try:
        if sys.platform == "linux":
            with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as file:
                return _mount_type(os.path.realpath(path), _linux_mounts(file.read())) in NETWORK_TYPES
        if sys.platform == "darwin":
            import subprocess

            said = subprocess.run(["/sbin/mount"], capture_output=True, text=True, timeout=5, check=True).stdout
            return _mount_type(os.path.realpath(path), _macos_mounts(said)) in NETWORK_TYPES
    except (OSError, ValueError, ImportError):
        pass
    return False


def _linux_mounts(text: str) -> list[tuple[str, str]]:
    """(mount point, type) of every line of mountinfo: ``id parent dev root POINT options… - TYPE source …``."""
    found = []
    for line in text.splitlines():
        before, dash, after = line.partition(" - ")
        if dash and len(before.split()) > 4:
            point = re.sub(r"\\([0-7]{3})", lambda octal: chr(int(octal[1], 8)), before.split()[4])
            found.append((point, after.split()[0]))
    return found


def _macos_mounts(text: str) -> list[tuple[str, str]]:
    """The same of what ``mount`` prints: ``source on POINT (TYPE, options)``."""
    return [(line[1], line[2]) for line in re.finditer(r"^.+? on (.+) \((\w+)[^()]*\)$", text, re.MULTILINE)]


def _mount_type(path: str, mounts: Sequence[tuple[str, str]]) -> str:
    """The type of what is mounted nearest above a path; of several at one point, the last covers the others."""
    best, kind = -1, ""
    for point, type in mounts:
        inside = path == point or path.startswith(point.rstrip("/") + "/")
        if inside and len(point) >= best:
            best, kind = len(point), type
    return kind


def sync_fd(fd: int) -> None:
    """Makes a file's bytes and length durable."""
    if sys.platform == "darwin":
        import fcntl

        # fsync on macOS stops at the drive's cache.
        fcntl.fcntl(fd, fcntl.F_FULLFSYNC)
    elif sys.platform == "win32":
        os.fsync(fd)
    else:
        os.fdatasync(fd)


def fsync_dir(path: StrPath) -> None:
    """Makes a folder's entries durable, where the system knows such a thing."""
    if sys.platform == "win32":
        return
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(fd)
    except OSError as error:
        if error.errno not in _UNSUPPORTED:
            raise
    finally:
        os.close(fd)


def open_folder(path: Path) -> int | None:
    """A descriptor for ``sync_files``, or None where folders have none.

    It must be opened before the writes it is to answer for: syncfs reports the write errors since its descriptor was
    opened, and only those.
    """
    if sys.platform == "win32":
        return None
    return os.open(path, os.O_RDONLY | os.O_DIRECTORY)


def sync_files(files: Collection[StrPath], folders: Collection[StrPath], root_fd: int | None) -> bool:
    """Makes many files durable, and the entries of folders; files that are gone count as done.

    Args:
        files: what was written, on the file system of ``root_fd``.
        folders: where entries were made, renamed or removed.
        root_fd: from ``open_folder``.

    Returns:
        True when one call synced the whole file system, False when each path was synced by itself.
    """
    syncfs = _syncfs()
    if syncfs is not None and root_fd is not None and len(files) + len(folders) >= SYNCFS_FROM:
        syncfs(root_fd)
        return True
    for path in files:
        with contextlib.suppress(FileNotFoundError):
            _sync_path(path)
    for path in folders:
        with contextlib.suppress(FileNotFoundError):
            fsync_dir(path)
    return False


if sys.platform == "win32":

    def write_at(fd: int, data: memoryview, offset: int) -> int:
        """Writes at an offset of a file; returns how many bytes it took."""
        os.lseek(fd, offset, os.SEEK_SET)
        return os.write(fd, data)

else:

    def write_at(fd: int, data: memoryview, offset: int) -> int:
        """Writes at an offset of a file; returns how many bytes it took."""
        return os.pwrite(fd, data, offset)


def replace(source: StrPath, target: StrPath) -> None:
    """Renames over ``target`` atomically; on Windows tries again for a while when another program holds it open."""
    for attempt in range(_REPLACE_TRIES):
        try:
            os.replace(source, target)
        except PermissionError:
            if sys.platform != "win32" or attempt == _REPLACE_TRIES - 1:
                raise
            time.sleep(_REPLACE_PAUSE_S)
        else:
            return


def _sync_path(path: StrPath) -> None:
    # Windows flushes only descriptors that may write.
    fd = os.open(path, os.O_RDWR if sys.platform == "win32" else os.O_RDONLY)
    try:
        sync_fd(fd)
    finally:
        os.close(fd)


def _syncfs() -> Callable[[int], None] | None:
    """The syncfs call where it reports write errors (Linux 5.8), else None."""
    if sys.platform != "linux" or _kernel_version() < (5, 8):
        return None
    import ctypes

    library = ctypes.CDLL(None, use_errno=True)
    if not hasattr(library, "syncfs"):
        return None

    def syncfs(fd: int) -> None:
        if library.syncfs(fd) != 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number))

    return syncfs


def _kernel_version() -> tuple[int, int]:
    found = re.match(r"(\d+)\.(\d+)", os.uname().release)
    return (int(found[1]), int(found[2])) if found else (0, 0)


def _is_windows_process_alive(pid: int) -> bool:
    if sys.platform == "win32":
        import ctypes

        still_active, query_limited, access_denied = 259, 0x1000, 5
        kernel = ctypes.windll.kernel32
        handle = kernel.OpenProcess(query_limited, False, pid)
        if not handle:
            return bool(kernel.GetLastError() == access_denied)
        code = ctypes.c_ulong()
        kernel.GetExitCodeProcess(handle, ctypes.byref(code))
        kernel.CloseHandle(handle)
        return code.value == still_active
    raise AssertionError("Windows only")
