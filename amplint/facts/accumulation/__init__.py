"""Groups of micro-batches: how their losses are divided, and what becomes of the last one."""
