"""Training programs that nobody would write, reproducible from a seed, and the odd ways in which text can be stored."""

import random

_HEADS = (
    "import torch\nfrom torch.cuda.amp import GradScaler, autocast\n",
    "import torch\nfrom torch.amp import GradScaler, autocast as ac\nautocast = ac\n",
    "import torch\nfrom torch.cuda import amp\nGradScaler = amp.GradScaler\nautocast = amp.autocast\n",
)
_EVENTS = (
    "scaler.scale(loss).backward()", "loss.backward()", "scaler.unscale_(optimizer)", "scaler.step(optimizer)",
    "optimizer.step()", "scaler.update()", "optimizer.zero_grad()", "scheduler.step()", "loss = loss / steps",
    "torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)", "loss = model(x)", "scaler = GradScaler()",
    "scaled = scaler.scale(loss)", "scaled.backward()", "torch.save({'m': model.state_dict()}, 'f')",
    "print(loss.item())",
    "scaler = torch.cuda.amp.GradScaler(enabled=use)", "other.step(loss, optimizer)", "loss = loss.half()",
)  # fmt: skip
_OPENERS = (
    "if use:", "for x in loader:", "while loss:", "with autocast():", "with torch.cuda.amp.autocast(enabled=use):",
    "with torch.autocast('cuda', dtype=torch.float16):", "if (i + 1) % steps == 0:", "for i, x in enumerate(loader):",
    "with torch.no_grad():", "if scaler is not None:",
)  # fmt: skip
_ENDS = ("break", "continue", "return loss", "raise ValueError", "pass")
_COMMENTS = ("", "", "", "# note", "# noqa: AMP201", "# amplint: ignore[AMP101]", "# é✓")


class Programs:
    """Draws programs; the same seed draws the same ones."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def draw(self) -> bytes:
        """One program as the bytes of a file."""
        pick = self._random
        text = pick.choice(_HEADS) + "".join(self._function(number) for number in range(pick.randint(1, 3)))
        if pick.random() < 0.3:
            text += "".join(self._block(0, 2, in_loop=False))
        return self._stored(text)

    def _function(self, number: int) -> str:
        pick = self._random
        head = f"def train_{number}(model, optimizer, scaler, loader, loss, x, i=0, use=True, steps=4):\n"
        if pick.random() < 0.2:
            head = "@autocast()\n" + head
        body = self._block(1, 3, in_loop=False)
        return "\n\n" + head + "".join(body)

    def _block(self, depth: int, left: int, *, in_loop: bool) -> list[str]:
        pick, indent = self._random, "    " * depth
        lines: list[str] = []
        for _ in range(pick.randint(1, 5)):
            if left and pick.random() < 0.35:
                lines += self._compound(depth, left, in_loop=in_loop)
            else:
                # Behind a statement a comment may go with it; above one it has to stay.
                comment = pick.choice(_COMMENTS)
                lines += [f"{indent}{comment}\n"] if comment else []
                lines.append(f"{indent}{pick.choice(_EVENTS)}\n")
        if depth and pick.random() < 0.1:
            end = pick.choice(_ENDS)
            is_possible = in_loop or end not in ("break", "continue")
            lines.append(f"{indent}{end if is_possible else 'pass'}\n")
        return lines

    def _compound(self, depth: int, left: int, *, in_loop: bool) -> list[str]:
        pick, indent = self._random, "    " * depth
        if pick.random() < 0.15:
            tail = pick.choice(("finally:", "except RuntimeError:"))
            tried, caught = (self._block(depth + 1, left - 1, in_loop=in_loop) for _ in range(2))
            return [f"{indent}try:\n", *tried, f"{indent}{tail}\n", *caught]
        opener = pick.choice(_OPENERS)
        is_loop = opener.startswith(("for", "while"))
        lines = [f"{indent}{opener}\n", *self._block(depth + 1, left - 1, in_loop=in_loop or is_loop)]
        if opener.startswith(("if", "for", "while")) and pick.random() < 0.3:
            lines += [f"{indent}else:\n", *self._block(depth + 1, left - 1, in_loop=in_loop)]
        return lines

    def _stored(self, text: str) -> bytes:
        pick = self._random
        if pick.random() < 0.2:
            text = text.replace("\n", "\r\n")
        elif pick.random() < 0.1:
            text = "".join(line + pick.choice(("\n", "\r\n")) for line in text.split("\n"))
        if pick.random() < 0.1:
            text = text.replace("    ", "\t")
        if pick.random() < 0.1:
            text = text.rstrip()
        if pick.random() < 0.1:
            return ("# coding: latin-1\n" + text).encode("latin-1", "replace")
        return (b"\xef\xbb\xbf" if pick.random() < 0.1 else b"") + text.encode()
