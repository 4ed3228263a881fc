"""Modules become one script: each once, after what it imports, and what cannot be joined is refused."""

from collections.abc import Mapping

import pytest

from ramify.tools.pages import modules
from ramify.tools.pages.modules import join_modules


def join(sources: Mapping[str, str], monkeypatch: pytest.MonkeyPatch) -> str:
    """Join modules with these texts; the first is the entry."""
    monkeypatch.setattr(modules, "read_packaged", sources.__getitem__)
    return join_modules(next(iter(sources)))


def test_each_module_stands_once_after_what_it_imports(monkeypatch: pytest.MonkeyPatch) -> None:
    sources = {
        "main.js": 'import { a, b as c } from "./one.js";\nimport { d } from "./two.js";\nconst own = 1;\nd(a, c, own);\n',
        "one.js": "const own = 2;\nexport const a = own;\nexport class b {}\n",
        "two.js": 'import { a } from "./one.js";\nexport async function* d() { yield a; }\nexport function e() {}\n',
    }
    script = join(sources, monkeypatch)
    assert script.startswith('"use strict";')
    places = [script.index(f'modules["{name}"] = (() => {{') for name in ("one.js", "two.js", "main.js")]
    assert places == sorted(places)
    assert script.count('modules["one.js"] = ') == 1
    assert 'const { a, b: c } = modules["one.js"];' in script
    assert [line for line in script.splitlines() if line.startswith("return")] == ["return { a, b };", "return { d, e };", "return {  };"]
    assert "import" not in script
    assert "export" not in script


@pytest.mark.parametrize(
    ("source", "named"),
    [
        ('import "./one.js";\n', 'import "./one.js"'),
        ('import * as one from "./one.js";\n', "import * as one"),
        ('import one from "https://a.example/one.js";\n', "a.example"),
        ("export default 1;\n", "export default"),
        ("export let changing = 1;\n", "export let"),
        ("const one = await import(name);\n", "import("),
        ('const end = "</script>";\n', "</script"),
        ("const start = '<!--';\n", "<!--"),
        ('import { none } from "./one.js";\n', "none"),
        ('import { a } from "./main.js";\n', "main.js → main.js"),
    ],
)
def test_other_forms_are_refused(source: str, named: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match=r"main\.js") as refused:
        join({"main.js": source, "one.js": "export const a = 1;\n"}, monkeypatch)
    assert named in str(refused.value)
