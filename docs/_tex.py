# ruff: noqa: INP001  (a part of the documentation, not of a package)
r"""Printed formulas as TeX: one walk over the syntax tree, with brackets only where precedence asks for them.

p/(exp(f) + p)   →   \dfrac{p}{e^{f} + p}
"""

from __future__ import annotations

import ast

SUM, PRODUCT, POWER, ATOM = range(4)

NAMES = {
    "alpha": r"\alpha",
    "degree": "d",
    "margin": "m",
    "prior": r"\mathbb{P}(Y{=}1)",
    "pi": r"\pi",
}
WORDS = {"log", "tan", "sin", "cos", "max", "min"}  # that TeX knows; others are set as operators


def tex(text: str) -> str:
    """A formula of the catalogue as TeX."""
    return _walk(ast.parse(text, mode="eval").body)[0]


def _walk(node: ast.expr) -> tuple[str, int]:
    """The TeX of a node, and how tightly it binds."""
    match node:
        case ast.Constant(value=value):
            found = f"{value:g}", ATOM
        case ast.Name(id=name):
            found = NAMES.get(name, name), ATOM
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            found = f"-{_bracketed(inner, PRODUCT)}", SUM
        case ast.BinOp(op=operator, left=left, right=right):
            found = _joined(operator, left, right)
        case ast.Call(func=ast.Name(id=name), args=arguments):
            found = _called(name, arguments)
        case _:
            message = f"no TeX for {ast.unparse(node)}"
            raise ValueError(message)
    return found


def _joined(operator: ast.operator, left: ast.expr, right: ast.expr) -> tuple[str, int]:
    if isinstance(operator, ast.Mult | ast.Div) and isinstance(left, ast.UnaryOp):  # −a·b is −(a·b)
        return f"-{_joined(operator, left.operand, right)[0]}", SUM
    match operator:
        case ast.Pow():
            found = f"{_bracketed(left, ATOM)}^{{{_raised(right)}}}", POWER
        case ast.Div() if isinstance(left, ast.BinOp) and isinstance(left.op, ast.Div):  # a/b/c is a/(c·b)
            below = ast.BinOp(left=right, op=ast.Mult(), right=left.right)
            found = rf"\dfrac{{{_walk(left.left)[0]}}}{{{_walk(below)[0]}}}", PRODUCT
        case ast.Div():
            found = rf"\dfrac{{{_walk(left)[0]}}}{{{_walk(right)[0]}}}", PRODUCT
        case ast.Mult():
            dot = r" \cdot " if isinstance(left, ast.Name) else r"\,"
            found = f"{_bracketed(left, PRODUCT)}{dot}{_bracketed(right, PRODUCT)}", PRODUCT
        case ast.Add():
            found = f"{_walk(left)[0]} + {_walk(right)[0]}", SUM
        case _:
            found = f"{_walk(left)[0]} - {_bracketed(right, PRODUCT)}", SUM
    return found


def _called(name: str, arguments: list[ast.expr]) -> tuple[str, int]:
    inside = ", ".join(_walk(argument)[0] for argument in arguments)
    signs = {"sqrt": rf"\sqrt{{{inside}}}", "abs": rf"\lvert {inside} \rvert"}
    if name == "exp":
        return f"e^{{{_raised(arguments[0])}}}", POWER
    if name in signs:
        return signs[name], ATOM
    word = rf"\{name}" if name in WORDS else r"\operatorname{" + name.replace("_", r"\_") + "}"
    if len(arguments) == 1 and _walk(arguments[0])[1] == ATOM:
        return f"{word} {inside}", PRODUCT
    return rf"{word}\left({inside}\right)", ATOM


def _raised(node: ast.expr) -> str:
    """An exponent, on one line."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
        return f"{_bracketed(node.left, PRODUCT)}/{_bracketed(node.right, ATOM)}"
    return _walk(node)[0]


def _bracketed(node: ast.expr, least: int) -> str:
    text, binding = _walk(node)
    return text if binding >= least else rf"\left({text}\right)"
