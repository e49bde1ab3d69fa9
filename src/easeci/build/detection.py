"""Which sandboxes a build may use, and whether one works on this machine."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable

from easeci.build.bubblewrap import Bubblewrap, missing_programs
from easeci.build.landlock import Landlock, Unsandboxed
from easeci.build.repository import Repository
from easeci.build.running import run_limited
from easeci.build.sandbox import Job, Limits, Sandbox
from easeci.build.seccomp import MACHINES
from easeci.build.sharing import Sharing, find_sharing
from easeci.build.workspace import free_uid, open_workspace
from easeci.errors import EaseciError, InfrastructureError

PROOF = "the sandbox works"


def allowed_sandboxes(repository: Repository, *, unsandboxed: bool = False) -> tuple[Sandbox, ...]:
    """The sandboxes that a build may use, the best first; no protection only if the caller asks.

    A build uses the first that works here. Its own start shows whether one does.
    """
    if unsandboxed:
        return (Unsandboxed(),)
    # A work tree's own repository is not pushed to, and its modes come from the umask alone.
    shared = repository.top is None and find_sharing(repository.git_dir) is not Sharing.NOBODY
    return (Bubblewrap(), Landlock(shared=shared))


def why_absent(sandbox: Sandbox) -> str | None:
    """What a sandbox lacks on this machine, as far as can be told without starting it."""
    if isinstance(sandbox, Bubblewrap) and (missing := missing_programs()):
        return f"not installed: {', '.join(missing)}"
    if isinstance(sandbox, Landlock):
        if sandbox.shared:
            return "too weak for a repository that other accounts of this machine may push to"
        from easeci.build.supervise import LEAST_VERSION, landlock_version  # only Linux has it

        if platform.machine() not in MACHINES:
            return f"not known on {platform.machine()}"
        if landlock_version() < LEAST_VERSION:
            return f"the kernel has version {landlock_version()}, {LEAST_VERSION} is needed"
    return None


def why_not(sandbox: Sandbox) -> str | None:
    """Why a sandbox cannot be used here; None if it has just run a small program."""
    try:
        return why_absent(sandbox) or _trial(sandbox)
    except EaseciError as error:
        return error.message


def no_sandbox(reasons: Iterable[str]) -> InfrastructureError:
    """The error that none of the sandboxes works, with a reason for each."""
    return InfrastructureError(
        "no sandbox works here, so programs of commits cannot be run safely\n"
        + "\n".join(f"  {reason}" for reason in reasons),
        hint="Install bubblewrap: apt-get install bubblewrap\n"
        "If you trust every commit with all that you may do yourself: --unsandboxed",
    )


def _trial(sandbox: Sandbox) -> str | None:
    limits = Limits(seconds=20)
    uid = user_for(sandbox)
    with open_workspace(uid, ()) as space:
        space.hand_over()
        command = ("/bin/sh", "-c", f"echo {PROOF}")
        environment = {"PATH": os.defpath}
        job = Job(space, command, environment, (), (), limits)
        with run_limited(sandbox, job) as outcome:
            pass
    said = outcome.log.decode("utf-8", "replace").strip()
    if outcome.began and outcome.code == 0 and said == PROOF:
        return None
    return said.splitlines()[-1] if said else f"it ended with exit code {outcome.code}"


def user_for(sandbox: Sandbox) -> int | None:
    """The user that root runs a build as; None for the invoking user."""
    return free_uid() if sandbox.changes_user and os.geteuid() == 0 else None
