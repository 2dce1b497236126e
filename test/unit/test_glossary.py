"""Names and sentences that the project has given up do not come back; docs/glossary.md has ours."""

import io
import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SKIPPED = {".venv", "build", "test", "generated", "template"}

PENDING = {
    "targets/dla",
}
"""Files and folders that still have words of the list; none is added."""


@dataclass(frozen=True)
class Word:
    """An identifier, or a part of one between underscores, and the term to use.

    Where it names something else, `allowed` are the files or folders that may use it.
    """

    word: str
    term: str
    allowed: tuple[str, ...] = ()


@dataclass(frozen=True)
class Phrase:
    """A regular expression for text, the standard words, and an example of what it refuses."""

    pattern: str
    instead: str
    example: str


WORDS = [
    Word("Attempt", "SchedulingAttempt"),
    Word("ChooseMemory", "AssignResidency"),
    Word("DelayScales", "SinkDequantize"),
    Word("Hook", "Instrumentation"),
    Word("Joins", "AliasAnalysis"),
    Word("Judge", "Evaluator"),
    Word("Life", "LiveRange"),
    Word("Misfit", "Rejected"),
    Word("Room", "SessionState"),
    Word("STAYS", "RESIDENT"),
    Word("STILL", "NO_CODE_OPS"),
    Word("Settled", "CompiledKernel"),
    Word("SignBytes", "ConvertUint8ToInt8"),
    Word("Sink", "Epilogue"),
    Word("StayCosts", "ResidencyCost"),
    Word("Team", "ThreadPool"),
    Word("Trial", "DryRun", ("runtime/gpu", "tools/bench/gpu")),  # measures one kernel
    Word("Twins", "Duplicates"),
    Word("Verdict", "NodeSupport"),
    Word("Watch", "Instrumentation"),
    Word("brings", "boundary_ops"),
    Word("brought_by", "boundary_ops"),
    Word("choose_memory", "assign_residency"),
    Word("detour", "diamond"),
    Word("lay_out", "plan_memory"),
    Word("lives", "liveness"),
    Word("road", "pipeline"),
    Word("settle", "compile_kernels"),
    Word("stay_costs", "residency_cost"),
    Word("twins", "duplicates"),
    Word("verdicts", "support_report"),
    Word("widening", "promotable_casts"),
]

PHRASES = [
    Phrase(
        r'"""(Say|Tell) (of|in which|how|what|where|whether|which|why)\b',
        "Return, Report or Record",
        '"""Say why an op is refused."""',
    ),
    Phrase(r"\b[Ss]ay (of|in which) \w+ (it|they|there)\b", "return", "Say of which it is"),
    Phrase(r"\b[Ww]hatever\b", "a noun, or `any`", "Take whatever is left."),
    Phrase(r"\b[Tt]hat which\b", "a noun", "that which remains"),
    Phrase(r"\bwhat there (is|are|was|were)\b", "a noun", "Return what there is."),
    Phrase(r"\b[Bb]r(ing|ings|ought) \w+ to\b", "copy or convert", "It brings values to a GPU."),
    Phrase(r"\blies? in memory\b", "is stored in memory", "An axis that lies in memory."),
    Phrase(r"\btakes? no more room\b", "needs no extra memory", "It takes no more room."),
    Phrase(r"\bno one else's\b", "shares no memory", "its place, which is no one else's"),
    Phrase(r"\bin a hundred\b", "%", "a result in a hundred"),
]

REFUSED = {word.word: word for word in WORDS}


def names(text: str, suffix: str) -> Iterator[tuple[int, str]]:
    """Yield the identifiers of a program, or of the code spans of a page, with their lines."""
    if suffix == ".py":
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.NAME:
                yield token.start[0], token.string
        return
    for number, line in enumerate(text.splitlines(), 1):
        for span in re.findall(r"`([^`]+)`", line):
            yield from ((number, name) for name in re.findall(r"\w+", span))


def refused_names(text: str, suffix: str, place: str) -> list[str]:
    """List the refused identifiers of a text, each with its line and the term to use."""
    found: list[str] = []
    for number, name in names(text, suffix):
        word = REFUSED.get(name.strip("_"))
        if word is not None and not any(is_within(place, allowed) for allowed in word.allowed):
            found.append(f"{place}:{number}: '{name}' is '{word.term}' here: docs/glossary.md")
    return found


def refused_phrases(text: str, place: str) -> list[str]:
    """List the refused phrases of a text, each with its line and the words to use."""
    return [
        f"{place}:{text.count(chr(10), 0, match.start()) + 1}: '{match[0]}' is '{phrase.instead}'"
        for phrase in PHRASES
        for match in re.finditer(phrase.pattern, text)
    ]


def faults(path: Path) -> list[str]:
    text, place = path.read_text(), str(path.relative_to(ROOT))
    return [*refused_names(text, path.suffix, place), *refused_phrases(text, place)]


def product() -> list[Path]:
    """List the programs and pages of the product."""
    paths = [path for end in ("py", "md") for path in ROOT.rglob(f"*.{end}")]
    return sorted(p for p in paths if not {*p.relative_to(ROOT).parts} & SKIPPED)


def is_within(place: str, folder: str) -> bool:
    return place == folder or place.startswith(f"{folder}/")


def is_pending(path: Path) -> bool:
    return any(is_within(str(path.relative_to(ROOT)), each) for each in PENDING)


def test_the_product_uses_the_terms_of_the_glossary() -> None:
    found = [fault for path in product() if not is_pending(path) for fault in faults(path)]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("pending", sorted(PENDING))
def test_what_is_pending_still_has_faults(pending: str) -> None:
    inside = [path for path in product() if is_within(str(path.relative_to(ROOT)), pending)]
    assert any(faults(path) for path in inside), f"{pending} is clean: take it off PENDING"


@pytest.mark.parametrize("word", WORDS, ids=lambda word: word.word)
def test_finds_a_name(word: Word) -> None:
    (fault,) = refused_names(f"class A:\n    {word.word} = 1\n", ".py", "passes/a.py")
    assert fault.startswith(f"passes/a.py:2: '{word.word}' is '{word.term}'")
    assert not refused_names(f"# {word.word}\nx{word.word}x = '{word.word}'\n", ".py", "a.py")


@pytest.mark.parametrize("word", [w for w in WORDS if w.allowed], ids=lambda word: word.word)
def test_allows_a_name_with_another_meaning_where_it_has_it(word: Word) -> None:
    for folder in word.allowed:
        assert not refused_names(f"{word.word} = 1\n", ".py", f"{folder}/a.py")


def test_finds_names_in_code_spans_of_pages() -> None:
    assert refused_names("the\noverride `_twins`\n", ".md", "a.md")
    assert not refused_names("the twins\n", ".md", "a.md")


@pytest.mark.parametrize("phrase", PHRASES, ids=lambda phrase: phrase.instead)
def test_finds_a_phrase(phrase: Phrase) -> None:
    assert refused_phrases(f"x\n{phrase.example}\n", "a.py")


def test_files_of_the_glossary_exist() -> None:
    rows = re.findall(r"^\| .* \| `([^`]+)` \|$", (ROOT / "docs" / "glossary.md").read_text(), re.M)
    assert rows
    assert not [row for row in rows if not (ROOT / row).is_file()]


def test_leaves_other_sentences_alone() -> None:
    text = '"""Return the live range of each buffer; errors say why."""'
    assert not refused_phrases(text, "a.py")
