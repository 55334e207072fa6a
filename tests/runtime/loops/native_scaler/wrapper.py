"""A scaler that does the whole step in one call."""

import torch


class NativeScaler:
    def __init__(self):
        self._scaler = torch.amp.GradScaler("cpu", init_scale=4096.0)

    def __call__(self, loss, optimizer, clip=None, parameters=None, need_update=True):
        self._scaler.scale(loss).backward()
        if need_update:
            self._scaler.unscale_(optimizer)
            if clip is not None:
                torch.nn.utils.clip_grad_norm_(parameters, clip)
            self._scaler.step(optimizer)
            self._scaler.update()

    def state_dict(self):
        return self._scaler.state_dict()
