"""Generated training programs of a wished size, right ones and wrong ones."""

from pathlib import Path

_FUNCTION = """
def train_{n}(model, optimizer, scaler, loader, args):
    model.train()
    total = 0.0
    for step, (x, y) in enumerate(loader):
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cuda", enabled=args.amp):
            output = model(x.to("cuda"))
            loss = torch.nn.functional.mse_loss(output.float(), y.to("cuda"))
{branches}        scaler.scale(loss).backward()
        {unscale}
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
        total += loss.item()
    return total / max(len(loader), 1)

"""
_BRANCH = """        if args.flag_{n}:
            loss = loss * {n}.5
        else:
            loss = loss + {n}
"""
_HEAD = "import torch\n\n"


def program(functions: int, branches: int = 1, wrong: int = 0) -> str:
    """A program with so many training functions, each with so many branches; the first `wrong` ones clip too early."""
    inner = "".join(_BRANCH.format(n=number) for number in range(branches))
    parts = [
        _FUNCTION.format(n=n, branches=inner, unscale="pass" if n < wrong else "scaler.unscale_(optimizer)")
        for n in range(functions)
    ]
    return _HEAD + "".join(parts)


_PLAIN = """
def describe_{n}(items, width=80):
    found = {{}}
    for number, item in enumerate(items):
        if item.size > {n} and item.name not in found:
            found[item.name] = [number * 2, str(item)[:width]]
    return sorted(found.items(), key=lambda pair: pair[1])

"""


def long_program(lines: int) -> str:
    """A program of so many lines with two training functions, the rest of which has nothing to do with training."""
    body = program(2, wrong=1)
    missing = lines - body.count("\n")
    return body + "".join(_PLAIN.format(n=n) for n in range(max(missing // _PLAIN.count("\n"), 0)))


def old_calls(number: int) -> str:
    """A program with so many uses of an old name."""
    return _HEAD + "".join(f"with torch.cuda.amp.autocast():\n    x_{n} = {n}\n" for n in range(number))


def tree(folder: Path, files: int, functions: int = 3) -> None:
    """A tree of such programs, every tenth of them wrong in one place."""
    for number in range(files):
        (folder / f"train_{number}.py").write_text(program(functions, wrong=number % 10 == 0), encoding="utf-8")


def plain_tree(folder: Path, files: int) -> None:
    """A tree in which torch is used and mixed precision is not."""
    words = {"scaler": "helper", "unscale_": "undo", "torch.autocast": "torch.device", "amp": "app"}
    body = program(6)
    for word, other in words.items():
        body = body.replace(word, other)
    for number in range(files):
        (folder / f"plain_{number}.py").write_text(body, encoding="utf-8")
