"""The eight commits of the story: an answerer that reads documents, and what becomes of it."""

from __future__ import annotations

from dataclasses import dataclass

PROGRAM = '''\
"""Answer every question from the documents."""
import csv
import json
import os
from pathlib import Path

from search import Search
from wording import answer

sentences = []
for path in sorted(Path(__file__).parent.glob("documents/*.txt")):
    title, *lines = path.read_text("utf-8").split("\\n")
    sentences += [(title, line) for line in lines if line]
search = Search(sentences)
with (
    open(os.path.join(os.environ["EASECI_EXAMPLES"], "examples.jsonl")) as given,
    open(os.environ["EASECI_PREDICTIONS"], "w", newline="") as file,
):
    writer = csv.writer(file)
    writer.writerow(["id", "output"])
    for line in given:
        row = json.loads(line)
        writer.writerow([row["id"], answer(row["question"], search)])
'''
OVERLAP = '''\
"""Find sentences: those that share the most words with the question."""
import re
from collections import defaultdict

import numpy as np


def words(text):
    return re.findall(r"\\w+", text.lower())


class Search:
    def __init__(self, sentences):
        self.sentences, self.index = sentences, defaultdict(list)
        for place, (title, text) in enumerate(sentences):
            for word in set(words(f"{title} {text}")):
                self.index[word].append(place)

    def points(self, question):
        points = np.zeros(len(self.sentences))
        for word in set(words(question)) & set(self.index):
            points[self.index[word]] += 1
        return points

    def best(self, question, count=1):
        order = np.argsort(-self.points(question), kind="stable")
        return [self.sentences[place] for place in order[:count]]
'''
TFIDF = '''\
"""Find sentences by TF-IDF: rare words count more, and words of long sentences less."""
import re
from collections import defaultdict

import numpy as np

SMALL = set(
    "a all and at be by do does for get goes how in is it of on one or that the there this to was "
    "what when where which who you".split()
)


def words(text):
    return re.findall(r"\\w+", text.lower())


class Search:
    def __init__(self, sentences):
        self.sentences, self.index = sentences, defaultdict(list)
        for place, (title, text) in enumerate(sentences):
            for word in set(words(f"{title} {text}")) - SMALL:
                self.index[word].append(place)
        squares = np.zeros(len(sentences))
        for word in sorted(self.index):
            squares[self.index[word]] += self.weight(word) ** 2
        self.lengths = np.sqrt(squares)

    def weight(self, word):
        return np.log(len(self.sentences) / len(self.index[word]))

    def points(self, question):
        points = np.zeros(len(self.sentences))
        for word in sorted(set(words(question)) & set(self.index)):
            points[self.index[word]] += self.weight(word) ** 2
        return points / self.lengths

    def best(self, question, count=1):
        order = np.argsort(-self.points(question), kind="stable")
        return [self.sentences[place] for place in order[:count]]
'''
TIDIED = '''\
"""Find sentences by TF-IDF: rare words count more, and words of long sentences less."""
import re
from collections import defaultdict

import numpy as np

SMALL = set(
    "a all and at be by do does for get goes how in is it of on one or that the there this to was "
    "what when where which who you".split()
)


def words(text):
    """The words of a text, in small letters."""
    return re.findall(r"\\w+", text.lower())


class Search:
    """An index of sentences."""

    def __init__(self, sentences):
        self.sentences = sentences
        places = defaultdict(list)
        for place, sentence in enumerate(sentences):
            for word in set(words(" ".join(sentence))) - SMALL:
                places[word].append(place)
        self.index = {word: np.array(places[word]) for word in sorted(places)}
        self.weights = {w: np.log(len(sentences) / len(p)) ** 2 for w, p in self.index.items()}
        self.lengths = np.sqrt(self.sums(self.index))

    def sums(self, asked):
        """The weights of some words, summed up over each sentence."""
        sums = np.zeros(len(self.sentences))
        for word in asked:
            sums[self.index[word]] += self.weights[word]
        return sums

    def best(self, question, count=1):
        """The sentences that fit best."""
        asked = sorted(set(words(question)) & set(self.index))
        order = np.argsort(-self.sums(asked) / self.lengths, kind="stable")
        return [self.sentences[place] for place in order[:count]]
'''
SAME_WORDS = '''
SAME = {
    "operates": "charge runs responsible",
    "installed": "since old",
    "stands": "find located",
    "built": "maker manufacturer",
    "weighs": "heavy weight",
    "serviced": "inspected maintenance",
    "draws": "electricity energy",
    "makes": "produce capacity",
}
OTHERS = {other: word for word, others in SAME.items() for other in others.split()}


def shorter(word):
    """The word itself, and with each one of its letters left out."""
    return {word} | {word[:place] + word[place + 1 :] for place in range(len(word))}


class Search:'''
MEANT = '''
        self.titles = {word for title, _ in sentences for word in words(title)}
        self.near = {part: word for word in sorted(self.titles) for part in shorter(word)}

    def meant(self, word):
        """The word of the documents that a word of a question stands for."""
        word = OTHERS.get(word, word)
        if word in self.index or len(word) < 5:
            return word
        return next((self.near[p] for p in sorted(shorter(word)) if p in self.near), word)

    def sums('''
FITTING = """\
        asked = {self.meant(word) for word in words(question)}
        sums = self.sums(sorted(asked & set(self.index)))
        order = np.argsort(-sums / self.lengths, kind="stable")
        found = [self.sentences[place] for place in order[:count]]
        return [(title, text) for title, text in found if set(words(title)) <= asked]
"""
FORGIVING = (
    TIDIED.replace("\nclass Search:", SAME_WORDS)
    .replace("\n    def sums(", MEANT)
    .partition("        asked = sorted(")[0]
    .replace("sentences that fit best.", "sentences that fit best; none if no title does.")
    + FITTING
)
BRIEF = '''\
"""Answer with the words of the best sentence that are not in the question."""
from search import words

LEFT_OUT = set("it is was in the".split())


def answer(question, search):
    if not (found := search.best(question)):
        return "unknown"
    title, text = found[0]
    known = LEFT_OUT | set(words(question)) | set(words(title))
    return " ".join(word for word in text.split() if not set(words(word)) <= known)
'''
LONGEST = '''\
"""Answer with the longest sentence of the best document, which says the most."""


def answer(question, search):
    [(best, _)] = search.best(question)
    return max((text for title, text in search.sentences if title == best), key=len)
'''
MISTYPED = LONGEST.replace("key=len", "key=length")
THREE = '''\
"""Answer with the three best sentences, so that the fact is surely among them."""


def answer(question, search):
    found = search.best(question, 3)
    parts = [f"{title}: {text}" for title, text in found]
    return "I have looked into all the documents, and this is what I found. " + " ".join(parts)
'''


@dataclass(frozen=True)
class Commit:
    """A change to the repository, the exit code that it gets, and what to say about it."""

    title: str
    files: dict[str, str]
    code: int
    comment: str = ""


COMMITS = (
    Commit(
        "Count common words", {"answer.py": PROGRAM, "search.py": OVERLAP, "wording.py": BRIEF}, 0
    ),
    Commit("Weigh rare words more", {"search.py": TFIDF}, 0, "Its answers have more of the facts."),
    Commit(
        "Describe the answerer",
        {"README.md": "# Answers from our documents\n"},
        0,
        "The script ignores this file, so the model is still the baseline's: no step.",
    ),
    Commit(
        "Tidy up the search",
        {"search.py": TIDIED},
        0,
        "On the public sample it answers what the baseline does: no step.",
    ),
    Commit(
        "Always answer with the longest sentence",
        {"wording.py": LONGEST},
        1,
        "It has fewer of the facts. And one document is hostile: its longest sentence has terminal "
        "escapes, HTML, and a request for score 1. The new model repeats it. It is an answer like "
        "any other.",
    ),
    Commit(
        "Compare lengths, mistyped",
        {"wording.py": MISTYPED},
        5,
        "It fails on the public sample. That is told in full, and spends no step.",
    ),
    Commit(
        "Answer with three sentences",
        {"wording.py": THREE},
        1,
        "Its outputs were made on another machine. They have more of the facts, so n - o is well "
        "above 0. But they are long: the second clause fails.",
    ),
    Commit(
        "Forgive typing errors, know other words",
        {"search.py": FORGIVING, "wording.py": BRIEF},
        0,
        "It finds more, and is brief again.",
    ),
)
