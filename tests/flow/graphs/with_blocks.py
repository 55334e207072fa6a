def run(model, batch, amp):
    with autocast("cuda", enabled=amp), open("log") as log:
        if amp:
            return model(batch)
        log.write("no amp")
    with suppress(OSError):
        model.save()
    model.close()
