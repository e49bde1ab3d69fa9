"""A model that writes texts: eight commits of an answerer, and a scorer of the owner's.

Makes a git repository with documents and a program that answers questions from them, and runs the
commands that an owner and a developer would run. Everything is written or drawn here; nothing is
downloaded.
"""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from examples.answers import score
from examples.answers.commits import COMMITS, Commit
from examples.answers.works import Question, draw_machines, draw_questions
from examples.digits import say

SCRIPT = """\
ml:
  - script      : ./answer.py
  - scorer      : ./score.py                # the owner's; sealed with the testset
  - scores      : [concise]                 # what it writes beside the main score
  - condition   : n - o > 0 +/- 0.03 /\\ n.concise > 0.8 +/- 0.03
  - reliability : 0.99                      # no wrong pass over the testset's life
  - mode        : fp-free                   # Unknown fails
  - adaptivity  : full                      # developers see every signal
  - steps       : 5                         # so many commits per testset
  - sensitivity : 0.95                      # clearly better commits pass
  - ignore      : [README.md]               # commits that change only this are the same model
"""
SIZE, KNOWN, SEED = 3_100, 1_200, 1
ELSEWHERE = "Answer with three sentences"
"""The commit whose outputs are made on another machine."""


def main() -> int:
    """Play the story; 0 if every command ended as expected."""
    with tempfile.TemporaryDirectory() as name:
        story = Story(Path(name))
        story.prepare()
        say(f"A repository with {len(story.machines)} documents and this script, .easeci.yml:")
        print(f"\n{SCRIPT}", flush=True)
        story.easeci("plan")
        story.begin()
        for number, commit in enumerate(COMMITS[1:], start=2):
            say(f"Commit {number}: {commit.title}. {commit.comment}")
            story.commit(commit)
            story.test(commit)
        story.end()
        return 0 if story.as_expected else 1


class Story:
    """The repository, the questions, and the commands run there."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.repository = folder, folder / "answers"
        self.machines = draw_machines()
        drawn = draw_questions(self.machines, SIZE, SEED)
        self.questions = {f"q{number:04}": question for number, question in enumerate(drawn)}
        self.as_expected = True

    def prepare(self) -> None:
        """Make the repository, and files of questions and references beside it."""
        documents = self.repository / "documents"
        documents.mkdir(parents=True)
        for machine in self.machines:
            name = machine.title.removeprefix("The ").lower().replace(" ", "-")
            (documents / f"{name}.txt").write_text(machine.document(), encoding="utf-8")
        (self.repository / ".easeci.yml").write_text(SCRIPT, encoding="utf-8")
        self.git("init", "--quiet", "--initial-branch=main")
        # The scorer is the owner's and not the developers': it stays out of the commits.
        (self.repository / ".git" / "info" / "exclude").write_text("score.py\n", encoding="utf-8")
        scorer = Path(score.__file__).read_text("utf-8")
        (self.repository / "score.py").write_text(scorer, encoding="utf-8")
        rows = [{"id": i, "question": q.text} for i, q in self.questions.items()]
        write_lines(self.folder / "questions.jsonl", rows)
        self.write_references("references.csv", list(self.questions)[:KNOWN])

    def begin(self) -> None:
        """Commit the first model, and seal the testset."""
        say(
            f"The first commit counts common words. The owner seals {SIZE:,} questions with the "
            f"scorer. {KNOWN:,} of them have a reference, which outputs are compared with."
        )
        self.commit(COMMITS[0])
        self.easeci("testset", "add", "../questions.jsonl", "--labels", "../references.csv")

    def test(self, commit: Commit) -> None:
        """Give a commit its signal, as a developer would ask for it."""
        sent: list[str] = []
        if commit.title == ELSEWHERE:
            sent = ["--predictions", "../made.csv"]
            self.easeci("testset", "sample", "--to", "../sample")
            self.make_outputs(self.folder / "made.csv")
        elif commit == COMMITS[1]:
            self.easeci("try")
        if self.easeci("run", *sent, expect=None) == 3:
            say("The answer depends on references that nobody has written yet. Somebody does.")
            self.label()
            self.easeci("run", *sent, expect=commit.code)
        else:
            self.expect(commit.code)

    def label(self) -> None:
        """Write the references that are asked for until there are no more questions."""
        while self.easeci("labels", "export", "../ask.csv") == 0:
            with (self.folder / "ask.csv").open(encoding="utf-8", newline="") as file:
                asked = [row["id"] for row in csv.DictReader(file)]
            if not asked:
                return
            self.write_references("given.csv", asked)
            self.easeci("labels", "import", "../given.csv")

    def end(self) -> None:
        """Show the history, and a check of two files with scores."""
        say("What developers see, and what the owner sees.")
        self.easeci("log")
        self.easeci("status", "--owner")
        self.easeci("log", "--verify")

    def make_outputs(self, path: Path) -> None:
        """Run the program of the work tree on the sealed questions, outside of easeci."""
        public = (self.folder / "sample" / "examples.jsonl").read_text("utf-8").splitlines()
        sample = {json.loads(line)["id"] for line in public}
        given = self.folder / "sealed"
        given.mkdir(exist_ok=True)
        rows = [
            {"id": i, "question": q.text} for i, q in self.questions.items() if i not in sample
        ]
        write_lines(given / "examples.jsonl", rows)
        where = {"EASECI_EXAMPLES": str(given), "EASECI_PREDICTIONS": str(path)}
        program = [sys.executable, "answer.py"]
        subprocess.run(program, cwd=self.repository, env=os.environ | where, check=True)

    def write_references(self, name: str, ids: list[str]) -> None:
        """Write a file of references, as somebody who knows the works would."""
        with (self.folder / name).open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["id", "label"])
            writer.writerows([i, self.questions[i].reference] for i in ids)

    def commit(self, commit: Commit) -> None:
        """Change some files, and commit them."""
        for name, text in commit.files.items():
            (self.repository / name).write_text(text, encoding="utf-8")
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", commit.title)

    def git(self, *arguments: str) -> None:
        """Run git in the repository, as a developer."""
        who = ["-c", "user.name=Developer", "-c", "user.email=developer@example.org"]
        subprocess.run(["git", *who, *arguments], cwd=self.repository, check=True)

    def easeci(self, *arguments: str, expect: int | None = 0) -> int:
        """Show a command, run it, and compare its exit code with the expected one."""
        print(f"\n$ easeci {' '.join(arguments)}\n", flush=True)
        command = Path(sys.executable).with_name("easeci")
        environment = {k: v for k, v in os.environ.items() if not k.startswith("EASECI_")}
        done = subprocess.run(
            [str(command), *arguments], cwd=self.repository, env=environment, check=False
        )
        self.code = done.returncode
        if expect is not None:
            self.expect(expect)
        return done.returncode

    def expect(self, code: int) -> None:
        """Note it if the last command ended with another exit code."""
        if self.code != code:
            print(f"exit code {self.code}, expected {code}", file=sys.stderr)
            self.as_expected = False


def write_lines(path: Path, rows: list[dict[str, str]]) -> None:
    """Write a file of JSON lines."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
