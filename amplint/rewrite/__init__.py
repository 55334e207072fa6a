"""From repairs to text edits; the only room that knows indentation, blocks and the placing of imports."""
