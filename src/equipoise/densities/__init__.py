"""What a push leaves behind: normalised densities that can be evaluated, sampled, and stacked."""

from __future__ import annotations

from equipoise.densities.pushed import Pushed
from equipoise.densities.sampling import Quality
from equipoise.densities.stacked import Stacked

__all__ = ["Pushed", "Quality", "Stacked"]
