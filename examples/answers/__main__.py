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
from collections.abc import Mapping, Sequence
from pathlib import Path

from examples.answers import score
from examples.answers.commits import COMMITS, Commit
from examples.answers.works import Question, draw_machines, draw_questions
from examples.digits import say

SCRIPT = """\
ml:
  - script      : ./answer.py
  - scorer      : ./score.py                # sealed with the testset
  - scores      : [concise]                 # it writes this beside the score
  - condition   : n - o > 0 +/- 0.03 /\\ n.concise > 0.8 +/- 0.03
  - reliability : 0.99                      # no wrong pass in a testset's life
  - mode        : fp-free                   # Unknown fails
  - adaptivity  : full                      # developers see every signal
  - steps       : 5                         # so many commits per testset
  - sensitivity : 0.95                      # clearly better commits pass
  - ignore      : [README.md]               # no model depends on this
"""
SIZE, LATER, SEED = 3_100, 1_000, 1
"""How many questions are sealed, and how many of them get their references later: so many that the
first commit waits for some, whatever the order is."""
FRESH, FRESH_SEED = 1_500, 2
"""How many other questions two files are checked on."""
PENDING = 3
"""The exit code of a commit that waits for labels."""
TRIED, HOSTILE, ELSEWHERE = COMMITS[1], COMMITS[4], COMMITS[6]
"""Commits that are also tried, that repeat a hostile text, and that another machine runs."""


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
        write_questions(self.folder / "questions.jsonl", self.questions)
        hostile = Question(f"Who operates {self.machines[0].title}?", "")
        write_questions(self.folder / "hostile.jsonl", {"h1": hostile})
        self.write_references("references.csv", list(self.questions)[LATER:])

    def begin(self) -> None:
        """Commit the first model, and seal the testset."""
        say(
            f"The first commit counts common words. The owner seals {SIZE:,} questions with the "
            f"scorer. All but {LATER:,} have a reference, which the scorer compares outputs with."
        )
        self.commit(COMMITS[0])
        self.easeci("testset", "add", "../questions.jsonl", "--labels", "../references.csv")

    def test(self, commit: Commit) -> None:
        """Give a commit its signal, as a developer would ask for it."""
        run = ["run"]
        if commit is TRIED:
            self.easeci("try")
        if commit is HOSTILE:
            self.easeci("try", "--examples", "../hostile.jsonl")
        if commit is ELSEWHERE:
            self.easeci("testset", "sample", "--to", "../sample")
            self.answer_sealed(self.folder / "made.csv")
            run += ["--predictions", "../made.csv"]
        code = self.easeci(*run, expect=None)
        while code == PENDING:
            say("The answer depends on references that are missing. Somebody writes them.")
            self.easeci("labels", "export", "../ask.csv")
            with (self.folder / "ask.csv").open(encoding="utf-8", newline="") as file:
                self.write_references("given.csv", [row["id"] for row in csv.DictReader(file)])
            self.easeci("labels", "import", "../given.csv")
            code = self.easeci("run", expect=None)
        self.compare(code, commit.code)

    def end(self) -> None:
        """Show the history, and a check of two files with scores."""
        say("What developers see, what the owner sees, and that nobody has touched the record.")
        self.easeci("log")
        self.easeci("status", "--owner")
        self.easeci("log", "--verify")
        say(
            f"Without a repository: two files with outputs and their scores, of {FRESH:,} other "
            "questions. The new model answers with three sentences."
        )
        questions = draw_questions(self.machines, FRESH, FRESH_SEED)
        self.write_scored("old.jsonl", questions)
        self.change(ELSEWHERE.files)
        self.write_scored("new.jsonl", questions)
        self.easeci("check", "--new", "../new.jsonl", "--old", "../old.jsonl", expect=1)

    def answer_sealed(self, path: Path) -> None:
        """Answer the sealed questions outside of easeci: all but the public sample."""
        public = (self.folder / "sample" / "examples.jsonl").read_text("utf-8").splitlines()
        sample = {json.loads(line)["id"] for line in public}
        self.answer({i: q for i, q in self.questions.items() if i not in sample}, path)

    def answer(self, questions: dict[str, Question], path: Path) -> None:
        """Run the program of the work tree outside of easeci, as another machine would."""
        with tempfile.TemporaryDirectory() as given:
            write_questions(Path(given, "examples.jsonl"), questions)
            where = {"EASECI_EXAMPLES": given, "EASECI_PREDICTIONS": str(path)}
            program = [sys.executable, "answer.py"]
            subprocess.run(program, cwd=self.repository, env=os.environ | where, check=True)

    def write_scored(self, name: str, drawn: list[Question]) -> None:
        """Write the outputs of the work tree's model, with a column for each of their scores."""
        questions = {f"f{number:04}": question for number, question in enumerate(drawn)}
        made = self.folder / "outputs.csv"
        self.answer(questions, made)
        outputs = read_outputs(made)
        rows = [
            {
                "id": i,
                "output": outputs[i],
                "score": score.score(question.reference, outputs[i]),
                "score.concise": score.concise(question.reference, outputs[i]),
            }
            for i, question in questions.items()
        ]
        write_lines(self.folder / name, rows)

    def write_references(self, name: str, ids: list[str]) -> None:
        """Write a file of references, as somebody who knows the works would."""
        with (self.folder / name).open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["id", "label"])
            writer.writerows([i, self.questions[i].reference] for i in ids)

    def commit(self, commit: Commit) -> None:
        """Change some files, and commit them."""
        self.change(commit.files)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", commit.title)

    def change(self, files: Mapping[str, str]) -> None:
        """Write files to the work tree."""
        for name, text in files.items():
            (self.repository / name).write_text(text, encoding="utf-8")

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
        if expect is not None:
            self.compare(done.returncode, expect)
        return done.returncode

    def compare(self, code: int, expected: int) -> None:
        """Note it if a command ended with another exit code than it should."""
        if code != expected:
            print(f"exit code {code}, expected {expected}", file=sys.stderr)
            self.as_expected = False


def read_outputs(path: Path) -> dict[str, str]:
    """The outputs in a file, by id."""
    with path.open(encoding="utf-8", newline="") as file:
        return {row["id"]: row["output"] for row in csv.DictReader(file)}


def write_questions(path: Path, questions: dict[str, Question]) -> None:
    """Write examples: what models see of questions."""
    write_lines(path, [{"id": i, "question": question.text} for i, question in questions.items()])


def write_lines(path: Path, rows: Sequence[Mapping[str, object]]) -> None:
    """Write a file of JSON lines."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
