"""Formulas typed by a reader: magnitudes as text, in a small language of their own.

    Formula("p/(exp(f) + p)")(u, p)        u, s, f: the height;  p: the base density;  pi, e;  parameters by name

Python's parser gives the syntax tree and nothing else: the tree is checked node by node against the few constructs
below and turned into closures over torch functions. No text is ever run as code.
"""

from __future__ import annotations

import ast
import math
import operator
import re
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import reduce
from typing import NoReturn

import torch
from torch import Tensor

__all__ = ["Formula", "FormulaError"]

Scope = Mapping[str, Tensor]
Compiled = Callable[[Scope], Tensor]

HEIGHTS = ("u", "s", "f")
_CONSTANTS = {"pi": math.pi, "e": math.e}

_LONGEST = 1000  # characters
_MOST_NODES = 400
_DEEPEST = 60
_LARGEST = 1e12
_STEEPEST = 64.0  # |exponent|


class FormulaError(ValueError):
    """A formula outside of the language; one line says where and what is allowed."""


def _cut_at(height: Tensor, threshold: Tensor) -> Tensor:
    return torch.where(height <= threshold, 1.0, 0.0)


def _reverse_at(height: Tensor, threshold: Tensor) -> Tensor:
    return torch.where(height <= threshold, 1.0, -1.0)


def _softplus(s: Tensor) -> Tensor:
    return torch.logaddexp(s, torch.zeros_like(s))


_FUNCTIONS: dict[str, Callable[..., Tensor]] = {
    function.__name__: function
    for function in (
        *(torch.exp, torch.log, torch.sqrt, torch.sin, torch.cos, torch.tan, torch.atan, torch.tanh, torch.sinh),
        *(torch.cosh, torch.asinh, torch.erf, torch.sigmoid, torch.abs, torch.sign),
    )
} | {"softplus": _softplus, "cut_at": _cut_at, "reverse_at": _reverse_at}
_PICKS: dict[str, Callable[[Tensor, Tensor], Tensor]] = {"min": torch.minimum, "max": torch.maximum}
_ARGUMENTS = {"cut_at": 2, "reverse_at": 2}
_OPERATORS: dict[type[ast.operator], Callable[[Tensor, Tensor], Tensor]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


@dataclass(frozen=True)
class Formula:
    """A function of heights, and of the base density where it names it, given as text.

    Arguments:
        text: The formula, with + − * / ** (or ^), brackets and the functions of the language.

    Example:
        >>> Formula("1/(exp(u) + 1)")(torch.zeros(2)).tolist()
        [0.5, 0.5]
    """

    text: str
    names: frozenset[str] = field(init=False, compare=False)
    _compiled: Compiled = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        names: set[str] = set()
        compiled = _Compiler(self.text, names).compiled()
        object.__setattr__(self, "names", frozenset(names))
        object.__setattr__(self, "_compiled", compiled)

    def __reduce__(self) -> tuple[type[Formula], tuple[str]]:
        return Formula, (self.text,)

    @property
    def needs_base(self) -> bool:
        """Whether the formula names the base density p."""
        return "p" in self.names

    @property
    def parameters(self) -> frozenset[str]:
        """Names that the caller must hand in as numbers."""
        return self.names - {*HEIGHTS, "p", *_CONSTANTS}

    def __call__(self, u: Tensor, p: Tensor | float | None = None, **parameters: float) -> Tensor:
        """Evaluate at heights u, with the base density p where the formula names it."""
        missing = self.parameters - set(parameters)
        if missing:
            allowed = ", ".join([*HEIGHTS, "p", *_CONSTANTS, *parameters])
            message = f"unknown name {', '.join(sorted(missing))} in {self.text!r}; the names here are {allowed}"
            raise FormulaError(message)
        if self.needs_base and p is None:
            message = f"{self.text!r} depends on the base density: hand in p"
            raise FormulaError(message)
        scope = {name: _number(value) for name, value in (_CONSTANTS | parameters).items()}
        scope |= dict.fromkeys(HEIGHTS, u)
        if p is not None:
            scope["p"] = torch.as_tensor(p, dtype=u.dtype, device=u.device)
        value = self._compiled(scope).to(dtype=u.dtype, device=u.device)
        return value.expand(torch.broadcast_shapes(value.shape, u.shape)).contiguous()


class _Compiler:
    """One walk over a syntax tree, checking every node before it becomes a closure."""

    def __init__(self, text: str, names: set[str]) -> None:
        self.names = names
        self.nodes = 0
        self.text = text
        if not isinstance(text, str):
            message = f"a formula is text such as '1/(exp(u) + 1)', got {type(text).__name__}"
            raise TypeError(message)

    def compiled(self) -> Compiled:
        if len(self.text) > _LONGEST:
            message = f"the formula has {len(self.text)} characters, at most {_LONGEST} are allowed"
            raise FormulaError(message)
        if not self.text.strip():
            message = "the formula is empty, expected something like '1/(exp(u) + 1)'"
            raise FormulaError(message)
        self.source = re.sub(r"\s", " ", self.text).strip().replace("^", "**")
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                tree = ast.parse(self.source, mode="eval")
        except SyntaxError as error:
            self.refuse(f"cannot be read: {error.msg}", error.offset)
        except (ValueError, MemoryError, RecursionError, Warning) as error:
            self.refuse(f"cannot be read: {str(error) or 'too many brackets'}")
        return self.visit(tree.body, 1)

    def refuse(self, why: str, at: ast.expr | int | None = None) -> NoReturn:
        shown = self.text if len(self.text) <= 60 else f"{self.text[:57]}..."
        if isinstance(at, ast.expr):
            at = len(self.source.encode()[: at.col_offset].decode()) + 1
        where = "" if at is None else f" at character {self._place(at)}"
        message = f"the formula {shown!r}{where}: {why}"
        raise FormulaError(message) from None

    def visit(self, node: ast.expr, depth: int) -> Compiled:
        self.nodes += 1
        if depth > _DEEPEST or self.nodes > _MOST_NODES:
            self.refuse(f"too large, at most {_MOST_NODES} parts nested {_DEEPEST} deep are allowed")
        match node:
            case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
                return self.constant(value, node)
            case ast.Name(id=name):
                return self.name(name, node)
            case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]):
                self.check_call(name, len(arguments), node)
                return self.call(name, [self.visit(argument, depth + 1) for argument in arguments])
        return self.operation(node, depth)

    def operation(self, node: ast.expr, depth: int) -> Compiled:
        match node:
            case ast.UnaryOp(op=ast.USub() | ast.UAdd() as sign, operand=operand):
                inner = self.visit(operand, depth + 1)
                return (lambda scope: -inner(scope)) if isinstance(sign, ast.USub) else inner
            case ast.BinOp(op=ast.Pow(), left=left, right=right):
                return self.power(self.visit(left, depth + 1), self.exponent(right, depth + 1))
            case ast.BinOp(op=symbol, left=left, right=right) if type(symbol) in _OPERATORS:
                apply, a, b = _OPERATORS[type(symbol)], self.visit(left, depth + 1), self.visit(right, depth + 1)
                return lambda scope: apply(a(scope), b(scope))
        return self.refuse(f"{_words(node)} is not allowed, only + - * / ** and functions", node)

    def constant(self, value: float, node: ast.expr) -> Compiled:
        if not abs(value) <= _LARGEST:
            self.refuse(f"a number must be at most {_LARGEST:g} in size", node)
        number = _number(value)
        return lambda _: number

    def name(self, name: str, node: ast.expr) -> Compiled:
        if name in _FUNCTIONS or name in _PICKS:
            self.refuse(f"the function {name} needs brackets, as in {name}(u)", node)
        if name.startswith("_"):
            self.refuse(f"unknown name {name}; the names are {', '.join([*HEIGHTS, 'p', *_CONSTANTS])}", node)
        self.names.add(name)
        return lambda scope: scope[name]

    def check_call(self, name: str, count: int, node: ast.expr) -> None:
        if name not in _FUNCTIONS and name not in _PICKS:
            known = ", ".join([*_FUNCTIONS, *_PICKS])
            self.refuse(f"unknown function {name}; the functions are {known}", node)
        wanted = 2 if name in _PICKS else _ARGUMENTS.get(name, 1)
        if count != wanted and not (name in _PICKS and count > wanted):
            self.refuse(f"{name} takes {wanted} argument{'s'[: wanted > 1]}, got {count}", node)

    @staticmethod
    def call(name: str, arguments: list[Compiled]) -> Compiled:
        if name in _PICKS:
            pick = _PICKS[name]
            return lambda scope: reduce(pick, [argument(scope) for argument in arguments])
        function = _FUNCTIONS[name]
        return lambda scope: function(*(argument(scope) for argument in arguments))

    def exponent(self, node: ast.expr, depth: int) -> Compiled:
        """An exponent; without a height in it, its size is capped, at once or once its parameters are known."""
        inside = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
        compiled = self.visit(node, depth)
        if inside & {*HEIGHTS, "p"}:
            return compiled

        def capped(scope: Scope) -> Tensor:
            value = compiled(scope)
            if not abs(value.item()) <= _STEEPEST:
                self.refuse(f"an exponent is {value.item():g}, at most ±{_STEEPEST:g} is allowed", node)
            return value

        if inside <= set(_CONSTANTS) | set(_FUNCTIONS) | set(_PICKS):
            capped({name: _number(value) for name, value in _CONSTANTS.items()})
        return capped

    @staticmethod
    def power(base: Compiled, exponent: Compiled) -> Compiled:
        return lambda scope: torch.pow(base(scope), exponent(scope))

    def _place(self, column: int) -> int:
        """A column of the parsed text as a character of the reader's own, where ^ is one character."""
        start = len(self.text) - len(self.text.lstrip())
        parsed = 0
        for place, letter in enumerate(self.text[start:], start):
            parsed += 2 if letter == "^" else 1
            if parsed >= column:
                return place + 1
        return len(self.text)


def _number(value: float) -> Tensor:
    return torch.tensor(float(value), dtype=torch.float64)


def _words(node: ast.expr) -> str:
    kinds = {
        ast.Attribute: "an attribute",
        ast.Subscript: "a subscript",
        ast.Lambda: "a lambda",
        ast.Compare: "a comparison",
        ast.BoolOp: "and/or",
        ast.IfExp: "if/else",
        ast.NamedExpr: "an assignment",
        ast.Starred: "a star",
    }
    if isinstance(node, ast.Call):
        return "a keyword argument" if node.keywords else "a call of anything but a named function"
    if isinstance(node, ast.Constant):
        return f"the {type(node.value).__name__} {node.value!r}"
    if isinstance(node, ast.BinOp | ast.UnaryOp):
        return f"the operator {type(node.op).__name__}"
    return kinds.get(type(node), f"a {type(node).__name__}")
