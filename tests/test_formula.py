import math
import pickle

import pytest
import torch
from hypothesis import given, settings, strategies as st

from equipoise import catalog
from equipoise.formula import Formula, FormulaError

numbers = st.floats(0.1, 9.0).map(lambda x: (f"{x:.3f}", float(f"{x:.3f}"), {}))
heights = st.sampled_from(["u", "s", "f"]).map(lambda name: (name, None, {}))


def _binary(symbol, python):
    return lambda left, right: (f"({left[0]} {symbol} {right[0]})", lambda u: python(_at(left, u), _at(right, u)), {})


def _at(expression, u):
    _, value, _ = expression
    return u if value is None else value(u) if callable(value) else value


_PAIRS = [("+", lambda a, b: a + b), ("-", lambda a, b: a - b), ("*", lambda a, b: a * b)]
_SINGLES = [("sin", math.sin), ("cos", math.cos), ("atan", math.atan), ("tanh", math.tanh), ("asinh", math.asinh)]
_SINGLES += [("erf", math.erf), ("abs", abs), ("sigmoid", lambda x: 1 / (1 + math.exp(-x)) if x > -700 else 0.0)]


def _extended(inner):
    pairs = [
        st.builds(_binary(symbol, python), inner, inner)
        for symbol, python in [*_PAIRS, ("/", lambda a, b: a / b if b else math.inf)]
    ]
    singles = [st.builds(lambda x, n=n, g=g: (f"{n}({x[0]})", lambda u: g(_at(x, u)), {}), inner) for n, g in _SINGLES]
    signs = [st.builds(lambda x: (f"-{x[0]}", lambda u: -_at(x, u), {}), inner)]
    return st.one_of(*pairs, *singles, *signs)


@settings(max_examples=150, deadline=None)
@given(st.recursive(st.one_of(numbers, heights), _extended, max_leaves=8), st.floats(-3, 3))
def test_agrees_with_pythons_own_arithmetic(expression, at):
    expected = float(_at(expression, at))
    found = Formula(expression[0])(torch.tensor([at, at], dtype=torch.float64))
    assert found.shape == (2,)
    if math.isfinite(expected) and abs(expected) < 1e6:
        assert found[0].item() == pytest.approx(expected, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2*u^2", lambda u: 2 * u**2),
        ("-u^2", lambda u: -(u**2)),
        ("2^-1", lambda u: 0.5),
        ("2^3^2 / 2^9", lambda u: 1.0),
        ("max(u, 0)", lambda u: max(u, 0)),
        ("min(u, 0, -1)", lambda u: min(u, -1)),
        ("cut_at(f, 1)", lambda u: float(u <= 1)),
        ("reverse_at(f, 1)", lambda u: 1.0 if u <= 1 else -1.0),
        ("softplus(u)", lambda u: math.log1p(math.exp(u))),
        ("sinh(u) + cosh(u)", math.exp),
        ("log(exp(u)) + sqrt(4)", lambda u: u + 2),
        ("tan(u)", math.tan),
        ("sign(u)", lambda u: (u > 0) - (u < 0)),
        ("pi - e", lambda u: math.pi - math.e),
        (" u\n + 1", lambda u: u + 1),
    ],
)
def test_means_what_it_says(text, expected):
    for at in (-1.5, -0.3, 0.7, 2.5):
        assert Formula(text)(torch.tensor([at], dtype=torch.float64)).item() == pytest.approx(expected(at), abs=1e-12)


def test_a_threshold_itself_is_not_above_it():
    at = torch.tensor([1.0])
    assert Formula("cut_at(f, 1)")(at).item() == 1.0
    assert Formula("reverse_at(f, 1)")(at).item() == 1.0


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_constant_takes_the_shape_and_precision_of_u(dtype):
    value = Formula("3")(torch.zeros(2, 5, dtype=dtype))
    assert value.shape == (2, 5)
    assert value.dtype == dtype
    value[0, 0] = 1.0  # and is a tensor of its own
    assert value.sum() == 28.0


def test_knows_what_it_names():
    formula = Formula("p/(exp(f)**alpha + p**alpha)**(1/alpha)")
    assert formula.names == {"p", "f", "alpha"}
    assert formula.parameters == {"alpha"}
    assert formula.needs_base
    assert not Formula("1/u").needs_base


@pytest.mark.parametrize("inst", [i for i in catalog.all() if i.printed], ids=lambda inst: inst.label)
def test_reads_every_formula_that_the_catalogue_prints(inst):
    u = inst.interval.from_real(torch.linspace(-1.0, 1.0, 7))
    for text in (inst.printed.up, inst.printed.down, inst.printed.loss_up, inst.printed.loss_down):
        if text:
            formula = Formula(text)
            assert formula.parameters <= set(inst.parameters)
            numbers = {name: inst.parameters[name] for name in formula.parameters}
            assert formula(u, torch.full_like(u, 0.4), **numbers).isfinite().all()


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("__import__('os')", "unknown function __import__"),
        ("u.__class__", "attribute"),
        ("(lambda: 1)()", "call"),
        ("exp(u)(u)", "call"),
        ("9**9**9**9", "exponent"),
        ("u**65", "exponent"),
        ("u**(2*40)", "exponent"),
        ("u^-65", "exponent"),
        ("(" * 10_000 + "u" + ")" * 10_000, "characters"),
        ("(" * 400 + "u" + ")" * 400, "cannot be read"),
        ("-" * 900 + "u", "too large"),
        ("+".join(["u"] * 400), "too large"),
        ("1e13*u", "at most 1e\\+12"),
        ("1e999", "at most 1e\\+12"),
        ("1" * 400, "at most 1e\\+12"),
        ("u < 1", "comparison"),
        ("'u'", "str"),
        ("True", "bool"),
        ("1j", "complex"),
        ("u[0]", "subscript"),
        ("exp(x=1)", "keyword"),
        ("exp(*u)", "Starred|star"),
        ("exp", "brackets"),
        ("exp(u, u)", "takes 1 argument, got 2"),
        ("cut_at(u)", "takes 2 arguments, got 1"),
        ("max(u)", "takes 2 arguments, got 1"),
        ("u if u else 1", "if/else"),
        ("u and 1", "and/or"),
        ("u @ u", "MatMult"),
        ("u // 2", "FloorDiv"),
        ("u % 2", "Mod"),
        ("~u", "Invert"),
        ("[u]", "List"),
        ("f'{u}'", "JoinedStr"),
        ("(u := 1)", "assignment"),
        ("_u", "unknown name _u; the names are u, s, f, p"),
        ("u +", "cannot be read"),
        ("1)+(2", "cannot be read"),
        ("\x00", "cannot be read"),
        ("1if 1else 2", "cannot be read"),
        ("", "empty"),
        ("  ", "empty"),
    ],
)
def test_refuses_in_one_line(text, why):
    with pytest.raises(FormulaError, match=why) as refusal:
        Formula(text)
    assert "\n" not in str(refusal.value)
    assert len(str(refusal.value)) < 250


def test_says_where_in_the_readers_own_characters():
    with pytest.raises(FormulaError, match="at character 11"):
        Formula("u + 2^2 + u.x")
    with pytest.raises(FormulaError, match="at character 5"):
        Formula("α + u.x")


def test_an_unknown_name_lists_those_that_are_known():
    with pytest.raises(FormulaError, match="unknown name x in 'x \\+ 1'; the names here are u, s, f, p, pi, e, alpha"):
        Formula("x + 1")(torch.zeros(1), alpha=2.0)


def test_needs_the_base_that_it_names():
    with pytest.raises(FormulaError, match="hand in p"):
        Formula("p*u")(torch.zeros(1))


def test_the_cap_on_exponents_reaches_parameters():
    formula = Formula("abs(f)**degree")
    assert formula(torch.tensor([2.0]), degree=64).item() == 2.0**64
    with pytest.raises(FormulaError, match="an exponent is 65"):
        formula(torch.tensor([2.0]), degree=65)
    with pytest.raises(FormulaError, match="exponent"):
        formula(torch.tensor([2.0]), degree=math.nan)


def test_an_exponent_may_follow_the_height():
    assert Formula("2**u")(torch.tensor([100.0], dtype=torch.float64)).item() == 2.0**100


def test_refuses_what_is_no_text():
    with pytest.raises(TypeError, match="got int"):
        Formula(3)


def test_survives_pickling():
    formula = pickle.loads(pickle.dumps(Formula("u + p")))
    assert formula(torch.ones(1), 2.0).item() == 3.0
