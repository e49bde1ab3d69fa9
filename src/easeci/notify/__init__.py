"""Mail: letters in words, and two ways to send them.

Nothing is recorded here. The caller records a letter before it tries to send it, and what came of
the attempt afterwards.
"""

from easeci.notify.address import parse_address
from easeci.notify.facts import (
    AlarmFacts,
    ClauseFacts,
    Needs,
    VerdictFacts,
    WarningFacts,
)
from easeci.notify.letter import Letter
from easeci.notify.letters import Words, alarm_letter, verdict_letter, warning_letter
from easeci.notify.schedule import is_due, next_attempt
from easeci.notify.transport import NotSent, Transport, transport_from

__all__ = [
    "AlarmFacts",
    "ClauseFacts",
    "Letter",
    "Needs",
    "NotSent",
    "Transport",
    "VerdictFacts",
    "WarningFacts",
    "Words",
    "alarm_letter",
    "is_due",
    "next_attempt",
    "parse_address",
    "transport_from",
    "verdict_letter",
    "warning_letter",
]
