"""Many pure cases in one test: quicker to collect and to run than a test for each."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any


def each_case(names: str | tuple[str, ...], cases: Iterable[Any]) -> Callable[[Any], Any]:
    """Like ``pytest.mark.parametrize``, but one test that goes through the cases in a loop.

    A failure names its case. Two of them on one test go through all pairs. Only for tests without
    fixtures that a case changes.
    """
    chosen = tuple(cases)
    named = tuple(name.strip() for name in names.split(",")) if isinstance(names, str) else names
    assert chosen, "no cases"

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(test)
        def loop(**others: Any) -> None:
            for case in chosen:
                values = (case,) if len(named) == 1 else tuple(case)
                arguments = dict(zip(named, values, strict=True))
                try:
                    test(**arguments, **others)
                except BaseException as error:
                    error.add_note(f"in the case {arguments}")
                    raise

        signature = inspect.signature(test)
        left = [p for name, p in signature.parameters.items() if name not in named]
        loop.__signature__ = signature.replace(parameters=left)  # type: ignore[attr-defined]
        return loop

    return decorate
