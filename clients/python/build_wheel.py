"""Builds the wheel with the standard library only: `python3 clients/python/build_wheel.py` writes it into dist/.

It is also the build backend of pyproject.toml, so that `pip install ./clients/python` asks no registry for a builder.
"""

from __future__ import annotations

import base64
import hashlib
import pathlib
import re
import sys
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent
TAG = "py3-none-any"
#: The earliest time a zip file can hold, so that equal sources make equal wheels.
TIME = (1980, 1, 1, 0, 0, 0)


def _read_project() -> dict[str, str | list[str] | dict[str, list[str]]]:
    """The fields of pyproject.toml that the metadata needs; Python 3.10 has no parser of TOML."""
    text = (ROOT / "pyproject.toml").read_text()
    extras = re.search(r"\[project\.optional-dependencies\]\n(.*?)(?:\n\[|\Z)", text, re.S)
    found: dict[str, str | list[str] | dict[str, list[str]]] = dict(re.findall(r'^([\w-]+) = "(.*)"$', text, re.M))
    found["dependencies"] = _read_list(text, "dependencies")
    names = re.findall(r"^([\w-]+) = \[", extras.group(1), re.M) if extras else []
    found["extras"] = {name: _read_list(text, name) for name in names}
    return found


def _read_list(text: str, name: str) -> list[str]:
    match = re.search(rf"^{name} = \[(.*?)\]$", text, re.M)
    return re.findall(r'"([^"]+)"', match.group(1)) if match else []


def _build_metadata() -> str:
    project = _read_project()
    lines = [
        "Metadata-Version: 2.1",
        f"Name: {project['name']}",
        f"Version: {project['version']}",
        f"Summary: {project['description']}",
        f"License: {project['license']}",
        f"Requires-Python: {project['requires-python']}",
        *(f"Requires-Dist: {one}" for one in project["dependencies"]),
    ]
    for name, packages in project["extras"].items():
        lines += [f"Provides-Extra: {name}", *(f'Requires-Dist: {one} ; extra == "{name}"' for one in packages)]
    lines += ["Description-Content-Type: text/markdown", "", (ROOT / "README.md").read_text()]
    return "\n".join(lines)


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None) -> str:
    """Writes the wheel and returns its name (PEP 517)."""
    project = _read_project()
    base = f"{project['name']}-{project['version']}"
    info = f"{base}.dist-info"
    files = {
        path.relative_to(ROOT).as_posix(): path.read_bytes()
        for path in sorted((ROOT / "longhaul").rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    }
    files[f"{info}/METADATA"] = _build_metadata().encode()
    files[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: longhaul\nRoot-Is-Purelib: true\nTag: {TAG}\n".encode()
    record = [f"{name},sha256={_digest(data)},{len(data)}" for name, data in files.items()]
    files[f"{info}/RECORD"] = "\n".join([*record, f"{info}/RECORD,,", ""]).encode()
    name = f"{base}-{TAG}.whl"
    pathlib.Path(wheel_directory).mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(pathlib.Path(wheel_directory) / name, "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, data in files.items():
            entry = zipfile.ZipInfo(path, TIME)
            entry.external_attr = 0o644 << 16
            wheel.writestr(entry, data, zipfile.ZIP_DEFLATED)
    return name


def _digest(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


if __name__ == "__main__":
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "dist"
    print(folder / build_wheel(folder))
