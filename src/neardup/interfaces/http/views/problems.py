"""A request that was not served, in words for people."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from neardup.interfaces.escaping import printable

if TYPE_CHECKING:
    from neardup.interfaces.http.problems import Problem

_REMEDIES: Final = {
    401: "The browser asks for a name and a password: any name, and a token as the password.",
    404: "It may have been removed, or the address is incomplete.",
    414: "Shorter words to search for make a shorter address.",
    422: "Go back, or start a new search.",
    429: "A moment later, the same page will do.",
    503: "The page may do again in a moment; else whoever runs the service can see in its log why not.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ProblemView:
    """A problem: its status, what it is, what is wrong with this request, and what helps."""

    status: int
    title: str
    detail: str
    remedy: str


def problem_view(problem: "Problem") -> ProblemView:
    """Show a problem."""
    return ProblemView(
        status=problem.status,
        title=problem.title,
        detail=printable(problem.detail),
        remedy="" if problem.type.endswith("#query-time") else _REMEDIES.get(problem.status, ""),
    )
