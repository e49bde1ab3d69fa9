"""Control groups: where one can be made, that it holds, and that nothing of it is left."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from easeci.build.cgroups import PREFIX, BuildCgroup, GroupFolder, find_places, open_cgroup
from tests.waiting import PATIENCE, wait_until

MIB = 2**20
V1 = """\
30 25 0:26 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory
31 25 0:27 / /sys/fs/cgroup/pids rw,relatime - cgroup cgroup rw,pids
32 25 0:28 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw
"""
CONTAINER = """\
30 25 0:26 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory
31 25 0:27 /docker/abc /sys/fs/cgroup/pids ro - cgroup cgroup rw,pids
"""


def test_version_1_has_a_place_for_each_kind() -> None:
    """Groups are made inside our own, wherever the hierarchy is mounted."""
    own = "4:memory:/service/job\n8:pids:/\n0::/\n"
    assert find_places(V1, own) == {
        "memory": GroupFolder(Path("/sys/fs/cgroup/memory/service/job"), 1),
        "pids": GroupFolder(Path("/sys/fs/cgroup/pids"), 1),
    }
    own = "4:memory:/docker/abc/job\n8:pids:/docker/abc\n"
    assert find_places(CONTAINER, own) == {
        "memory": GroupFolder(Path("/sys/fs/cgroup/memory/job"), 1),
        "pids": GroupFolder(Path("/sys/fs/cgroup/pids"), 1),
    }
    assert find_places(CONTAINER, "4:memory:/elsewhere\n8:pids:/elsewhere\n") is None
    assert find_places("", own) is None


def test_version_2_has_a_place_where_limits_are_passed_on(tmp_path: Path) -> None:
    """That is the nearest group above ours which hands both controllers to its children."""
    mounts = f"30 25 0:26 / {tmp_path} rw - cgroup2 cgroup2 rw\n"
    leaf = tmp_path / "user.slice" / "app.slice" / "run.scope"
    leaf.mkdir(parents=True)
    own = "0::/user.slice/app.slice/run.scope\n"
    (leaf / "cgroup.subtree_control").write_text("\n")
    assert find_places(mounts, own) is None
    (tmp_path / "user.slice" / "cgroup.subtree_control").write_text("cpu memory pids\n")
    place = GroupFolder(tmp_path / "user.slice", 2)
    assert find_places(mounts, own) == {"memory": place, "pids": place}


def test_version_2_tells_whose_limit_was_met(tmp_path: Path) -> None:
    """A process that the kernel ends because the machine is full does not count."""
    group = BuildCgroup(GroupFolder(tmp_path, 2), GroupFolder(tmp_path, 2))
    for name in ("memory.max", "memory.swap.max", "pids.max"):
        (tmp_path / name).touch()
    group.limit_memory(5 * MIB)
    group.limit_processes(8)
    assert (tmp_path / "memory.max").read_text() == str(5 * MIB)
    assert (tmp_path / "memory.swap.max").read_text() == "0"
    assert (tmp_path / "pids.max").read_text() == "8"
    (tmp_path / "memory.events").write_text("max 0\noom 0\noom_kill 1\n")
    assert not group.ran_out_of_memory()
    (tmp_path / "memory.events").write_text("max 9\noom 1\noom_kill 1\n")
    assert group.ran_out_of_memory()
    (tmp_path / "pids.events").write_text("max 0\n")
    assert not group.refused_processes()
    (tmp_path / "pids.events").write_text("max 3\n")
    assert group.refused_processes()


def enter(group: BuildCgroup, *command: str) -> subprocess.Popen[bytes]:
    """Start a command, and return when it is inside the group, or was and has ended."""
    script = 'while [ "$1" != -- ]; do echo 0 >"$1"; shift; done; shift; exec "$@"'
    entrances = map(str, group.entrances)
    process = subprocess.Popen(["/bin/sh", "-c", script, "sh", *entrances, "--", *command])
    inside = [folder.name for folder in group.folders]
    own = Path(f"/proc/{process.pid}/cgroup")
    wait_until(
        lambda: process.poll() is not None or own.read_text().count(inside[0]) == len(inside)
    )
    return process


def require(group: BuildCgroup | None) -> BuildCgroup:
    if group is None:
        pytest.skip("no control group can be made by this account")
    return group


def test_the_kernel_holds_a_group_to_its_limits() -> None:
    """Memory that no process has mapped counts, too, and forks are refused."""
    hold = "import os\nwhile True: os.write(os.memfd_create('held'), b'x' * 2**20)"
    with open_cgroup(64 * MIB, 8) as made:
        group = require(made)
        assert not group.ran_out_of_memory()
        assert enter(group, sys.executable, "-c", hold).wait(PATIENCE) == -signal.SIGKILL
        assert group.ran_out_of_memory()
        assert not group.refused_processes()
        assert enter(
            group, "/bin/sh", "-c", "for _ in 1 2 3 4 5 6 7 8 9; do sleep 60 & done"
        ).wait()
        assert group.refused_processes()
        folders = group.folders
    assert not any(folder.exists() for folder in folders)


def test_what_a_killed_command_left_is_removed() -> None:
    """The next build ends the processes of a group whose owner is gone, and leaves a live one."""
    script = """
import subprocess, time
from easeci.build.cgroups import open_cgroup
from tests.unit.build.test_cgroups import enter
with open_cgroup(2**30, 8) as group:
    print(group.memory.folder.name, enter(group, "sleep", "600").pid, flush=True)
    time.sleep(600)
"""
    with open_cgroup(64 * MIB, 8) as made:
        live = require(made)
        owner = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
        assert owner.stdout is not None
        name, pid = owner.stdout.readline().split()
        left = live.memory.folder.with_name(name)
        assert left.is_dir()
        assert name.startswith(PREFIX)
        owner.kill()
        owner.wait()
        owner.stdout.close()
        with open_cgroup(64 * MIB, 8):
            assert not left.exists()
            assert live.memory.folder.is_dir()
    wait_until(lambda: not Path(f"/proc/{pid}").exists() or _is_zombie(int(pid)))


def _is_zombie(pid: int) -> bool:
    try:
        return ") Z " in Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return True


def test_only_members_are_ended() -> None:
    """A process outside the group outlives it."""
    outside = subprocess.Popen(["sleep", "600"])
    try:
        with open_cgroup(64 * MIB, 8) as made:
            inside = enter(require(made), "sleep", "600")
        assert inside.wait(PATIENCE) == -signal.SIGKILL
        assert outside.poll() is None
    finally:
        outside.kill()
        outside.wait()
