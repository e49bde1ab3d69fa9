"""Mail: letters in words, and two ways to send them. What is to be sent is kept elsewhere.

Whoever sends records a letter before it tries, and what came of it afterwards.
"""

from easeci.notify.address import parse_address
from easeci.notify.facts import (
    AlarmFacts,
    AlarmReason,
    ClauseFacts,
    Needs,
    VerdictFacts,
    WarningFacts,
    WarningReason,
)
from easeci.notify.letter import Letter
from easeci.notify.letters import Words, alarm_letter, verdict_letter, warning_letter
from easeci.notify.schedule import is_due, next_attempt
from easeci.notify.transport import NotSent, Transport, transport_from

__all__ = [
    "AlarmFacts",
    "AlarmReason",
    "ClauseFacts",
    "Letter",
    "Needs",
    "NotSent",
    "Transport",
    "VerdictFacts",
    "WarningFacts",
    "WarningReason",
    "Words",
    "alarm_letter",
    "is_due",
    "next_attempt",
    "parse_address",
    "transport_from",
    "verdict_letter",
    "warning_letter",
]
