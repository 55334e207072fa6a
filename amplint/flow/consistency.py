"""Which answers can go together: None is not true, and nothing equals two constants. Knows no program."""

from collections.abc import Mapping

from amplint.flow.formulas import Atom, last_name
from amplint.flow.terms import Term, is_place


def is_consistent(answers: Mapping[Atom, bool | None]) -> bool:
    """Whether some values could give these answers."""
    said = [atom for atom, answer in answers.items() if answer is True]
    for number, one in enumerate(said):
        for other in said[number + 1 :]:
            if one.left == other.left and excludes(one, other):
                return False
    return True


def excludes(one: Atom, other: Atom) -> bool:
    """Whether two questions about the same thing cannot both be true."""
    kinds = {one.kind, other.kind}
    if kinds == {"null", "true"}:
        return True
    if kinds == {"null", "eq"}:
        return (one if one.kind == "eq" else other).right[0] == "const"
    return kinds == {"eq"} and _is_constant(one.right) and _is_constant(other.right) and one.right != other.right


def _is_constant(term: Term) -> bool:
    """A literal, or a name that programs keep for one value, as `torch.float16` and `Mode.TRAIN`."""
    if term[0] == "const":
        return True
    if term[0] != "attr" or not is_place(term):
        return False
    holder, name = term[1], str(term[2])
    is_member = name.isupper() and last_name(holder).rpartition(".")[2][:1].isupper()  # type: ignore[arg-type]
    return is_member or holder[:2] == ("name", "torch")  # type: ignore[index]
