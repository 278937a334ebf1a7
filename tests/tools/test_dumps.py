"""Two dumps are compared question by question."""

from __future__ import annotations

import json

from tools import dumps


def test_every_difference_is_named(tmp_path):
    rows = {"a": {"same": "1", "changed": "old\nline", "gone": "x"}, "b": {"same": "1", "changed": "new\nline"}}
    for folder, kept in rows.items():
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "code.json").write_text(json.dumps(kept))
    found = dict(dumps.differences(tmp_path / "a", tmp_path / "b"))
    assert found == {"code · changed": ["@@ -1 +1 @@", "-old", "+new"], "code · gone": ["@@ -1 +0,0 @@", "-x"]}


def test_times_are_left_out_and_the_rest_is_printed(tmp_path):
    dumps.make(tmp_path, ["cause"], [])
    pages = json.loads((tmp_path / "cause.json").read_text())
    assert "driver.too_old" in pages["driver.too_old"]
    assert pages["driver.too_old"].endswith("[0]")
    assert dumps._TOOK.sub("", '{"took": 0.031}') == "{}"


def test_there_are_texts_of_every_kind():
    assert len(dumps.texts([])) > 1000
