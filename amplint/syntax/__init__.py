"""From text to the lowered tree; the only room that knows LibCST."""
