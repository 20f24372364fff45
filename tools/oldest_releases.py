"""Print the oldest release that neardup supports of each library that it uses, for pip: those in pyproject.toml."""

import re
import tomllib
from pathlib import Path

PROJECT = Path(__file__).parents[1] / "pyproject.toml"
LEFT_OUT = {"dev", "spark", "scrapy"}  # tools, and what has many dependencies of its own


def main() -> None:
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    extras = [wanted for name, wanted in project["optional-dependencies"].items() if name not in LEFT_OUT]
    for wanted in [project["dependencies"], *extras]:
        for requirement in wanted:
            name, release = re.fullmatch(r"([\w-]+)>=([\d.]+)(?:,<[\d.]+)?", requirement).groups()
            print(f"{name}=={release}")


if __name__ == "__main__":
    main()
