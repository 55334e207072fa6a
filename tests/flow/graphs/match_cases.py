def step(mode, optimizer, scaler):
    match mode:
        case "amp" if scaler is not None:
            scaler.step(optimizer)
        case "plain" | "none":
            optimizer.step()
        case [first, *_]:
            step(first, optimizer, scaler)
        case _:
            raise ValueError(mode)
    scaler and scaler.update()
