"""What a reader must know before trusting the numbers, in plain words; nothing where there is nothing to say."""

from __future__ import annotations

from math import log

from equipoise.io.table import counted
from equipoise.report.findings import Findings
from equipoise.report.words import number, plus_minus

_FEWEST_EFFECTIVE = 100.0
_ASTRAY = 0.25
_REPEATED = 0.5


def cautions_of(found: Findings) -> list[str]:
    """Sentences: the model's own first, then what the rows and the normaliser say."""
    said = [str(words) for words in getattr(found.model, "warnings_", None) or ()]
    return [*said, *_of_normaliser(found), *_of_scores(found), *_of_calibration(found), *_of_samples(found)]


def _of_normaliser(found: Findings) -> list[str]:
    check = found.check
    if check is None:
        return []
    if check.ess < _FEWEST_EFFECTIVE:
        return [
            f"The weights of the base's rows are uneven: {check.n:,} fresh rows count like {number(check.ess, 0)}. "
            "The normaliser, and with it every log p, may be off by more than its standard error says."
        ]
    if abs(check.mean - 1.0) > 4.0 * check.se:
        return [
            "Over fresh rows of the base, p divided by the base's density averages "
            f"{plus_minus(check.mean, check.se)}, and it should be 1: every log p may be too high by "
            f"{number(log(max(check.mean, 1e-300)), 3)}."
        ]
    return []


def _of_scores(found: Findings) -> list[str]:
    scores = found.scores
    if scores is None:
        return []
    said = []
    if scores.impossible:
        said.append(
            f"{counted(scores.impossible, 'untouched row')} of {scores.n:,} lie where the model says that nothing can "
            "be (log p = −∞). They are left out of the means, which are the better for it."
        )
    if scores.gain < -2.0 * scores.gain_se:
        words = plus_minus(scores.gain, scores.gain_se)
        said.append(f"On untouched rows the model is worse than its base, by {words} nats a row.")
    return said


def _of_calibration(found: Findings) -> list[str]:
    if found.calibration is None or not found.untouched or found.calibration.astray <= _ASTRAY:
        return []
    if found.calibration.mean < found.calibration.own_mean:
        return ["The model finds untouched rows less likely than its own samples: it is too sure of itself."]
    return ["The model finds untouched rows likelier than its own samples: it is too wide."]


def _of_samples(found: Findings) -> list[str]:
    if found.distinct >= _REPEATED or any(m.bins.lattice for m in found.marginals):
        return []
    return [
        f"Only {number(100.0 * found.distinct, 0)} % of the model's samples are different rows: "
        "what is drawn from samples, marginals, pairs and calibration, is rougher than it looks."
    ]
