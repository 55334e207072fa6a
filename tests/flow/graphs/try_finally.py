def train(loader, model, scaler):
    for batch in loader:
        try:
            loss = model(batch)
            if loss is None:
                continue
            scaler.scale(loss).backward()
        except (RuntimeError, ValueError) as error:
            if "memory" not in str(error):
                raise
            free()
        else:
            count()
        finally:
            release(batch)
    return done()
