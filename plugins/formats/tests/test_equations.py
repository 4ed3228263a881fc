"""Equations of Office Math and MathML are written on one line; digits of different parts never become one number."""

from pathlib import Path

import pytest

from plugins.formats.tests.office_files import MATH, read_opendocument, text

OFFICE = 'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"'


def r(words: str) -> str:
    """Return a run of Office Math."""
    return f"<m:r><m:t>{words}</m:t></m:r>"


def part(name: str, *inner: str) -> str:
    """Return an element of Office Math whose parts are given as name and content by turns."""
    parts = "".join(f"<m:{key}>{value}</m:{key}>" for key, value in zip(inner[::2], inner[1::2], strict=True))
    return f"<m:{name}>{parts}</m:{name}>"


SQUARE = part("sSup", "e", r("b"), "sup", r("2"))
HALF = part("f", "num", r("1"), "den", r("2"))
ROWS = part("m", "mr", f"<m:e>{r('1')}</m:e><m:e>{r('0')}</m:e>", "mr", f"<m:e>{r('0')}</m:e><m:e>{r('1')}</m:e>")


@pytest.mark.parametrize(
    ("equation", "line"),
    [
        (r("12") + r("34"), "1234"),
        (r("3") + HALF, "3 1/2"),
        (part("f", "num", r("a+b"), "den", r("2c")) + r("x"), "(a+b)/(2c) x"),
        (part("rad", "deg", "", "e", SQUARE + r("-4ac")), "√(b^2-4ac)"),
        (part("rad", "deg", r("3"), "e", r("x")), "x^(1/3)"),
        (part("sSubSup", "e", r("x"), "sub", r("i+1"), "sup", r("2")), "x_(i+1)^2"),
        (part("nary", "sub", r("0"), "sup", r("1"), "e", r("x dx")), "∫_0^1 x dx"),
        (part("func", "fName", r("sin"), "e", r("x")), "sin x"),
        (part("limLow", "e", r("lim"), "lim", r("x→0")), "lim_(x→0)"),
        (part("d", "e", ROWS), "(1, 0; 0, 1)"),
        (part("d", "dPr", '<m:begChr m:val="["/><m:endChr m:val="]"/>', "e", r("a")), "[a]"),
        (part("sPre", "sub", r("6"), "sup", r("14"), "e", r("C")), "_6^14C"),
        (part("acc", "e", r("x")), "x\u0302"),
        (part("eqArr", "e", r("x=1"), "e", r("y=2")), "x=1; y=2"),
        ("<m:del>" + r("9") + "</m:del>" + r("8"), "8"),
    ],
)
def test_office_math(equation: str, line: str) -> None:
    from lxml.etree import fromstring

    from ramify.formats.office.equations import equation_text

    assert equation_text(fromstring(f"<m:oMath {OFFICE}>{equation}</m:oMath>")) == line


@pytest.mark.parametrize(
    ("equation", "line"),
    [
        ("<mfrac><mrow><mi>a</mi><mo>+</mo><mi>b</mi></mrow><mn>2</mn></mfrac>", "(a+b)/2"),
        ("<mn>10</mn><msup><mn>10</mn><mn>5</mn></msup>", "10 10^5"),
        ("<mi>sin</mi><mo>\u2061</mo><mi>x</mi>", "sin x"),
        ("<mn>2</mn><mo>\u2062</mo><mi>x</mi>", "2x"),
        ("<msup><mi>f</mi><mo>′</mo></msup><mo>(</mo><mi>x</mi><mo>)</mo>", "f′(x)"),
        ("<msup><mrow><mo>(</mo><mi>x</mi><mo>+</mo><mn>1</mn><mo>)</mo></mrow><mn>2</mn></msup>", "(x+1)^2"),
        ("<munderover><mo>∑</mo><mrow><mi>i</mi><mo>=</mo><mn>1</mn></mrow><mi>n</mi></munderover><mi>i</mi>", "∑_(i=1)^n i"),
        ("<mover><mi>v</mi><mo>→</mo></mover>", "v\u20d7"),
        ("<mfrac linethickness='0'><mi>n</mi><mi>k</mi></mfrac>", "n ¦ k"),
        ("<mroot><mi>x</mi><mn>3</mn></mroot>", "x^(1/3)"),
        ("<mmultiscripts><mi>C</mi><none/><none/><mprescripts/><mn>6</mn><mn>14</mn></mmultiscripts>", "_6^14C"),
        ("<mfenced open='[' close=']'><mi>a</mi><mi>b</mi></mfenced>", "[a, b]"),
        ("<mtable><mtr><mtd><mn>1</mn></mtd><mtd><mn>2</mn></mtd></mtr><mtr><mtd><mn>3</mn></mtd></mtr></mtable>", "1, 2; 3"),
        ("<mlongdiv><mn>3</mn><mn>435.3</mn><msgroup><mn>12</mn><mn>10</mn></msgroup></mlongdiv>", "3; 435.3; 12; 10"),
        ("<semantics><msqrt><mi>x</mi></msqrt><annotation encoding='application/x-tex'>\\sqrt x</annotation></semantics>", "√x"),
        ("<mi>𝑥</mi><mphantom><mn>9</mn></mphantom>", "x"),
        ("<mmultiscripts/><msup/><mfrac/>", ""),
    ],
)
def test_mathml(equation: str, line: str, tmp_path: Path) -> None:
    body = f"<text:p>By <draw:frame><draw:object><math {MATH}>{equation}</math></draw:object></draw:frame>.</text:p>"
    assert text(read_opendocument(tmp_path, body)) == f"By {line}."
