"""Training programs that nobody would write, statement by statement from a seed, most of them small."""

import random


def _listed(text: str) -> tuple[str, ...]:
    """One item a line; a mark stands for the end of a line in it."""
    return tuple(line.strip().replace(" ⏎ ", "\n") for line in text.strip().split("\n"))


_HEADS = _listed(
    r"""
    import torch ⏎ from torch.cuda.amp import GradScaler, autocast
    import torch ⏎ from torch.amp import GradScaler, autocast as ac ⏎ autocast = ac
    import torch ⏎ from torch.cuda import amp ⏎ GradScaler = amp.GradScaler ⏎ autocast = amp.autocast
    '''Trains.''' ⏎ from __future__ import annotations ⏎ import torch, os
    import torch, os ⏎ from torch.cuda.amp import ( ⏎     autocast,  # é ⏎     GradScaler, ⏎ )
    import torch as t, torch ⏎ import torch.nn as nn; from torch.cuda.amp import *
    import torch ⏎ try: ⏎     from torch.cuda.amp import autocast ⏎ except ImportError: ⏎     autocast = None
    #!/usr/bin/env python ⏎ import torch ⏎ if hasattr(torch.cuda, 'amp'): ⏎     from torch.cuda.amp import GradScaler
    import torch ⏎ from accelerate import Accelerator ⏎ from torch import GradScaler ⏎ accelerator = Accelerator()
    import torch ⏎ from apex import amp ⏎ from torch.cuda.amp import autocast, GradScaler, custom_fwd, custom_bwd
    """
)
_EVENTS = _listed(
    r"""
    scaler.scale(loss).backward()
    loss.backward()
    scaler.unscale_(optimizer)
    scaler.step(optimizer)
    optimizer.step()
    scaler.update()
    optimizer.zero_grad()
    loss = loss / steps
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    loss = model(x)
    """
)
_RARER = _listed(
    r"""
    scheduler.step()
    scaler = GradScaler()
    scaled = scaler.scale(loss)
    scaled.backward()
    torch.save({'m': model.state_dict()}, 'f')
    print(loss.item())
    loss = loss.half()
    scaler = torch.cuda.amp.GradScaler(enabled=use)
    other.step(loss, optimizer)
    scaler.scale(loss)
    torch.save({'m': model.state_dict(), 'o': optimizer.state_dict(), 's': scaler.state_dict()}, 'f')
    torch.nn.utils.clip_grad_norm_( ⏎     model.parameters(),  # all of them ⏎     1.0, ⏎ )
    scaler.scale( ⏎     loss  # the mean ⏎ ).backward()
    scaler.step(optimizer); scaler.update()
    loss = model(x); loss.backward()
    scaler \ ⏎     .update()
    (scaler.scale(loss).backward())
    _ = scaler.step(optimizer)
    scaler.update(),
    autocast_on = torch.is_autocast_enabled()
    dtype = torch.get_autocast_gpu_dtype()
    amp_region = autocast(True)
    torch.set_autocast_cpu_enabled(use)
    region = torch.amp.autocast('cuda', True)
    x = 'é✓😀'; scaler.update()
    scaler = torch.amp.GradScaler('cuda', 2.0 ** 16)
    scaler = torch.cuda.amp.GradScaler(1024.0, growth_interval=10)
    f = lambda: scaler.step(optimizer)
    [scaler.scale(each).backward() for each in loss]
    loss += scaler.scale(loss)
    with autocast(): loss = model(x)
    if use: scaler.update()
    for x in loader: scaler.scale(model(x)).backward()
    scaler.step(optimizer) if use else optimizer.step()
    use and scaler.update()
    total = loss.item()
    loss = torch.nn.functional.binary_cross_entropy(loss, x)
    model.half()
    norm = sum(p.grad.norm() for p in model.parameters())
    for p in model.parameters(): p.grad.clamp_(-1, 1)
    scaler.load_state_dict(state)
    x = x.to('cuda', non_blocking=True)
    loss = model( ⏎     x, ⏎ ) / steps
    print(f'{loss.item():.3f} {scaler.get_scale()}')
    del loss
    assert scaler.is_enabled()
    accelerator.backward(loss)
    global scale_now; scale_now = scaler.get_scale()
    with amp.scale_loss(loss, optimizer) as sl: ⏎     sl.backward()
    grads = torch.autograd.grad(scaler.scale(loss), model.parameters(), create_graph=True)
    optimizer.step(closure=None)
    (y := scaler.scale(loss)).backward()
    model = torch.nn.DataParallel(model)
    torch.backends.cuda.matmul.allow_bf16 = True
    before = scaler.get_scale(); scaler.update(); skipped = before != scaler.get_scale()
    """
)
_OPENERS = _listed(
    r"""
    if use:
    for x in loader:
    while loss:
    with autocast():
    with torch.cuda.amp.autocast(enabled=use):
    with torch.autocast('cuda', dtype=torch.float16):
    if (i + 1) % steps == 0:
    for i, x in enumerate(loader):
    with torch.no_grad():
    if scaler is not None:
    with autocast(), torch.no_grad():
    if True:
    with torch.cuda.amp.autocast(True) as region:
    if i % steps == 0 or i == len(loader) - 1:
    while True:
    if torch.isfinite(loss):
    with accelerator.accumulate(model):
    for epoch in range(3):
    def inner():
    with torch.autocast( ⏎     device_type='cuda',  # no other ⏎     dtype=torch.bfloat16, ⏎ ):
    """
)
_ENDS = ("break", "continue", "return loss", "raise ValueError", "pass", "...")
_COMMENTS = (
    "# note",
    "# noqa: AMP201",
    "# amplint: ignore[AMP101]",
    "# é✓",
    "# type: ignore",
    "# fmt: off",
    "#",
    "#: it",
)
_HEAD = "def train_{0}(model, optimizer, scaler, loader, loss, x, i=0, use=True, steps=4):\n"


class Drawer:
    """Draws the texts of programs from a source of chance; lines end with a line feed."""

    def __init__(self, pick: random.Random) -> None:
        self._pick = pick

    def small(self) -> str:
        """A program of one function or none, a handful of statements."""
        pick = self._pick
        self._most, self._nested = 3, 0.25
        text = pick.choice(_HEADS) + "\n"
        if pick.random() < 0.2:
            return text + "".join(self._block(0, 2, in_loop=False))
        return text + self._function(0, 2)

    def large(self) -> str:
        """A program of up to three functions with nested blocks."""
        pick = self._pick
        self._most, self._nested = 5, 0.35
        text = pick.choice(_HEADS) + "\n" + "".join(self._function(number, 3) for number in range(pick.randint(1, 3)))
        if pick.random() < 0.3:
            text += "".join(self._block(0, 2, in_loop=False))
        return text

    def _function(self, number: int, left: int) -> str:
        pick = self._pick
        lines = ["@autocast()\n"] if pick.random() < 0.1 else []
        lines += [_HEAD.format(number), *self._block(1, left, in_loop=False)]
        if pick.random() < 0.15:
            text = "".join(lines).replace("(model, optimizer, scaler", "(self, model, optimizer")
            text = text.replace("scaler", "self.scaler").replace("optimizer)", "self.optimizer)")
            return "\n\nclass Trainer:\n" + "".join(f"    {line}" for line in text.splitlines(keepends=True))
        return "\n\n" + "".join(lines)

    def _block(self, depth: int, left: int, *, in_loop: bool) -> list[str]:
        pick, indent = self._pick, "    " * depth
        lines: list[str] = []
        for _ in range(pick.randint(1, self._most)):
            if left and pick.random() < self._nested:
                lines += self._compound(depth, left, in_loop=in_loop)
            else:
                lines += self._statement(indent)
        if depth and pick.random() < 0.1:
            end = pick.choice(_ENDS)
            is_possible = in_loop or end not in ("break", "continue")
            lines.append(f"{indent}{end if is_possible else 'pass'}\n")
        return lines

    def _statement(self, indent: str) -> list[str]:
        """A statement, perhaps below a comment or a blank line, perhaps with a comment behind it."""
        pick = self._pick
        above = [f"{indent}{pick.choice(_COMMENTS)}\n"] if pick.random() < 0.2 else []
        if pick.random() < 0.1:
            above.insert(pick.randint(0, len(above)), "\n")
        text = pick.choice(_EVENTS if pick.random() < 0.7 else _RARER).replace("\n", f"\n{indent}")
        behind = f"  {pick.choice(_COMMENTS)}" if pick.random() < 0.15 else ""
        return [*above, f"{indent}{text}{behind}\n"]

    def _compound(self, depth: int, left: int, *, in_loop: bool) -> list[str]:
        pick, indent = self._pick, "    " * depth
        if pick.random() < 0.15:
            tail = pick.choice(("finally:", "except RuntimeError:", "except (RuntimeError, ValueError) as error:"))
            tried, caught = (self._block(depth + 1, left - 1, in_loop=in_loop) for _ in range(2))
            return [f"{indent}try:\n", *tried, f"{indent}{tail}\n", *caught]
        opener = pick.choice(_OPENERS)
        is_loop = opener.startswith(("for", "while"))
        is_inside = is_loop or (in_loop and not opener.startswith("def"))
        head = f"{indent}{opener}\n".replace("\n", f"\n{indent}").removesuffix(indent)
        lines = [head, *self._block(depth + 1, left - 1, in_loop=is_inside)]
        if opener.startswith(("if", "for", "while")) and pick.random() < 0.3:
            lines += [f"{indent}else:\n", *self._block(depth + 1, left - 1, in_loop=in_loop)]
        return lines
