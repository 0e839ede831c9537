import pytest
import torch

import equipoise as eq
from equipoise.formula import Formula, FormulaError
from equipoise.interval import UNIT
from equipoise.theory import check, derive, from_formulas


def test_an_instance_from_the_formulas_of_the_square_loss():
    inst, square, u = from_formulas("1 - u", "1 + u"), eq.catalog.get("square"), torch.linspace(-3, 3, 7)
    torch.testing.assert_close(inst.up(u), square.up(u))
    torch.testing.assert_close(inst.down(u), square.down(u))
    assert (inst.interval.low, inst.interval.high) == (-1, 1)
    assert inst.name == "1 - u against 1 + u"


@pytest.mark.parametrize("inst", [i for i in eq.catalog.all() if i.printed], ids=lambda inst: inst.label)
def test_every_printed_formula_makes_an_instance_in_the_papers_height(inst):
    printed = inst.printed
    named = Formula(printed.up).parameters | Formula(printed.down).parameters
    mine = from_formulas(printed.up, printed.down, inst.interval, **{name: inst.parameters[name] for name in named})
    u = inst.interval.from_real(torch.linspace(-2, 2, 9, dtype=torch.float64))
    log_base = torch.full_like(u, 0.0)  # where f = u in every frame
    torch.testing.assert_close(mine.up(u, log_base), inst.up(u, log_base))
    torch.testing.assert_close(mine.down(u, log_base), inst.down(u, log_base))


def test_the_base_is_asked_for_where_it_is_named():
    inst = from_formulas("1", "exp(f)/p", name="is")
    assert inst.name == "is"
    assert inst.needs_base
    log_base = torch.tensor([-2.0])
    torch.testing.assert_close(inst.target(torch.tensor([3.0]), log_base), torch.log(torch.tensor([3.0])) + log_base)


def test_parameters_are_shared_and_none_is_left_over():
    assert from_formulas("b - u", "u - a", a=1, b=0).sign == -1
    with pytest.raises(TypeError, match="no formula names c; they name a, b"):
        from_formulas("b - u", "u - a", a=0, b=1, c=2)
    with pytest.raises(FormulaError, match="unknown name b"):
        from_formulas("b - u", "u - a", a=0)


@pytest.mark.parametrize("interval", [(0, 1), [0.0, 1.0], UNIT])
def test_an_interval_may_be_two_numbers(interval):
    assert from_formulas("1/u", "1/(1 - u)", interval).interval == UNIT
    assert check("1/u", "1/(1 - u)", interval=interval).interval == UNIT
    assert derive(ratio=lambda u: u / (1.0 - u), interval=interval).interval == UNIT
