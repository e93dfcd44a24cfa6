"""Runs ROUGE-1.5.5, the Perl program that published scores come from, if the user has it."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from xml.sax.saxutils import escape

from listwright.errors import InputError

PROGRAM = "ROUGE-1.5.5.pl"
_SCORE = re.compile(r"^\S+ ROUGE-1 Average_([RPF]): (\S+) \(95%-conf\.int\. (\S+) - (\S+)\)", re.MULTILINE)
_SECONDS = 600

Interval = tuple[float, float, float]  # mean, low, high


def find_rouge(path: str | Path) -> Path:
    """Return the path of the program, given that path or its folder; its data must be in the same folder."""
    place = Path(path)
    program = place / PROGRAM if place.is_dir() else place
    if not program.is_file() or not (program.parent / "data").is_dir():
        raise InputError(f"{place} is not ROUGE-1.5.5: there is no {PROGRAM} with a folder named data next to it.")
    if shutil.which("perl") is None:
        raise InputError("ROUGE-1.5.5 needs perl, which is not installed.")
    return program.resolve()


def rouge_155(
    program: Path, summaries: Sequence[str], references: Sequence[Sequence[str]], *, n_bytes: int
) -> dict[str, Interval]:
    """Return ROUGE-1 recall, precision and F of summaries as the program prints them: mean and 95 % interval."""
    with TemporaryDirectory() as folder:
        settings = _written(Path(folder), summaries, references)
        options = ["-e", str(program.parent / "data"), "-n", "1", "-m", "-b", str(n_bytes), "-a", "-x"]
        ran = subprocess.run(
            ["perl", str(program), *options, str(settings)],
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=False,
        )
    found = {
        f"rouge1_{name.lower()}": (float(mean), float(low), float(high))
        for name, mean, low, high in _SCORE.findall(ran.stdout)
    }
    if ran.returncode or len(found) != 3:
        said = (ran.stderr or ran.stdout).strip()[-300:]
        raise InputError(f"{program} gave no ROUGE-1 scores (exit code {ran.returncode}): {said or 'no message'}")
    return found


def _written(folder: Path, summaries: Sequence[str], references: Sequence[Sequence[str]]) -> Path:
    """Write all texts to files, and return the settings file that names them."""
    evaluations = []
    for number, (summary, written) in enumerate(zip(summaries, references, strict=True)):
        (folder / f"{number}.txt").write_text(summary + "\n")
        models = []
        for author, text in enumerate(written):
            (folder / f"{number}.{author}.txt").write_text(text + "\n")
            models.append(f'<M ID="{author}">{number}.{author}.txt</M>')
        root = escape(str(folder))
        evaluations.append(
            f'<EVAL ID="{number}">\n<PEER-ROOT>{root}</PEER-ROOT>\n<MODEL-ROOT>{root}</MODEL-ROOT>\n'
            f'<INPUT-FORMAT TYPE="SPL"></INPUT-FORMAT>\n<PEERS><P ID="listwright">{number}.txt</P></PEERS>\n'
            f"<MODELS>{''.join(models)}</MODELS>\n</EVAL>"
        )
    settings = folder / "settings.xml"
    settings.write_text('<ROUGE-EVAL version="1.5.5">\n' + "\n".join(evaluations) + "\n</ROUGE-EVAL>\n")
    return settings
