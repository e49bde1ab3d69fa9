"""How large predictions may be, and what reading them may cost. All grows with the testset.

A program wrote the predictions, and nothing that it wrote is trusted. Honest files stay far below
these limits: of 10 million examples a CSV file has about 330 MB, and reading it takes 4.3 GB and
16 seconds. Outputs, which are any text, may be longer than classes.
"""

from __future__ import annotations

from dataclasses import dataclass

MIB = 1 << 20
FILE_BYTES, FILE_BYTES_PER_EXAMPLE = 64 * MIB, 512
"""A file may have so many bytes, and so many more for each example, besides the id itself."""
FILE_BYTES_PER_OUTPUT = 16 << 10
"""The same for each output, in place of the bytes for each example."""
ROWS, ROWS_PER_EXAMPLE = 100_000, 2
"""Files with a few rows too many are read, so that the error can name these rows."""
MEMORY_BYTES, MEMORY_PER_FILE_BYTE = 1280 * MIB, 2
MEMORY_PER_OUTPUT_BYTE = 4
"""Outputs are read, put in order, and packed: for a moment there are several copies of them."""
CPU_SECONDS, CPU_SECONDS_PER_EXAMPLE = 10, 5e-5
OUTPUT_BYTES_PER_CPU_SECOND = 20 * MIB
"""Texts of JSON that are all escapes are read at about twice this speed."""
ELAPSED_PER_CPU_SECOND = 10
"""A busy machine may need several seconds for one second of work."""


@dataclass(frozen=True)
class ReadingLimits:
    """The limits for predictions on a testset."""

    examples: int
    id_bytes: int
    """The bytes of all ids together, as text."""
    trials: int | None = None
    """How many outputs each example has; None if predictions are classes."""

    @property
    def values(self) -> int:
        """How many predictions or outputs there are."""
        return self.examples * (self.trials or 1)

    @property
    def file_bytes(self) -> int:
        """The largest file; also the most that the columns it needs may have when unpacked."""
        each = FILE_BYTES_PER_EXAMPLE if self.trials is None else FILE_BYTES_PER_OUTPUT
        return FILE_BYTES + each * self.values + self.id_bytes * (self.trials or 1)

    @property
    def rows(self) -> int:
        """The most rows of a file that says how many it has."""
        return ROWS + ROWS_PER_EXAMPLE * self.values

    @property
    def memory_bytes(self) -> int:
        """The most memory that reading may take."""
        each = MEMORY_PER_FILE_BYTE if self.trials is None else MEMORY_PER_OUTPUT_BYTE
        return MEMORY_BYTES + each * self.file_bytes

    @property
    def answer_bytes(self) -> int:
        """The most that the reading process may write: a line, scores, texts and their places."""
        return MIB + 16 * self.values + self.file_bytes

    @property
    def cpu_seconds(self) -> int:
        """The most time that a processor may work on it."""
        long_texts = 0 if self.trials is None else self.file_bytes // OUTPUT_BYTES_PER_CPU_SECOND
        return CPU_SECONDS + int(CPU_SECONDS_PER_EXAMPLE * self.values) + long_texts

    @property
    def elapsed_seconds(self) -> int:
        """The longest that anybody waits for it."""
        return ELAPSED_PER_CPU_SECOND * self.cpu_seconds


def size_in_mib(size: int) -> str:
    """A size as people read it: 12 MiB. Less than one MiB counts as one."""
    return f"{-(-size // MIB):,} MiB"
